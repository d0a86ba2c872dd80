"""Consistency at query time: means and weights by hand, and a question asked through other languages."""

from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from index.errors import DamagedError, UnknownLanguageError, UsageError
from index.search.consistency import Consistency, mean_queries, mean_scores, stacked
from index.search.translator import Translator
from tests.bundles import LANGUAGES

COSINES = {"en": np.asarray([[0.8, 0.2]]), "de": np.asarray([[0.4, 0.6]])}
TWO = Consistency(languages=("en", "de"), first=((1.0, -1.0), (0.5, 0.0)), second=(2.0, 3.0))


@pytest.fixture(scope="module")
def translator(index_dir: Path) -> Translator:
    return Translator.open(index_dir)


@pytest.fixture(scope="module")
def lines(index_dir: Path) -> dict[str, list[str]]:
    folder = index_dir.parent / "corpus"
    return {code: (folder / f"{code}.txt").read_text("utf-8").splitlines() for code in LANGUAGES}


def test_the_mean_and_the_network_by_hand() -> None:
    np.testing.assert_allclose(mean_scores(COSINES), [[0.6, 0.4]])
    # First unit: 1.8 + 0.5 · 1.4 = 2.5 and 1.2 + 0.5 · 1.6 = 2.0; the second, -1.8 and -1.2, is cut to 0.
    np.testing.assert_allclose(TWO(COSINES), [[5.0, 4.0]])


def test_a_language_without_a_translation_counts_as_the_mean_of_the_others() -> None:
    found = stacked(COSINES, ("en", "fr", "de"))
    np.testing.assert_allclose(found[0], [[0.8, 0.6, 0.4], [0.2, 0.4, 0.6]])
    uniform = Consistency.uniform(("en", "fr", "de"))
    np.testing.assert_allclose(uniform(COSINES), 1 + mean_scores(COSINES))
    assert len(uniform.first) * len(uniform.first[0]) + len(uniform.second) == 3 * 32 + 32


def test_a_mean_question_orders_as_mean_scores_do() -> None:
    draw = np.random.default_rng(0)
    unit = [rows / np.linalg.norm(rows, axis=-1, keepdims=True) for rows in draw.standard_normal((4, 6, 5))]
    questions, candidates = dict(zip("abc", unit[:3], strict=True)), unit[3]
    mean = mean_scores({code: rows @ candidates.T for code, rows in questions.items()})
    np.testing.assert_array_equal(np.argsort(mean), np.argsort(mean_queries(questions) @ candidates.T))


def test_it_is_kept_as_a_file(tmp_path: Path) -> None:
    file = tmp_path / "consistency.json"
    TWO.write(file)
    assert Consistency.read(file) == TWO
    file.write_text('{"languages": ["en"], "first": [[1]], "second": [1, 2]}', "utf-8")
    with pytest.raises(DamagedError, match="write it again"):
        Consistency.read(file)
    with pytest.raises(UsageError, match="evaluate consistency"):
        Consistency.read(tmp_path / "none.json")
    with pytest.raises(ValidationError):
        Consistency(languages=("en", "en"), first=((1.0,), (1.0,)), second=(1.0,))


def test_a_questions_own_translations_lead_to_the_same_scene(
    translator: Translator, lines: dict[str, list[str]]
) -> None:
    texts = lines["en"][:5]
    alone = translator.sentences(texts, "en", "de")
    for learned in (None, Consistency.uniform(LANGUAGES)):
        found = translator.consistent(texts, "en", "de", 3, learned=learned)
        assert [answers[0].text for answers in found] == [answers[0].text for answers in alone]
        assert all(len(answers) == 3 for answers in found)
        assert found[0][0].confidence == pytest.approx(alone[0][0].confidence, abs=0.2)


def test_given_translations_outvote_a_question_that_is_wrong(
    translator: Translator, lines: dict[str, list[str]]
) -> None:
    wrong, right = lines["en"][0], lines["de"][7]
    given = {code: [lines[code][7]] for code in ("pt", "zh", "ar")}
    assert translator.consistent([wrong], "en", "de", given={})[0][0].text == lines["de"][0]
    assert translator.consistent([wrong], "en", "de", given=given)[0][0].text == right
    weights = tuple((1.0,) if code == "en" else (0.0,) for code in LANGUAGES)
    english = Consistency(languages=LANGUAGES, first=weights, second=(1.0,))
    answer = translator.consistent([wrong], "en", "de", given=given, learned=english)[0][0]
    assert answer.text == lines["de"][0], "where English alone has weight the others say nothing"


def test_unknown_languages_are_told(translator: Translator) -> None:
    with pytest.raises(UnknownLanguageError):
        translator.consistent(["A dog."], "en", "xx")
    assert translator.consistent([], "en", "de") == []
