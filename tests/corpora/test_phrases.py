"""The shipped phrases and contrasts: alike in every language, clean, in their script, each of its kind."""

import csv
import re
import unicodedata
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.text_encoder import TextEncoder
from index.formats.registry import Source
from index.formats.sentence import Sentence
from index.formats.tsv import read_tsv
from index.storage.options import Cleaning, Options

TABLE = Path(__file__).resolve().parents[2] / "corpora" / "phrases" / "phrases.tsv"
ABOUT = ("topic", "pictogram", "reviewed")
TOPICS = ["first contact", "health", "pain", "pregnancy and children", "medicine", "emergency", "school"]
TOPICS += ["authority and forms", "housing", "food", "shop", "travel", "work"]
FIRST_LANGUAGES = {"en", "de", "pt", "zh", "ar", "tr", "fr", "cs", "es", "uk", "hi"}
SCRIPTS = {  # first words of the Unicode names of a language's letters; the others write Latin
    "ar": {"ARABIC"},
    "fa": {"ARABIC"},
    "ur": {"ARABIC"},
    "hi": {"DEVANAGARI"},
    "ja": {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    "ko": {"HANGUL"},
    "ru": {"CYRILLIC"},
    "uk": {"CYRILLIC"},
    "zh": {"CJK"},
}
STOPS = {"hi": "।?!", "ur": "۔؟!", "ar": ".؟!", "fa": ".؟!", "zh": "。？！", "ja": "。？！"}
BETWEEN_WORDS = {"zh": "，、", "ja": "、", "ar": "، ", "fa": "، \u200c", "ur": "، "}
OPENING = {"es": "¿¡"}
QUESTION_MARKS = ("?", "？", "؟")


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def lines_of(language: str) -> list[str]:
    return [row[language] for row in rows()]


LANGUAGES = [name for name in rows()[0] if name not in ABOUT]


def spelled(line: str, language: str) -> None:
    """Asserts a clean line: Unicode's form NFC, one stop at its end, before it the language's letters."""
    stops = STOPS.get(language, ".?!")
    between = BETWEEN_WORDS.get(language, " ,'-") + OPENING.get(language, "")
    assert unicodedata.is_normalized("NFC", line), line
    assert line == " ".join(line.split()), line
    body, stop = line[:-1], line[-1:]
    assert stop, line
    assert stop in stops, line
    for character in set(body) - set(between):
        script = unicodedata.name(character).split()[0]
        assert unicodedata.category(character)[0] in "LM", (character, line)
        assert script in SCRIPTS.get(language, {"LATIN"}), (character, line)


def test_the_languages_of_the_everyday_sentences_are_there() -> None:
    assert set(LANGUAGES) >= FIRST_LANGUAGES
    assert {path.stem for path in CONTRASTS.glob("*.tsv")} == FIRST_LANGUAGES


def test_every_line_has_its_topic_and_says_who_has_reviewed_it() -> None:
    assert len(rows()) >= 600
    assert list(dict.fromkeys(row["topic"] for row in rows())) == TOPICS
    for row in rows():
        assert not re.search(r"[\w\s]", re.sub("[0-9]\ufe0f\u20e3", "", row["pictogram"])), row
        assert row["reviewed"] == "no" or set(row["reviewed"].split()) <= set(LANGUAGES), row


def test_an_index_reads_it_as_aligned_sentences_with_their_topic() -> None:
    groups: dict[str | None, set[str]] = {}
    for sentence in read_tsv(TABLE, None):
        assert isinstance(sentence, Sentence), sentence
        assert set(sentence.metadata) >= {"topic", "reviewed"}
        groups.setdefault(sentence.group, set()).add(sentence.language)
    assert len(groups) == len(rows())
    assert all(len(found) == len(LANGUAGES) for found in groups.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_a_clean_phrase_of_its_own_on_every_line(language: str) -> None:
    lines = lines_of(language)
    assert len({line.rstrip(".!?。！？؟۔।").casefold() for line in lines}) == len(lines)
    for line in lines:
        spelled(line, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_asked_in_one_language_is_asked_in_all(language: str) -> None:
    pairs = list(zip(lines_of("en"), lines_of(language), strict=True))
    unlike = [pair for pair in pairs if pair[0].endswith("?") != pair[1].endswith(QUESTION_MARKS)]
    assert len(unlike) <= 5, unlike  # a file that is shifted by a line has over a hundred


@pytest.mark.usefixtures("few_probes")
def test_every_phrase_is_its_own_translation(open_encoder: TextEncoder, tmp_path: Path) -> None:
    """In languages that have phrases alone, too."""
    languages = ("pl", "ja", "sw")
    asked = rows()[::4]
    lines = ["\t".join(languages), *("\t".join(row[code] for code in languages) for row in asked)]
    (tmp_path / "phrases.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    build_index(
        open_encoder.bundle,
        [Source(tmp_path / "phrases.tsv")],
        tmp_path / "index",
        cleaning=Cleaning(("language",)),
        options=Options(aligned=True),
    )
    translator = Translator.open(tmp_path / "index")
    for source, target in permutations(languages, 2):
        answers = translator.sentences([row[source] for row in asked], source, target)
        for row, (first, *_) in zip(asked, answers, strict=True):
            assert (first.text, first.match) == (row[target], "exact")


CONTRASTS = Path(__file__).resolve().parents[2] / "corpora" / "contrasts"
KINDS = ["negation", "number", "side", "date", "person", "open", "degree", "place", "role", "mood"]


def pairs_of(language: str) -> list[tuple[str, str, str]]:
    with (CONTRASTS / f"{language}.tsv").open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert header == ["kind", "sentence", "opposite"]
    return [(kind, sentence, opposite) for kind, sentence, opposite in lines]


@pytest.mark.parametrize("language", sorted(FIRST_LANGUAGES))
def test_every_kind_has_sixty_pairs_and_its_row_in_every_language(language: str) -> None:
    kinds = [kind for kind, _, _ in pairs_of(language)]
    assert list(dict.fromkeys(kinds)) == KINDS
    assert min(Counter(kinds).values()) >= 60
    assert kinds == [kind for kind, _, _ in pairs_of("en")]


@pytest.mark.parametrize("language", sorted(FIRST_LANGUAGES))
def test_no_sentence_stands_twice_and_all_are_clean(language: str) -> None:
    sentences = [text for _, *pair in pairs_of(language) for text in pair]
    assert [text for text, count in Counter(sentences).items() if count > 1] == []
    for text in sentences:
        spelled(text, language)


@pytest.mark.parametrize("language", sorted(FIRST_LANGUAGES))
def test_a_pair_ends_alike_and_asks_where_the_english_one_asks(language: str) -> None:
    """But where it is asked or stated: then one of the two asks."""
    for (kind, english, _), (_, sentence, opposite) in zip(pairs_of("en"), pairs_of(language), strict=True):
        if kind == "mood":
            assert sentence.endswith(QUESTION_MARKS) != opposite.endswith(QUESTION_MARKS)
        else:
            assert sentence[-1] == opposite[-1]
        assert english.endswith("?") == sentence.endswith(QUESTION_MARKS), (english, sentence)
