"""Concordance: the sentences of a language that have a word or phrase in them, with their translations."""

import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

import pyarrow.compute as pc

from index.answers.answer import Concordance, ConcordanceLine, Phrases, ShownPhrase, Translation
from index.answers.sentence_index import SentenceIndex
from index.answers.translator import Translator
from index.formats.sentence import Sentence
from index.languages import is_unspaced
from index.text.normalisation import clean

ROWS_READ = 1 << 14  # at a time
MOST_ROWS = 1 << 20  # read for one page
MOST_TRANSLATIONS = 20  # of a sentence into one language

TOPIC = "topic"  # the column of a table that makes its sentences phrases
PHRASE_COLUMNS = (TOPIC, "pictogram", "reviewed")
LETTER_CLASSES = r"\pL\pM\pN_"  # as RE2 spells them


def concordance(
    translator: Translator,
    phrase: str | None,
    source: str,
    targets: Sequence[str],
    *,
    begin: int = 0,
    count: int = 20,
) -> Concordance:
    """Find up to `count` sentences in `source` that contain a phrase, from row `begin` on.

    Case is ignored, and the phrase must be whole words if its script separates words. Without a phrase, every
    sentence matches. A page reads at most MOST_ROWS rows, so a page with fewer sentences may not be the last.
    """
    index, cleaned = translator.sentence_indexes[source], None if phrase is None else clean(phrase)
    following = min(len(index), begin + (count if cleaned is None else MOST_ROWS))
    found = range(begin, following) if cleaned is None else _rows(index, _pattern(cleaned), begin, following)
    rows = list(islice(found, count + 1))  # one more tells whether there is another page
    if len(rows) > count:
        following = rows[count - 1] + 1
    return Concordance(
        model=translator.model,
        index=translator.version,
        text=phrase,
        source=source,
        results=[_line(translator, index, row, cleaned, targets) for row in rows[:count]],
        next=following if following < len(index) else None,
    )


def phrases(translator: Translator, source: str, target: str) -> Phrases:
    """Find the sentences with a `topic` in their metadata that the corpus translates, in its order."""
    index, other = (translator.sentence_indexes[code] for code in (source, target))
    found = []
    for row in index.rows_that_say(TOPIC):
        if (sentence := index.sentence(row)).metadata.get(TOPIC):
            found += [
                ShownPhrase(
                    **phrase_columns(sentence),
                    text=sentence.text,
                    id=sentence.id,
                    translation=translation.text,
                    translation_id=translation.id,
                )
                for translation in _translations(index, other, row)[:1]
            ]
    return Phrases(model=translator.model, index=translator.version, phrases=found)


def phrase_columns(sentence: Sentence) -> dict[str, str]:
    """What the columns of PHRASE_COLUMNS say of a phrase."""
    return {name: str(sentence.metadata.get(name) or "") for name in PHRASE_COLUMNS}


def _rows(index: SentenceIndex, pattern: str, begin: int, end: int) -> Iterator[int]:
    for start in range(begin, end, ROWS_READ):
        texts = index.texts(start, min(start + ROWS_READ, end))
        matches = pc.match_substring_regex(texts, pattern, ignore_case=True)
        for place in pc.indices_nonzero(matches).to_pylist():
            yield start + place


def _line(
    translator: Translator, index: SentenceIndex, row: int, phrase: str | None, targets: Sequence[str]
) -> ConcordanceLine:
    sentence = index.sentence(row)
    return ConcordanceLine(
        text=sentence.text,
        id=sentence.id,
        places=[] if phrase is None else list(_places(phrase, sentence.text)),
        metadata=dict(sentence.metadata),
        translations={code: _translations(index, translator.sentence_indexes[code], row) for code in targets},
    )


def _translations(index: SentenceIndex, target: SentenceIndex, row: int) -> list[Translation]:
    found = map(target.sentence, index.translations(row, target)[:MOST_TRANSLATIONS])
    return [Translation(text=sentence.text, id=sentence.id) for sentence in found]


def _pattern(phrase: str) -> str:
    """The RE2 regular expression that finds a phrase."""
    escaped = "".join(
        f"\\{character}" if character in string.punctuation else character for character in phrase
    )
    before = rf"(?:^|[^{LETTER_CLASSES}])" if _script_has_spaces(phrase[0]) else ""
    after = rf"(?:$|[^{LETTER_CLASSES}])" if _script_has_spaces(phrase[-1]) else ""
    return f"{before}{escaped}{after}"


def _places(phrase: str, text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(re.escape(phrase), text, re.IGNORECASE):
        begin, end = match.span()
        before, after = text[begin - 1 : begin], text[end : end + 1]
        if not (_in_one_word(before, phrase[0]) or _in_one_word(after, phrase[-1])):
            yield begin, end


def _in_one_word(neighbour: str, character: str) -> bool:
    """Whether a character and its neighbour, which may be empty, belong to the same word."""
    return bool(neighbour) and _script_has_spaces(character) and _is_letter(neighbour)


def _is_letter(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def _script_has_spaces(character: str) -> bool:
    """Whether a character is a letter or digit of a script that separates words by spaces."""
    return _is_letter(character) and not is_unspaced(character)
