"""Suites that measure each language with English alone."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.suites.english import captions_with_english, everyday, picture_sets
from evaluation.suites.sets import CaptionLine
from evaluation.suites.translation import multi30k
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from index.vectors.neighbourhoods import csls
from tests.bundles import LANGUAGES, sentences
from tests.evaluation.measures.test_scores import naive
from tests.files import tsv, write_lines, write_picture_set


@pytest.fixture
def stamps(tmp_path: Path) -> Path:
    """400 pictures, 60 of them in split test, of which Arabic has 20 and Portuguese 3."""
    names = [f"{number}.png" for number in range(400)]
    captions = {}
    for language, start in {"en": 0, "de": 0, "zh": 0, "ar": 40, "pt": 57}.items():
        rows = list(zip(names, sentences(language), strict=False))[start : 100 if language == "ar" else 400]
        captions[language] = [(name, text, "human") for name, text in rows]
    splits = {name: "test" if row < 60 else "train" for row, name in enumerate(names)}
    write_picture_set(tmp_path / "stamps", splits, captions)
    return tmp_path


def test_a_picture_set_is_measured_by_picture_with_english(encoder: TextEncoder, stamps: Path) -> None:
    (table,) = picture_sets(encoder, stamps, ["en", "de"])
    assert (table.name, table.languages) == ("stamps", ("ar", "en", "de", "zh"))
    assert {(pair.source, pair.target): pair.n for pair in table.pairs} == {
        ("ar", "en"): 20, ("en", "ar"): 20, ("de", "en"): 60, ("en", "de"): 60,
        ("zh", "en"): 60, ("en", "zh"): 60,
    }  # fmt: skip
    assert "has not learned ar, zh." in table.note
    german = next(pair for pair in table.pairs if pair.source == "de")
    expected = naive(*(encoder.encode(sentences(code)[:60]) for code in ("de", "en")))
    assert {key: german.measures[key] for key in expected} == {
        key: pytest.approx(value) for key, value in expected.items()
    }
    assert german.measures["times_chance"] == pytest.approx(german.measures["csls_r10"] * 6 / 100)
    into, back = (pair.measures for pair in table.pairs if "ar" in (pair.source, pair.target))
    arabic, english = encoder.encode(sentences("ar")[40:60]), encoder.encode(sentences("en")[:60])
    best = csls(arabic @ english.T).argmax(axis=1)
    assert into["csls_r1"] == pytest.approx(100 * np.mean(best == np.arange(40, 60))), "among all 60"
    assert into["times_chance"] == pytest.approx(into["csls_r10"] * 6 / 100)
    assert back["times_chance"] == pytest.approx(back["csls_r10"] * 2 / 100)
    assert back["csls_r10"] == pytest.approx(naive(english[40:], arabic)["csls_r10"])
    assert set(table.means) == {"all", "into English", "from English"}
    all_into = [pair.measures["csls_r1"] for pair in table.pairs if pair.target == "en"]
    assert table.means["into English"]["csls_r1"] == pytest.approx(np.mean(all_into))


def test_pictures_that_english_calls_the_same_are_one(encoder: TextEncoder, stamps: Path) -> None:
    path = stamps / "stamps" / "captions" / "en.tsv"
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    same = [(name, rows[0][1] if row < 5 else text, how) for row, (name, text, how) in enumerate(rows)]
    tsv(path, same)
    (table,) = picture_sets(encoder, stamps, ["en", "de"])
    assert table.n == 56
    assert "all 56 different English ones" in table.note


def test_every_picture_set_except_photos_has_a_table(encoder: TextEncoder, stamps: Path) -> None:
    for name in ("photos", "cards"):
        (stamps / name).symlink_to(stamps / "stamps")
    (stamps / "other" / "captions").mkdir(parents=True)
    assert [table.name for table in picture_sets(encoder, stamps, ["en"])] == ["cards", "stamps"]


def test_a_set_without_english_or_no_set_is_refused(encoder: TextEncoder, stamps: Path) -> None:
    with pytest.raises(DataError, match="has no picture set besides photos"):
        picture_sets(encoder, stamps / "stamps", ["en"])
    (stamps / "stamps" / "captions" / "en.tsv").unlink()
    with pytest.raises(DataError, match=r"captions has no en\.tsv"):
        picture_sets(encoder, stamps, ["en"])


def test_everyday_sentences_have_an_english_of_their_own(encoder: TextEncoder, tmp_path: Path) -> None:
    for row, language in enumerate(("de", "zh")):
        lines = slice(40 * row, 40 * row + 30 + 10 * row)
        for code in ("en", language):
            write_lines(
                tmp_path / "benchmark" / f"everyday_{language}" / f"{code}.txt", sentences(code)[lines]
            )
    dev, test = everyday(encoder, tmp_path, LANGUAGES)
    assert (dev.name, test.name) == ("everyday sentences, dev", "everyday sentences, test")
    assert {(pair.source, pair.target): pair.n for pair in test.pairs} == {
        ("de", "en"): 15, ("en", "de"): 15, ("zh", "en"): 20, ("en", "zh"): 20,
    }  # fmt: skip
    expected = naive(*(encoder.encode(sentences(code)[40:80]) for code in ("zh", "en")))
    halves = [next(pair for pair in table.pairs if pair.source == "zh") for table in (dev, test)]
    for key, value in expected.items():
        assert np.mean([half.measures[key] for half in halves]) == pytest.approx(value), "among all lines"
    assert set(test.means) == {"all", "into English", "from English"}
    with pytest.raises(DataError, match="no folder everyday_LANG"):
        everyday(encoder, tmp_path / "nowhere", LANGUAGES)


def test_machine_translations_are_measured_with_the_english_lines(
    encoder: TextEncoder, tmp_path: Path
) -> None:
    human, machine = (tmp_path / "benchmark" / f"multi30k_test_2016{suffix}" for suffix in ("", "_machine"))
    for code in ("en", "de"):
        write_lines(human / f"{code}.txt", sentences(code)[:50])
    write_lines(machine / "zh.txt", sentences("zh")[:50])
    _, table = multi30k(encoder, tmp_path, LANGUAGES)
    assert (table.name, table.languages, table.n) == ("multi30k_test_2016_machine", ("zh", "en"), 50)
    assert table.note.startswith("Machine translated")
    write_lines(machine / "zh.txt", sentences("zh")[:49])
    with pytest.raises(DataError, match="not as many lines as"):
        multi30k(encoder, tmp_path, LANGUAGES)


def test_any_caption_of_the_picture_is_right(encoder: TextEncoder) -> None:
    """Two English captions a picture; the German one is the second's translation. A picture without German is
    no candidate."""
    english, german = sentences("en")[:120], sentences("de")[:120]
    captions = {
        "en": [CaptionLine(f"{row // 2}", text, "human") for row, text in enumerate(english)],
        "de": [CaptionLine(f"{row // 2}", german[row], "machine") for row in range(1, 100, 2)],
    }
    table = captions_with_english(encoder, captions, {f"{row}" for row in range(60)}, LANGUAGES)
    assert {(pair.source, pair.n) for pair in table.pairs} == {("de", 50), ("en", 100)}
    asked, answers = encoder.encode(german[1:100:2]), encoder.encode(english[:100])
    best = csls(asked @ answers.T).argmax(axis=1) // 2
    assert table.pairs[0].measures["csls_r1"] == pytest.approx(100 * np.mean(best == np.arange(50)))
    assert table.pairs[0].measures["csls_r1"] <= table.pairs[0].measures["csls_r10"]
