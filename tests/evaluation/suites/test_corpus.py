from pathlib import Path

import pytest
from sacrebleu import corpus_bleu, corpus_chrf

from evaluation.suites.corpus import corpus_translation, score, tokeniser
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError, UnknownLanguageError
from tests.bundles import sentences

CODES = ("en", "de", "zh")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every sixth sentence is asked, the others are held: none of them is a translation."""
    folder = tmp_path_factory.mktemp("data")
    benchmark, text = folder / "benchmark" / "multi30k_test_2016", folder / "text"
    for part in (benchmark, text):
        part.mkdir(parents=True)
    for code in CODES:
        every = sentences(code)[::3]
        asked, held = every[::6], [line for row, line in enumerate(every) if row % 6]
        (benchmark / f"{code}.txt").write_text("\n".join(asked) + "\n", "utf-8")
        (text / f"multi30k_train.{code}.txt").write_text("\n".join(held) + "\n", "utf-8")
    return folder


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_scores_are_those_of_the_index_and_better_than_random(
    bundle: Bundle, data: Path, tmp_path: Path
) -> None:
    (table,) = corpus_translation(TextEncoder(bundle), data, CODES, ["en", "de"])
    assert (table.languages, table.n) == (("en", "de", "zh"), 80)
    assert set(table.means) == {"all", "en,de"}
    for pair in table.pairs:
        assert pair.measures["chrf_random"] < pair.measures["chrf"] < 100

    text = {code: data / "text" / f"multi30k_train.{code}.txt" for code in CODES}
    asked = {code: lines(data / "benchmark" / "multi30k_test_2016" / f"{code}.txt") for code in CODES}
    build_index(bundle, text, tmp_path / "index")
    answers = Translator.open(tmp_path / "index").sentences(asked["en"], "en", "zh")
    expected = [match[0].text for match in answers]
    assert not set(expected) & set(asked["zh"])
    (measures,) = [pair.measures for pair in table.pairs if (pair.source, pair.target) == ("en", "zh")]
    assert measures["chrf"] == pytest.approx(corpus_chrf(expected, [asked["zh"]]).score)
    assert measures["bleu"] == pytest.approx(corpus_bleu(expected, [asked["zh"]], tokenize="zh").score)


def test_the_signatures_stand_in_the_note(bundle: Bundle, data: Path) -> None:
    (table,) = corpus_translation(TextEncoder(bundle), data, ["en", "zh"], [])
    for setting in ("nc:6", "tok:13a", "tok:zh", "nrefs:1", "seed 0"):
        assert setting in table.note


def test_bleu_divides_chinese_and_scripts_without_spaces() -> None:
    assert [tokeniser(code) for code in ("en", "ar", "zh", "yue", "ja", "th", "xx")] == [
        "13a", "13a", "zh", "zh", "char", "char", "13a",
    ]  # fmt: skip
    assert score(["黑狗在雪地里奔跑"], ["黑狗在雪地里睡"], "zh").bleu > 60


def test_text_that_is_missing_is_wrong_use(bundle: Bundle, data: Path) -> None:
    encoder = TextEncoder(bundle)
    with pytest.raises(UnknownLanguageError, match="has no pt"):
        corpus_translation(encoder, data, CODES, ["pt"])
    path = data / "text" / "multi30k_train.zh.txt"
    moved = path.rename(path.with_suffix(".away"))
    try:
        with pytest.raises(DataError, match=r"en, zh two or more need multi30k_train\.LANG\.txt"):
            corpus_translation(encoder, data, ["en", "zh"], [])
    finally:
        moved.rename(path)
