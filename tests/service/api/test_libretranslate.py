"""LibreTranslate's protocol: with its own client, unmodified, and with the requests that others send."""

import encodings
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from deep_translator import LibreTranslator
from libretranslatepy import LibreTranslateAPI
from starlette.testclient import TestClient

from index.answers.translator import Translator
from index.encoder.bundle import Bundle
from service import limits
from service.app import create_app
from service.settings import Settings
from tests.bundles import sentences
from tests.files import index_of_table
from tests.service.conftest import ClientFactory

DOG = "A small dog runs on the beach."
ASKED = {"q": DOG, "source": "en", "target": "de"}
NPM_CLIENT = "libretranslate@1.0.1"
FORM = "application/x-www-form-urlencoded"


def best(translator: Translator, text: str = DOG, target: str = "de") -> str:
    return translator.sentences([text], "en", target, 1)[0][0].text


def translated(client: TestClient, **fields: Any) -> Any:  # noqa: ANN401
    answer = client.post("/translate", json=ASKED | fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: TestClient, status: int = 400, path: str = "/translate", **sent: Any) -> str:  # noqa: ANN401
    answer = client.post(path, **sent)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert list(answer.json()) == ["error"]
    told: str = answer.json()["error"]
    return told


def test_deep_translator_translates_by_the_query_of_a_post(address: str, translator: Translator) -> None:
    client = LibreTranslator(source="en", target="de", api_key="none", custom_url=f"{address}/")
    assert client.translate(DOG) == best(translator)


