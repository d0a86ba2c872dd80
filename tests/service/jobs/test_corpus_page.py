"""The page's corner for admins, in a real browser, with a real worker."""

import pytest
from playwright.sync_api import Locator, Page, expect

from index.storage.versions import current, locked
from tests.service.browser import OpenPage, assert_fit_for_all
from tests.service.jobs.conftest import KEY, Stage
from tests.service.jobs.test_jobs import TMX


def choose(page: Page, name: str, content: bytes) -> None:
    given = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.get_by_label("File", exact=True).set_input_files(given)  # type: ignore[arg-type]


@pytest.fixture
def page(open_page: OpenPage, stage: Stage) -> Page:
    page = open_page(f"{stage.url}#kind=corpus")
    expect(page.get_by_role("tab", name="Corpus")).to_have_attribute("aria-selected", "true")
    return page


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
    page.get_by_role("button", name="Upload").press("Enter")
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
    expect(page.get_by_text("Waiting for a worker. None is running")).to_be_visible()
    with stage.working():
        with locked(stage.index):  # so that it does not end before the page has looked
            expect(page.locator("#corpus .going [role=status]")).to_have_text("Waiting for another build")
        expect(page.get_by_text("is now in use.")).to_be_visible()
        second = current(stage.index)
        assert second != first
        row = page.get_by_role("row", name=second)
        expect(row).to_contain_text("in use")
        expect(row).to_contain_text("en 41, de 41")
        assert_fit_for_all(page)

        page.get_by_role("button", name=f"Use version {first}").press("Enter")
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=first))
        expect(row).to_contain_text("in use")
        assert current(stage.index) == first
        choose(page, "x.tmx", b"no")
        page.get_by_role("button", name="Upload").press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("not well-formed XML")
    expect(page.locator("#about")).to_contain_text(first)
    # The key is nowhere but in memory.
    assert KEY not in page.content()
    assert page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])") == '[{},{},""]'
    page.get_by_role("button", name="Forget the key").press("Enter")
    expect(page.get_by_label("Key", exact=True)).to_be_focused()
    expect(page.get_by_role("heading", name="Versions")).to_have_count(0)


def test_a_running_job_is_cancelled(page: Page, stage: Stage) -> None:
    unlock(page)
    choose(page, "a.txt", b"Ein Hund.\n")
    page.get_by_role("combobox", name="Language").select_option("de")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled; nothing was changed.")).to_be_visible()
    assert stage.ask("GET", "/admin/jobs").json()["jobs"][0]["state"] == "cancelled"


def column(page: Page, name: str) -> Locator:
    return page.get_by_role("combobox", name=f"What is in {name}", exact=True)


def test_the_columns_of_a_table_are_said_beside_its_first_lines(page: Page, stage: Stage) -> None:
    table = (
        "sep=;\r\nEnglish;Satz;pt;Note\r\n"
        '"A lamp, lit; twice.";Eine Lampe leuchtet zweimal.;17;lamps\r\n'
        "An owl reads.;Eine Eule liest.;18;owls\r\nToo;few\r\n"
    )
    unlock(page)
    waiting = list(stage.spool.iterdir()) if stage.spool.exists() else []
    choose(page, "my table.csv", table.encode())
    expect(page.get_by_role("cell", name="A lamp, lit; twice.")).to_be_visible()
    expect(column(page, "English")).to_have_value("en")
    expect(column(page, "pt")).to_have_value("pt")  # as the service would read it: as Portuguese
    column(page, "pt").select_option("Other information")
    column(page, "Satz").select_option("English")
    page.get_by_role("button", name="Upload").click()
    # Two columns of one language: nothing is sent.
    assert column(page, "Satz").evaluate("select => select.validationMessage").startswith("Another column")
    assert (list(stage.spool.iterdir()) if stage.spool.exists() else []) == waiting
    column(page, "Satz").select_option("German")
    assert_fit_for_all(page)
    with stage.working():
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_text("is now in use.")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="2 cells")).to_contain_text("my table.csv, line 5")
    assert "An owl reads." in stage.texts("en").values()
    assert "Eine Eule liest." in stage.texts("de").values()


def test_a_table_without_sentences_is_not_sent(page: Page, stage: Stage) -> None:
    unlock(page)
    choose(page, "list.csv", b"satz,nr\nEin Wal singt.,1\n")
    page.get_by_role("button", name="Upload").click()
    assert "which column" in column(page, "satz").evaluate("select => select.validationMessage")
    column(page, "satz").select_option("Sentences")
    page.get_by_role("button", name="Upload").click()
    language = page.get_by_role("combobox", name="Language", exact=True)
    assert "language of the sentences" in language.evaluate("select => select.validationMessage")
    language.select_option("de")
    with stage.working():
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_text("is now in use.")).to_be_visible()
    assert "Ein Wal singt." in stage.texts("de").values()
    # UTF-16 with tabs, as Excel writes "Unicode text"; of a text file there are no columns.
    choose(page, "excel.tsv", "Deutsch\tEnglish\r\nEin Wal.\tA whale.\r\n".encode("utf-16"))
    expect(column(page, "Deutsch")).to_have_value("de")
    choose(page, "a.txt", b"Ein Wal.\n")
    expect(column(page, "Deutsch")).to_be_hidden()
