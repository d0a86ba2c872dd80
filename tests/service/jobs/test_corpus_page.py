"""The page's corner for admins, in a real browser, with a real worker."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from index.storage.versions import current
from tests.service.http.test_web import browser, serious
from tests.service.jobs.conftest import KEY, Stage
from tests.service.jobs.test_jobs import TMX

__all__ = ["browser"]

# Keeps every status that is shown, however briefly.
NOTE = """() => {
  window.told = [];
  const corpus = document.getElementById("corpus");
  const note = () => window.told.push(corpus.querySelector(".going [role=status]")?.textContent);
  new MutationObserver(note).observe(corpus, { subtree: true, childList: true, characterData: true });
}"""


def choose(page: Page, name: str, content: bytes) -> None:
    given = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.get_by_label("File", exact=True).set_input_files(given)  # type: ignore[arg-type]


@pytest.fixture
def page(browser: Browser, stage: Stage) -> Iterator[Page]:
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request", lambda request: None if request.url.startswith(stage.url) else faults.append(request.url)
    )
    page.goto(f"{stage.url}#kind=corpus")
    expect(page.get_by_role("tab", name="Corpus")).to_have_attribute("aria-selected", "true")
    yield page
    page.close()
    assert faults == []


def unlock(page: Page) -> None:
    page.get_by_label("Key", exact=True).fill(KEY)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Upload a file")).to_be_visible()


def test_a_memory_is_uploaded_and_taken_back_by_keyboard(page: Page, stage: Stage) -> None:
    first = current(stage.index)
    page.get_by_label("Key", exact=True).fill("a wrong one")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not an admin key")
    unlock(page)
    expect(page.get_by_label("File", exact=True)).to_be_focused()
    choose(page, "memory.tmx", TMX)
    expect(page.get_by_role("combobox", name="Format")).to_have_value("tmx")
    page.evaluate(NOTE)
    page.get_by_role("button", name="Upload").press("Enter")
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
    expect(page.get_by_text("Waiting for a worker. None is running")).to_be_visible()
    with stage.working():
        expect(page.get_by_text("is now in use.")).to_be_visible(timeout=20_000)
        assert "Encoding German: 41 of 41 sentences" in page.evaluate("window.told")
        second = current(stage.index)
        assert second != first
        row = page.get_by_role("row", name=second)
        expect(row).to_contain_text("in use")
        expect(row).to_contain_text("en 41, de 41")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert serious(page) == []
        page.set_viewport_size({"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320

        page.get_by_role("button", name=f"Use version {first}").press("Enter")
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=first))
        expect(row).to_contain_text("in use", timeout=20_000)
        assert current(stage.index) == first
        choose(page, "x.tmx", b"no")
        page.get_by_role("button", name="Upload").press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("not well-formed XML", timeout=20_000)
    expect(page.locator("#about")).to_contain_text(first)
    # The key is nowhere but in memory.
    assert KEY not in page.content()
    assert page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])") == '[{},{},""]'
    page.get_by_role("button", name="Forget the key").press("Enter")
    expect(page.get_by_label("Key", exact=True)).to_be_focused()
    expect(page.get_by_role("heading", name="Versions")).to_have_count(0)


def test_what_goes_on_is_cancelled(page: Page, stage: Stage) -> None:
    unlock(page)
    choose(page, "a.txt", b"Ein Hund.\n")
    page.get_by_role("combobox", name="Language").select_option("de")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled; nothing was changed.")).to_be_visible()
    assert stage.ask("GET", "/admin/jobs").json()["jobs"][0]["state"] == "cancelled"
