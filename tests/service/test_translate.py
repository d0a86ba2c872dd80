"""`passepartout translate`: an index in the process and a service give the same answers."""

import io
import json
import sys
from pathlib import Path

import pytest

from index.answers.answer import SentenceResponse
from tests.conftest import Fails, Says

DOG = "A black dog jumps on the snow."


@pytest.fixture
def places(index_dir: Path, address: str) -> dict[str, list[str]]:
    return {"index": ["--index", str(index_dir)], "service": ["--url", address]}


@pytest.fixture(params=["index", "service"])
def place(places: dict[str, list[str]], request: pytest.FixtureRequest) -> list[str]:
    return places[request.param]


def test_a_sentence(place: list[str], says: Says) -> None:
    lines = says("translate", *place, DOG, "--to", "de", "--from", "en", "-k", "2").out.splitlines()
    assert len(lines) == 2
    assert lines[1].strip() == f"says {DOG!r}"
    confidence, _, answer = lines[0].partition("  ")
    assert 0 <= float(confidence) <= 1
    assert answer.startswith("Der hund")


def test_both_places_answer_the_same(places: dict[str, list[str]], says: Says) -> None:
    asked = [DOG, "O cão preto corre na neve.", "--to", "de,pt", "--to", "zh", "-k", "2", "--json"]
    answers = [says("translate", *place, *asked).out for place in places.values()]
    assert json.loads(answers[0]) == json.loads(answers[1])
    found = SentenceResponse.model_validate_json(answers[0])
    assert [(one.source, list(one.translations)) for one in found.results] == [
        ("en", ["de", "pt", "zh"]),
        ("pt", ["de", "zh"]),
    ]


def test_several_texts_and_targets_are_labelled(place: list[str], says: Says) -> None:
    lines = says(
        "translate", *place, "dog", "cat", "--word", "--to", "de,pt", "--from", "en"
    ).out.splitlines()
    assert [line.split()[-1] for line in lines] == ["dog", "hund", "cão", "cat", "katze", "gato"]
    assert lines[1].split()[1] == "de"


def test_answers_that_are_not_likely_enough_are_replaced_by_a_note(place: list[str], says: Says) -> None:
    assert (
        "de: nothing is likely enough"
        in says("translate", *place, DOG, "--from", "en", "--to", "de", "--min-confidence", "1").out
    )


def test_in_its_own_language_a_text_gets_what_else_means_the_same(place: list[str], says: Says) -> None:
    shown = says(
        "translate", *place, DOG, "--from", "en", "--to", "en,de", "-k", "2", "--min-confidence", "0"
    )
    lines = [line.removesuffix("  (near)") for line in shown.out.splitlines() if line[0] != " "]
    said = [line.split("  ")[1:] for line in lines]
    assert [language for language, _ in said] == ["en", "en", "de", "de"]
    itself = says("translate", *place, said[0][1], "--from", "en", "--to", "en", "--min-confidence", "0")
    assert said[0][1] not in itself.out
    as_json = says("translate", *place, said[0][1], "--from", "en", "--to", "en", "--json")
    (answer,) = json.loads(as_json.out)["results"][0]["translations"]["en"]
    assert (answer["text"], answer["match"]) == (said[0][1], "exact")


def test_lines_of_standard_input(place: list[str], says: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("dog\n\ncat\n"))
    assert says("translate", *place, "-", "--word", "--from", "en", "--to", "de").out.split()[0::3] == [
        "dog",
        "cat",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dog", "--to", "fr", "--from", "en"], ["'fr'"]),
        (["dog", "--to", "de", "--from", "fr"], ["'fr'"]),
        (["12345", "--to", "de"], ["language", "--from|source"]),
        ([" \u200b ", "--to", "de"], ["TEXT is empty"]),
        (["dog", "--to", "de", "-k", "0"], ["-k"]),
        (["dog"], ["--to"]),
        (["--to", "de"], ["TEXT"]),
    ],
)
def test_wrong_use_says_what_to_change_with_exit_2(
    place: list[str], fails: Fails, arguments: list[str], words: list[str]
) -> None:
    line = fails("translate", *arguments, *place)
    assert all(any(part in line for part in word.split("|")) for word in words)


def test_an_index_and_a_service_are_not_asked_together(fails: Fails, index_dir: Path) -> None:
    assert "not both" in fails("translate", "dog", "--to", "de", "--url", "http://x", "--index", index_dir)


def test_a_service_must_answer(fails: Fails) -> None:
    line = fails("translate", "dog", "--to", "de", "--url", "http://127.0.0.1:1", code=1)
    assert line.startswith("passepartout: http://127.0.0.1:1 does not answer")


def test_without_an_index_it_asks_the_one_that_is_served(
    says: Says, index_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSEPARTOUT_INDEX", str(index_dir))
    told = says("translate", "a small dog runs on the beach", "--to", "de", "--from", "en")
    assert "Hund" in told.out.title()


def test_sentences_of_a_text_follow_it(remembering_dir: Path, says: Says) -> None:
    text = "The dog sleeps. The cat runs."
    told = says("translate", text, "--from", "en", "--to", "de", "--index", remembering_dir)
    lines = [line for line in told.out.splitlines() if not line.startswith(" ")]
    assert lines == [
        "“The dog sleeps.”",
        "1.00  Der Vertrag gilt.",
        "“The cat runs.”",
        "1.00  Bitte warten!",
        "-     de: nothing is likely enough for the whole text",
    ]