def test_the_client_of_npm_translates(address: str, translator: Translator, tmp_path: Path) -> None:
    subprocess.run(["npm", "pack", NPM_CLIENT], cwd=tmp_path, capture_output=True, timeout=60, check=True)
    with tarfile.open(next(tmp_path.glob("*.tgz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    script = """
        const { translate } = require("./package");
        const [apiurl, query] = process.argv.slice(1);
        translate({ query, source: "en", target: "de", apiurl }).then(console.log);
    """
    command = ["node", "-e", script, address, DOG]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == best(translator)


def test_its_own_client_translates_detects_and_lists(address: str, translator: Translator) -> None:
    theirs = LibreTranslateAPI(address)
    assert theirs.translate(DOG, "en", "de") == best(translator)
    assert theirs.translate("Größe? " + DOG, "en", "de")  # not ASCII
    (first, *_) = theirs.detect(DOG)
    assert first["language"] == "en"
    assert 70 < first["confidence"] <= 100
    assert {one["code"]: one["name"] for one in theirs.languages()}["pt"] == "Portuguese"
    assert all(set(one["targets"]) < {"en", "de", "pt", "zh", "ar"} for one in theirs.languages())
    with pytest.raises(HTTPError) as caught:
        theirs.translate(DOG, "en", "xx")
    with caught.value as answer:
        assert (answer.code, list(json.load(answer))) == (400, ["error"])


def test_a_single_text_gets_single_values_and_a_list_lists(
    client: TestClient, translator: Translator
) -> None:
    assert translated(client) == {"translatedText": best(translator)}
    assert translated(client, q=[DOG]) == {"translatedText": [best(translator)]}
    both = translated(client, q=[DOG, sentences("en")[77]], source="auto", alternatives=2)
    assert {len(value) for value in both.values()} == {2}
    assert [one["language"] for one in both["detectedLanguage"]] == ["en", "en"]


def test_the_source_is_detected_with_a_confidence_in_percent(client: TestClient) -> None:
    detected = translated(client, source="auto")["detectedLanguage"]
    assert detected["language"] == "en"
    assert 70 <= detected["confidence"] <= 100
    assert detected in client.post("/detect", json={"q": DOG}).json()


def test_detection_names_every_likely_language_the_likeliest_first(client: TestClient) -> None:
    (only,) = client.post("/detect", data={"q": sentences("zh")[5]}).json()
    assert only == {"confidence": pytest.approx(100, abs=1), "language": "zh"}
    unsure = client.post("/detect", json={"q": "Park"}).json()
    assert len(unsure) > 1
    assert sum(one["confidence"] for one in unsure) == pytest.approx(100, abs=2)
    assert unsure == sorted(unsure, key=lambda one: -one["confidence"])


@pytest.mark.parametrize("text", ["12345", "🐶", "?!"])
def test_a_text_without_letters_is_in_no_language(client: TestClient, text: str) -> None:
    assert client.post("/detect", json={"q": text}).json() == []


def test_alternatives_are_others_and_no_more_than_asked_for(make_client: ClientFactory) -> None:
    client = make_client(min_confidence=0)
    answer = translated(client, alternatives=3)
    assert 1 <= len(answer["alternatives"]) <= 3
    assert answer["translatedText"] not in answer["alternatives"]
    for below in (-1, "-1", "-373065377054"):
        assert "alternatives" not in translated(client, alternatives=below)


def test_what_is_not_likely_enough_is_no_answer(make_client: ClientFactory) -> None:
    client = make_client(min_confidence=1)
    assert translated(client, alternatives=2) == {"translatedText": "", "alternatives": []}


def test_a_text_in_the_target_language_or_blank_is_its_own_translation(client: TestClient) -> None:
    german = sentences("de")[3]
    others = [german, "", " \n", "123", "🤒", "38.5 °!"]
    answer = translated(client, q=[DOG, *others], source="auto")
    assert answer["translatedText"] == [translated(client)["translatedText"], *others]
    assert translated(client, q=others[1:])["translatedText"] == others[1:]
    assert translated(client, q=german, source="de")["translatedText"] == german


def test_a_long_text_is_answered_sentence_by_sentence(client: TestClient) -> None:
    """As long as each sentence is short enough; its language is detected by its beginning."""
    lines = [DOG, *sentences("en")[70:120]] * 6
    known = [line for line in lines if translated(client, q=line)["translatedText"]]
    text = "\n".join(known)
    assert len(text) > 1000
    by_line = translated(client, q=known)["translatedText"]
    assert translated(client, q=text, source="auto")["translatedText"] == "\n".join(by_line)
    assert translated(client, q=text, target="en")["translatedText"] == text
    html = f"<style>{'p {} ' * 300}</style><p>{DOG}</p>"
    assert translated(client, q=html, format="html")["translatedText"] == html.replace(DOG, by_line[0])


def test_markup_is_read_as_text_and_answers_are_written_as_markup(
    client: TestClient, translator: Translator
) -> None:
    answer = translated(client, q="<p>A <b>small</b> dog runs on&nbsp;the beach.</p>", format="html")
    assert answer["translatedText"] == f"<p>{best(translator)}</p>"


@pytest.mark.parametrize(
    "sent",
    [
        {"json": ASKED | {"api_key": "", "format": "", "unknown": 1}},  # Weblate sends an empty key
        {"data": ASKED | {"alternatives": "0", "format": "text", "api_key": ""}},
        {"content": f"q={DOG}&source=en&target=de".encode(), "headers": {"Content-Type": FORM}},
        {"files": {name: (None, value) for name, value in ASKED.items()}},
        {"json": ASKED | {"source": "en_GB", "target": "DE"}},
    ],
    ids=["json", "form", "form with spaces", "multipart", "other spellings of languages"],
)
def test_every_way_to_send_gives_the_same_answer(
    client: TestClient, translator: Translator, sent: dict[str, Any]
) -> None:
    answer = client.post("/translate", **sent)
    assert (answer.status_code, answer.json()) == (200, {"translatedText": best(translator)})


def test_a_form_may_repeat_q_and_hold_letters_as_they_are(client: TestClient) -> None:
    german = sentences("de")[3:5]
    body = f"q={german[0]}&q={german[1]}&source=de&target=en".encode()
    answer = client.post("/translate", content=body, headers={"Content-Type": FORM})
    assert answer.json() == translated(client, q=german, source="de", target="en")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"q": ""}, "q is missing"),
        ({"q": None}, "q is missing"),
        ({"source": ""}, "source is missing"),
        ({"target": None}, "target is missing"),
        ({"q": 5}, "q must be a string"),
        ({"q": []}, "q is an empty list"),
        ({"q": "x" * 1001}, "q has a sentence of 1001 characters, the limit is 1000: shorten it"),
        ({"q": [DOG, f"{DOG}\n{'x' * 1001}."]}, "q[1] has a sentence of 1002 characters"),
        ({"q": "A dog. " * 3001}, "3001 answers to 3001 sentences, the limit is 3000"),
        ({"q": ["x"] * 257}, "the limit is 256"),
        ({"source": "xx"}, "use one of ar, de, en, pt, zh"),
        ({"target": "../de"}, "use one of ar, de, en, pt, zh"),
        ({"format": "pdf"}, "format must be 'text' or 'html'"),
        ({"alternatives": "many"}, "alternatives must be a whole number"),
        ({"alternatives": True}, "alternatives must be a whole number"),
        ({"alternatives": 50}, "alternatives is 50, the limit is 49"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_field_that_is_wrong(client: TestClient, fields: dict[str, Any], told: str) -> None:
    assert told in refused(client, json=ASKED | fields)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{"),
        ("application/json", b"[]"),
        ("application/json", b'{"q": "\xff"}'),
        ("text/plain", b"q=a"),
        (FORM, b"q=%ff&source=en&target=de"),
        (FORM, b"q=\xff"),
        (FORM, b"a=1&" * 1000),
        ("multipart/form-data", b"--x"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: nonsense\r\n\r\na\r\n--x--"),
        ("multipart/form-data; boundary=x", b"nonsense"),
        ("multipart/form-data; charset=punycode; boundary=x", b"--x--"),
        ("multipart/form-data; boundary=x; charset*=utf-8''utf-7", b"--x--"),
        (FORM + "; charset=utf-16", b"q=a&source=en&target=de"),
        ("multipart/form-data; boundary=" + "x" * 300, b"--x--"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="q"; filename="a"\r\n\r\na',
        ),
    ],
)
def test_a_body_that_cannot_be_read(client: TestClient, content_type: str, body: bytes) -> None:
    assert refused(client, content=body, headers={"Content-Type": content_type})


def test_unknown_charsets_leave_nothing_behind(client: TestClient) -> None:
    """Python keeps the name of every charset that is looked up."""
    for number in range(20):
        head = f"multipart/form-data; charset=unknown-{number}; boundary=x"
        refused(client, content=b"--x--", headers={"Content-Type": head})
    assert not [name for name in encodings._cache if name.startswith("unknown")]  # type: ignore[attr-defined]


def test_faults_elsewhere_have_its_shape_on_its_paths(client: TestClient) -> None:
    assert "bytes" in refused(client, 413, json=ASKED | {"q": "x" * limits.MAX_BODY_BYTES})
    assert refused(client, 405, "/health") == "POST is not allowed: use GET"
    answer = client.get("/translate")
    assert (answer.status_code, list(answer.json())) == (405, ["error"])


def test_health(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The dog sleeps. The cat runs.", "Der Vertrag gilt. Bitte warten!"),
        (" The dog sleeps.\n\n\tThe cat runs. 🐈\n", " Der Vertrag gilt.\n\n\tBitte warten! 🐈\n"),
        ("- The dog sleeps.\n1. The cat runs. & A bird.", "- Der Vertrag gilt.\n1. Bitte warten! & Nein."),
        ("- A cow.", "- Muh."),
        ("Delete [X7X] now!", "Nie [X7X]."),
        ("Delete <x0/> now!", ""),
    ],
)
def test_the_sentences_of_a_text_are_put_together(remembering: TestClient, text: str, answer: str) -> None:
    assert translated(remembering, q=text) == {"translatedText": answer}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("A bird.<script>alert(1)</script>", "Nein.<script>alert(1)</script>"),
        ("The dog sleeps. <code>x</code> The cat runs.", "Der Vertrag gilt. <code>x</code> Bitte warten!"),
        ("<p>&nbsp;A bird.&nbsp;</p> A bird. &amp; A bird.", "<p>&nbsp;Nein.&nbsp;</p> Nein. &amp; Nein."),
        ("<b translate=no>The dog</b> The dog sleeps.", "<b translate=no>The dog</b> Der Vertrag gilt."),
        ("Delete <b translate=no>x</b> now!", ""),
        ('See <a href="/b">it</a> now.', 'Da: <a href="/b">es</a> &amp; so.'),
        ("See it now.", ""),
    ],
)
def test_what_is_left_out_stays_where_it_is(remembering: TestClient, text: str, answer: str) -> None:
    assert translated(remembering, q=text, format="html") == {"translatedText": answer}
    assert translated(remembering, q=text, format="html", target="en") == {"translatedText": text}


def test_a_word_is_looked_up_among_the_words_if_it_is_no_sentence(bundle: Bundle, tmp_path: Path) -> None:
    rows = [("de", "pt"), ("Strand", ""), ("", "Praia"), *zip(sentences("de"), sentences("pt"), strict=True)]
    index = index_of_table(bundle, tmp_path / "words.tsv", rows)
    with TestClient(create_app(Settings(index=index))) as client:
        answer = translated(client, q=["Strand", "Hund"], source="de", target="pt")
        assert answer == {"translatedText": ["Praia", "cão"]}
