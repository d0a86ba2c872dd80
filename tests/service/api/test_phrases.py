"""Phrases by topic, over HTTP and on the page: of a table with a column `topic`, indexed or one's own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Route, expect
from starlette.testclient import TestClient

from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.formats.registry import Source
from service.app import create_app
from service.settings import Settings
from tests.files import zipped
from tests.service.browser import OpenPage, violations
from tests.service.server import serving
from tests.waiting import until

TABLE = """topic\tpictogram\treviewed\ten\tde
pain\t🤕\tno\tWhere does the dog hurt?\tWo tut es dem Hund weh?
pain\t\tno\tThe cat is small.\tDie Katze ist klein.
travel\t🚲\tde\tA red bicycle.\tEin rotes Fahrrad.
\t\t\tA bird without a topic.\tEin Vogel ohne Thema.
"""


@pytest.fixture(scope="module")
def board(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    (folder / "phrases.tsv").write_text(TABLE, "utf-8")
    build_index(bundle, [Source(folder / "phrases.tsv")], folder / "index")
    return folder / "index"


@pytest.fixture(scope="module")
def asked(board: Path) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(index=board))) as client:
        yield client


def test_what_has_a_topic_is_listed_with_its_own_translation(asked: TestClient) -> None:
    answer = asked.get("/phrases", params={"source": "en", "target": "de"})
    assert answer.status_code == 200
    assert [(phrase["topic"], phrase["translation"]) for phrase in answer.json()["phrases"]] == [
        ("pain", "Wo tut es dem Hund weh?"),
        ("pain", "Die Katze ist klein."),
        ("travel", "Ein rotes Fahrrad."),
    ]
    first = answer.json()["phrases"][0]
    assert (first["text"], first["pictogram"], first["reviewed"]) == ("Where does the dog hurt?", "🤕", "no")


def test_an_index_without_topics_has_none_and_an_unknown_language_is_refused(
    client: TestClient, asked: TestClient
) -> None:
    assert client.get("/phrases", params={"source": "en", "target": "de"}).json()["phrases"] == []
    refused = asked.get("/phrases", params={"source": "xx", "target": "de"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "source"


SHEET = """<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>en</v></c><c r="B1" t="str"><v>qaa</v></c>
<c r="C1" t="str"><v>topic</v></c></row><row r="2"><c r="A2" t="str"><v>Sit down.</v></c>
<c r="B2" t="str"><v>Zuk zuk.</v></c><c r="C2" t="str"><v>school</v></c></row></sheetData></worksheet>"""


def workbook(sheet: str, shared: str = "") -> bytes:
    strings = f"<sst><si><t>{shared}</t></si></sst>"
    return zipped(("xl/worksheets/sheet1.xml", sheet), ("xl/sharedStrings.xml", strings))


def sharing(rows: int, characters: int) -> bytes:
    """A kilobyte and more, many of whose cells are one long text."""
    row = '<row><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>0</v></c></row>'
    return workbook(SHEET.replace("</sheetData>", row * rows + "</sheetData>"), "a " * (characters // 2))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("own.xlsx", workbook(SHEET)),
        ("own.CSV", "en;qaa;topic\nSit down.;Zuk zuk.;school\n".encode("utf-16")),
        ("own.tsv", b"en\tqaa\ttopic\nSit down.\tZuk zuk.\tschool\n"),
    ],
)
def test_a_table_of_ones_own_is_read(client: TestClient, name: str, content: bytes) -> None:
    assert client.post("/board", params={"name": name}, content=content).json() == {
        "languages": ["en", "qaa"],
        "phrases": [
            {
                "texts": {"en": "Sit down.", "qaa": "Zuk zuk."},
                "topic": "school",
                "pictogram": "",
                "reviewed": "",
            }
        ],
    }


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("a.pdf", b"%PDF-1.4", "name must end in .csv, .tsv, .xlsx"),
        ("a.xlsx", b"PK", "a.xlsx: cannot be unpacked"),
        ("a.xlsx", lambda: workbook("<worksheet>" + " " * (70 << 20)), "bytes unpacked"),
        ("a.xlsx", lambda: workbook("<worksheet>" + "<row/>" * 400_000), "more elements than 5000"),
        ("a.xlsx", sharing(500, 100_000), "many cells repeat long texts"),
        ("a.xlsx", sharing(1, 3_000_000), "more than 4194304 characters"),
        ("a.csv", b"one,topic\na,b\n", "a.csv: its first row must name columns for two languages"),
        ("a.csv", b"en,de\nGo,L\xf6s\n", "line 2: not UTF-8: save the file as UTF-8 (in Excel: CSV UTF-8)"),
        ("a.csv", b"", "first row"),
    ],
)
def test_what_is_no_table_of_phrases_is_refused(
    client: TestClient, name: str, content: bytes | Callable[[], bytes], wanted: str
) -> None:
    answer = client.post("/board", params={"name": name}, content=content() if callable(content) else content)
    assert answer.status_code == 422
    assert wanted in answer.json()["detail"]
    assert "/tmp" not in answer.text


def test_an_answer_that_nobody_has_reviewed_says_so(board: Path, open_page: OpenPage) -> None:
    texts = {"The cat is small.": 1, "A red bicycle.": 0}
    with serving(board) as (address, _):
        for text, warnings in texts.items():
            asked = {"kind": "sentence", "text": text, "source": "en", "target": "de", "k": 1}
            answer = open_page(f"{address}#{urlencode(asked)}").locator("[data-match=exact]")
            expect(answer).to_contain_text("from your corpus")
            expect(answer.get_by_text("No speaker has reviewed this phrase: not for")).to_have_count(warnings)


def test_the_shipped_sentences_say_that_nobody_has_reviewed_them(
    bundle: Bundle, open_page: OpenPage, tmp_path: Path
) -> None:
    table = tmp_path / "scenes.tsv"
    table.write_text("en\tde\nA dog runs on the beach.\tEin Hund rennt am Strand.\n", "utf-8")
    build_index(bundle, [Source(table)], tmp_path / "index")
    asked = {"kind": "sentence", "text": "A dog runs on the beach.", "source": "en", "target": "de"}
    with serving(tmp_path / "index") as (address, _):
        page = open_page(f"{address}#{urlencode(asked)}")
        expect(page.locator("[data-match=exact]")).to_contain_text("No speaker has reviewed this phrase")
        expect(page.locator("#held")).to_contain_text("phrases and scenes, reviewed by no speaker")


def test_a_phrase_has_its_own_picture_and_not_what_the_encoder_sees(board: Path, open_page: OpenPage) -> None:
    with serving(board) as (address, _):
        for text, picture in {"A red bicycle.": "🚲", "The cat is small.": None}.items():
            asked = {"kind": "sentence", "text": text, "source": "en", "target": "de", "k": 1}
            likelihood = open_page(f"{address}#{urlencode(asked)}").locator("[data-match=exact] .likelihood")
            if picture:
                expect(likelihood).to_contain_text(picture)
                expect(likelihood.locator(".seen")).to_have_count(0)
            else:
                expect(likelihood).to_contain_text("from your corpus")


def test_only_what_is_in_the_chosen_languages_is_shown(board: Path, open_page: OpenPage) -> None:
    with serving(board) as (address, _):
        page = open_page(address)
        page.get_by_role("tab", name="Phrases").click()
        page.locator(".topic", has_text="travel").click()
        held: list[Route] = []
        page.route("**/phrases?*", lambda route: held.append(route))
        page.get_by_label("I read").select_option("de")
        expect(page.locator(".phrase")).to_have_count(0)
        page.get_by_label("The other person reads").select_option("en")
        until(lambda: page.evaluate("true") and len(held) == 2, "the page asks for both")
        held[1].continue_()
        expect(page.locator(".phrase")).to_contain_text("Ein rotes Fahrrad.")  # the topic is still chosen
        held[0].fulfill(json={"phrases": [{"topic": "travel", "text": "Another.", "translation": "Other."}]})
        page.locator(".phrase").click()
        expect(page.locator(".phrase-large")).to_have_text("A red bicycle.")
        expect(page.locator(".phrase-card")).to_contain_text("English")


def test_on_paper_phrases_have_their_translations(board: Path, open_page: OpenPage) -> None:
    with serving(board) as (address, _):
        page = open_page(address)
        page.get_by_role("tab", name="Phrases").click()
        expect(page.locator(".printed").first).to_be_hidden()
        page.emulate_media(media="print")
        expect(page.locator(".phrases .printed")).to_have_text(
            ["Wo tut es dem Hund weh?", "Die Katze ist klein."]
        )
        expect(page.locator(".phrases .printed").first).to_be_visible()
        expect(page.get_by_text("No speaker has reviewed these phrases")).to_be_visible()
        for hidden in ("header", "footer", "[role=tablist]", "#phrases .fields"):
            expect(page.locator(hidden).first).to_be_hidden()


@pytest.mark.parametrize(
    ("name", "place"), [("own.TSV", "label.drop"), ("own.csv", ".masthead"), ("own.xlsx", "#text")]
)
def test_a_table_becomes_a_board_wherever_it_is_dropped(
    board: Path, open_page: OpenPage, name: str, place: str
) -> None:
    content = {"own.TSV": "en\tqaa\nSit down.\tZuk zuk.\n", "own.csv": "en,qaa\nSit down.,Zuk zuk.\n"}
    bytes_of = list(content[name].encode() if name in content else workbook(SHEET))
    with serving(board) as (address, _):
        page = open_page(address)
        expect(page.locator("label.drop")).to_be_visible()
        dropped = page.evaluate_handle(
            """([name, bytes]) => {
              const data = new DataTransfer();
              data.items.add(new File([new Uint8Array(bytes)], name));
              return data;
            }""",
            [name, bytes_of],
        )
        page.locator(place).dispatch_event("drop", {"dataTransfer": dropped})
        expect(page.get_by_role("tab", name="Phrases")).to_have_attribute("aria-selected", "true")
        expect(page.locator(".phrase")).to_have_text("Sit down.")


def test_a_phrase_is_shown_large_to_the_person_opposite(
    board: Path, open_page: OpenPage, tmp_path: Path
) -> None:
    with serving(board) as (address, _):
        page = open_page(address)
        page.get_by_role("tab", name="Phrases").click()
        topics, phrases, card = page.locator(".topic"), page.locator(".phrase"), page.locator(".phrase-card")
        expect(topics).to_have_text(["pain", "travel"])
        expect(phrases).to_have_count(2)
        assert violations(page) == []
        phrases.first.click()
        expect(card.locator(".phrase-large")).to_have_text("Wo tut es dem Hund weh?")
        expect(card.locator(".phrase-large")).to_have_attribute("lang", "de")
        expect(card).to_contain_text("Where does the dog hurt?")
        expect(card).to_contain_text("No speaker has reviewed this phrase: not for clinical use")
        assert violations(page) == []
        card.get_by_role("button", name="Close").click()
        topics.nth(1).click()
        phrases.first.click()
        expect(card.locator(".phrase-large")).to_have_text("Ein rotes Fahrrad.")
        expect(card).not_to_contain_text("No speaker")
        card.get_by_role("button", name="Close").click()
        own = tmp_path / "own.xlsx"
        own.write_bytes(workbook(SHEET))
        page.locator("#phrases-file").set_input_files(own)
        expect(topics).to_have_text(["school"])
        phrases.first.click()
        expect(card.locator(".phrase-large")).to_have_text("Zuk zuk.")
        card.get_by_role("button", name="Close").click()
        page.locator("#phrases-file").set_input_files(
            {"name": "no.csv", "mimeType": "text/csv", "buffer": b"en,topic"}
        )
        expect(page.get_by_text("its first row must name columns for two languages")).to_be_visible()
        page.get_by_role("button", name="back to the corpus").click()
        expect(topics).to_have_text(["pain", "travel"])
