"""The files of the page, as the service sends them."""

import re

import pytest
from starlette.testclient import TestClient

from index.confidence import MIN_CONFIDENCE
from index.formats.registry import DOCUMENT_EXTENSIONS
from service.http.page import PAGE_FILES, WEB_FOLDER

SVG = 'SVG = "http://www.w3.org/2000/svg"'  # a name, not an address that anything is fetched from


@pytest.mark.parametrize(("path", "name", "media_type"), [(path, *file) for path, file in PAGE_FILES.items()])
def test_each_file_is_sent_with_its_type_and_policy(
    client: TestClient, path: str, name: str, media_type: str
) -> None:
    answer = client.get(path)
    assert answer.content == (WEB_FOLDER / name).read_bytes()
    assert answer.headers["content-type"] == media_type
    assert answer.headers["x-content-type-options"] == "nosniff"
    (policy,) = answer.headers.get_list("content-security-policy")
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in policy
    again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = client.head(path)
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(answer.content)))


def test_every_file_of_the_folder_is_sent() -> None:
    assert {path.name for path in WEB_FOLDER.iterdir()} == {name for name, _ in PAGE_FILES.values()}


def test_the_files_that_can_be_chosen_are_those_that_are_filled() -> None:
    named = re.findall(r"\.[a-z]+(?=[,\"])", (WEB_FOLDER / "files.js").read_text("utf-8").split(";")[1])
    assert sorted(named) == sorted(DOCUMENT_EXTENSIONS)


def test_nothing_is_inline_and_nothing_is_external() -> None:
    for path in WEB_FOLDER.iterdir():
        text = path.read_text("utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "").replace(SVG, "")
        assert not re.search(r"https?:|//[a-z]+\.", text), path.name
    page = (WEB_FOLDER / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", page)
    for script in WEB_FOLDER.glob("*.js"):
        banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function"
        assert not re.search(banned, script.read_text("utf-8")), script.name


def test_the_page_hides_what_every_protocol_hides() -> None:
    page = (WEB_FOLDER / "index.html").read_text("utf-8")
    (slider,) = re.findall(r'<input id="least"[^>]* value="(\d+)">', page)
    (shown,) = re.findall(r'<output id="least-shown"[^>]*>(\d+)%<', page)
    assert int(slider) / 100 == int(shown) / 100 == MIN_CONFIDENCE
