"""Consistency at query time: means by hand, and a question asked through other languages."""

from pathlib import Path

import numpy as np
import pytest

from index.errors import UnknownLanguageError
from index.search.consistency import mean_queries, mean_scores
from index.search.translator import Translator
from tests.bundles import LANGUAGES

COSINES = {"en": np.asarray([[0.8, 0.2]]), "de": np.asarray([[0.4, 0.6]])}


@pytest.fixture(scope="module")
def translator(index_dir: Path) -> Translator:
    return Translator.open(index_dir)


@pytest.fixture(scope="module")
def lines(index_dir: Path) -> dict[str, list[str]]:
    folder = index_dir.parent / "corpus"
    return {code: (folder / f"{code}.txt").read_text("utf-8").splitlines() for code in LANGUAGES}


def test_the_mean_by_hand() -> None:
    np.testing.assert_allclose(mean_scores(COSINES), [[0.6, 0.4]])


def test_a_mean_question_orders_as_mean_scores_do() -> None:
    draw = np.random.default_rng(0)
    unit = [rows / np.linalg.norm(rows, axis=-1, keepdims=True) for rows in draw.standard_normal((4, 6, 5))]
    questions, candidates = dict(zip("abc", unit[:3], strict=True)), unit[3]
    mean = mean_scores({code: rows @ candidates.T for code, rows in questions.items()})
    np.testing.assert_array_equal(np.argsort(mean), np.argsort(mean_queries(questions) @ candidates.T))


def test_a_questions_own_translations_lead_to_the_same_scene(
    translator: Translator, lines: dict[str, list[str]]
) -> None:
    texts = lines["en"][:5]
    alone = translator.sentences(texts, "en", "de")
    found = translator.consistent(texts, "en", "de", 3)
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


def test_unknown_languages_are_refused(translator: Translator) -> None:
    with pytest.raises(UnknownLanguageError):
        translator.consistent(["A dog."], "en", "xx")
    assert translator.consistent([], "en", "de") == []
