"""Android's strings: what is mark-up, a placeholder or CDATA stays so when its text is filled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.formats.document import Filling
from index.formats.registry import open_document

NAME = '<xliff:g id="name" example="A &amp; B">{name}</xliff:g>'
PIECES = ["It\\'s", "&amp;", " x", '<a href="http://x/y">here</a>', NAME, '\\"', "\\n", "é"]
NESTED = '<xliff:g id="nested"><b>%s</b></xliff:g>'
ODD = ["<b>", "</b>", "</xliff:g>", '<xliff:g id="k">', "  ", "]]>"]
IN_CDATA = ["<b>It\\'s</b>", "&amp;", " & x", '<a href=\\"http://x/y\\">here</a>', "<br/>", "\\n"]


def filled(content: str, translation: str | None = None) -> str:
    before, after = '<resources><string name="a">', "</string></resources>"
    document = open_document(f"{before}{content}{after}".encode(), "x.xml", "de")
    (unit,) = document.units
    assert document.fill(unit, Filling(unit.text if translation is None else translation))
    return document.content().decode().removeprefix(before).removesuffix(after)


@given(st.lists(st.sampled_from(PIECES)), st.lists(st.sampled_from(IN_CDATA)))
def test_a_string_filled_with_itself_comes_back_byte_for_byte(pieces: list[str], raw: list[str]) -> None:
    for content in (f"I{''.join(pieces)}", f"<![CDATA[I{''.join(raw)}]]>"):
        assert filled(content) == content


@given(st.lists(st.sampled_from([*PIECES, NESTED])), st.lists(st.sampled_from([*PIECES, NESTED, *ODD])))
def test_any_translation_keeps_placeholders(pieces: list[str], translation: list[str]) -> None:
    after = filled(f"I{''.join(pieces)}", f"T{''.join(translation)}")
    assert filled(after) == after
    assert NAME not in pieces or NESTED in pieces or NAME in after


@pytest.mark.parametrize(
    ("content", "translation", "wanted"),
    [
        (f"Hi {NAME}", "{name}, hallo", f"{NAME}, hallo"),
        (f"Hi {NAME}", 'Hallo <xliff:g id="k">{name}</xliff:g>!', f"Hallo {NAME}!"),
        (f"<b>Hi</b> {NAME}", "<i>Hallo</i> {name}", f"&lt;i&gt;Hallo&lt;/i&gt; {NAME}"),
        ('"  a <b c="d e">f</b>"  g   h', "  a g", '"  a g"'),
        ("<!-- <i> --><b>a</b>", "<b>c</b>", "<b>c</b>"),
        ('&lt;a href=\\"x\\"&gt;a&lt;/a&gt;', '<a href="x">b</a>', '&lt;a href=\\"x\\"&gt;b&lt;/a&gt;'),
    ],
)
def test_a_translation_gets_the_mark_up_of_its_string(content: str, translation: str, wanted: str) -> None:
    assert filled(content, translation) == wanted
