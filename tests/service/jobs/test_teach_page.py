"""A language taught on the page, in a real browser, by a real worker."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from index.encoder.bundle import open_bundle
from index.storage.versions import ENCODER_FOLDER, VERSIONS, current
from tests.bundles import DRAWN
from tests.service.browser import OpenPage, assert_fit_for_all
from tests.service.jobs.conftest import KEY, Stage

ESPERANTO = {
    "dog": "hundo",
    "cat": "kato",
    "horse": "ĉevalo",
    "bird": "birdo",
    "beach": "strando",
    "snow": "neĝo",
}


@pytest.fixture
def page(open_page: OpenPage, stage: Stage) -> Page:
    page = open_page(f"{stage.url}#kind=teach")
    expect(page.get_by_role("tab", name="Teach")).to_have_attribute("aria-selected", "true")
    return page


def fill(page: Page) -> None:
    for name, code in DRAWN.items():
        for row, text in enumerate((ESPERANTO[name], f"Jen {ESPERANTO[name]}.")):
            page.locator(f'input[data-picture="pictograms/{code}"][data-row="{row}"]').fill(text)


def test_a_language_is_taught_kept_and_tried(page: Page, stage: Stage) -> None:
    first = current(stage.index)
    page.get_by_label("Its code").fill("eo")
    fill(page)
    expect(page.get_by_text("12 lines typed.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Its code")).to_have_value("eo")
    expect(page.get_by_text("12 lines typed.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as TSV").click()
    assert download.value.suggested_filename == "captions.eo.tsv"
    lines = download.value.path().read_text("utf-8").splitlines()
    assert "pictograms/1f415\thundo" in lines
    assert len(lines) == 12

    page.get_by_label("Admin key").fill("a wrong one")
    page.get_by_role("button", name="Teach", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Not an admin key")
    page.get_by_label("Admin key").fill(KEY)
    page.get_by_role("button", name="Teach", exact=True).click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    with stage.working():
        expect(page.get_by_text("Learned from 12 lines.")).to_be_visible(timeout=60_000)
    taught = open_bundle(stage.index / VERSIONS / current(stage.index) / ENCODER_FOLDER)
    assert current(stage.index) != first
    assert "eo" in taught.manifest.languages
    page.get_by_label("In the new language").fill("La hundo")
    page.get_by_label("Into", exact=True).select_option("en")
    page.get_by_role("button", name="Translate").last.click()
    expect(page.locator(".tried li").first).to_contain_text("dog")
    assert_fit_for_all(page)
    page.reload()
    into = page.locator('input[name="target"][value="eo"]')  # words, and no sentence to answer with
    page.get_by_role("tab", name="Sentence").click()
    expect(into).to_be_disabled()
    page.get_by_role("tab", name="Word", exact=True).click()
    expect(into).to_be_enabled()


def test_what_was_taught_is_corrected_and_taught_again_here_and_by_a_colleague(
    page: Page, stage: Stage, open_page: OpenPage, tmp_path: Path
) -> None:
    page.get_by_label("Its code").fill("IDO")
    fill(page)
    teach(page, stage)
    page.reload()
    expect(page.get_by_text("12 lines typed.")).to_be_visible()
    dog = f'input[data-picture="pictograms/{DRAWN["dog"]}"][data-row="0"]'
    expect(page.locator(dog)).to_have_value("hundo")
    page.locator(dog).fill("hundeto")
    teach(page, stage)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as TSV").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)

    colleague = open_page(f"{stage.url}#kind=teach")
    colleague.get_by_label("Its code").fill("io")
    expect(colleague.get_by_text("(io) is here already")).to_be_visible()
    colleague.get_by_label("Its code").fill("")
    colleague.get_by_label("Load what was downloaded").set_input_files(file)
    expect(colleague.get_by_label("Its code")).to_have_value("io")
    expect(colleague.get_by_text("12 lines typed.")).to_be_visible()
    expect(colleague.locator(dog)).to_have_value("hundeto")
    expect(colleague.locator("figure").first).to_contain_text("hundeto")
    teach(colleague, stage)
    code = colleague.get_by_label("Its code")
    code.fill("ia")
    code.press("Tab")
    expect(colleague.get_by_text("0 lines typed.")).to_be_visible()


def test_a_file_by_emoji_is_loaded_and_one_that_is_no_captions_refused(page: Page, tmp_path: Path) -> None:
    page.get_by_role("button", name="Download as TSV").click()
    expect(page.get_by_role("alert")).to_have_text("Nothing is typed yet.")
    load = page.get_by_label("Load what was downloaded")
    (tmp_path / "captions.tsv").write_text(
        "\ufeff🐕\ufe0f\thundo\r\n\r\n🏖\tstrando\r\n🐕\tJen hundo.\r\n", "utf-8"
    )
    load.set_input_files(tmp_path / "captions.tsv")
    expect(page.get_by_role("alert")).to_contain_text("Give the language's code first")
    page.get_by_label("Its code").fill("eo")
    load.set_input_files(tmp_path / "captions.tsv")
    expect(page.get_by_text("3 lines typed.")).to_be_visible()
    expect(page.locator("figure")).to_have_count(2)
    expect(page.locator("figure").first).to_have_text("🐕\ufe0fhundoJen hundo.")
    (tmp_path / "wrong.csv").write_text("🐕\thundo\n🐈,kato\n", "utf-8")
    load.set_input_files(tmp_path / "wrong.csv")
    expect(page.get_by_role("alert")).to_have_text("wrong.csv, line 2: give a picture, a tab and a text.")


def teach(page: Page, stage: Stage) -> None:
    page.get_by_label("Admin key").fill(KEY)
    page.get_by_role("button", name="Teach", exact=True).click()
    with stage.working():
        expect(page.get_by_text("Learned from 12 lines.")).to_be_visible(timeout=60_000)


def test_the_code_is_checked_as_it_is_entered_and_changing_it_keeps_what_was_typed(page: Page) -> None:
    code = page.get_by_label("Its code")
    code.fill("de")
    expect(page.get_by_text("German (de) is here already")).to_be_visible()
    for spelling in ("DE", "deu", "de-AT", "de "):
        code.fill(spelling)
        expect(page.get_by_text("German (de) is here already")).to_be_visible()
    code.fill("ep")
    expect(page.get_by_text("is here already")).to_be_hidden()
    fill(page)
    code.fill("eo")
    expect(page.get_by_text("12 lines typed.")).to_be_visible()
    expect(page.locator(f'input[data-picture="pictograms/{DRAWN["dog"]}"]').first).to_have_value("hundo")


def test_a_picture_is_found_and_what_was_typed_is_printed_and_learned_by_heart(page: Page) -> None:
    page.get_by_label("Its code").fill("eo")
    page.get_by_label("Find a picture").fill("Two horses")
    first = page.locator("#teach .card input").first
    expect(first).to_have_attribute("data-picture", f"pictograms/{DRAWN['horse']}")
    first.fill("ĉevalo")
    page.get_by_label("Find a picture").fill("quarterly figures")
    expect(page.get_by_text("No picture is near to this")).to_be_visible()
    page.get_by_label("Find a picture").fill("🐕")
    expect(page.locator("#teach .card")).to_have_count(1)
    page.get_by_label("Find a picture").fill("")
    expect(page.locator("#teach .card")).to_have_count(len(DRAWN))
    with page.expect_download() as download:
        page.get_by_role("button", name="Flash cards").click()
    assert download.value.suggested_filename == "cards.eo.tsv"
    emoji, name, phrase = download.value.path().read_text("utf-8").rstrip("\n").split("\t")
    assert (emoji.rstrip("\ufe0f"), name, phrase) == ("🐎", "ĉevalo", "")
    page.emulate_media(media="print")
    expect(page.get_by_role("figure")).to_have_text("🐎\ufe0fĉevalo")
    expect(page.get_by_label("Its code")).to_be_hidden()
    expect(page.get_by_role("heading", name="Passepartout")).to_be_hidden()


def test_captions_that_cannot_be_learned_are_reported(page: Page) -> None:
    page.get_by_role("button", name="Teach", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Give the language's code")
    page.get_by_label("Its code").fill("ia")
    page.get_by_role("button", name="Teach", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Name 10 pictures or more")


def test_only_admins_teach_and_only_with_existing_pictures(stage: Stage) -> None:
    captions = [{"picture": "pictograms/1f415", "text": "hundo"}]
    body = {"action": "teach", "language": "eo", "captions": captions}
    with stage.client(key=None) as client:
        assert client.post("/admin/jobs", json=body).status_code == 401
    for wrong in (
        {"language": "../eo"},
        {"captions": []},
        {"captions": [{"picture": "\x00", "text": "hundo"}]},
    ):
        assert stage.ask("POST", "/admin/jobs", json=body | wrong).status_code == 422
    unknown = [{"picture": f"../../etc/{number}", "text": "hundo"} for number in range(12)]
    with stage.working():
        for refused, reason in (
            (unknown, "captions: 12 pictures are not among the bundle's: ../../etc/0"),
            (captions, "1 lines are too few"),
        ):
            end = stage.end(stage.submit(action="teach", language="ia", captions=refused)["id"])
            assert (end["state"], reason in end["reason"]) == ("failed", True), end
