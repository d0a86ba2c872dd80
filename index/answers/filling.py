"""Filling a document from the translation memory: exact matches as translated, others as fuzzy."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from index.answers.answer import Answer, Answers
from index.answers.translator import Translator
from index.errors import UsageError
from index.formats.document import Document, Filling, Unit, with_edges
from index.formats.registry import open_document
from index.formats.sentence import CODES, CONTEXT, FORMS, SOURCE_TEXT, TARGET_TEXT
from index.formats.streams import read_whole
from index.storage.files import output_file
from index.text.normalisation import clean

TEXTS_ASKED = 256  # at a time
TEXTS_DETECTED, CHARACTERS_DETECTED = 100, 1000  # at most, to identify the language of a document


@dataclass(frozen=True)
class Summary:
    """How many texts of a document were `translated` (exact), `fuzzy` (similar) or left `empty`.

    `kept` texts had a translation before. `fuzzy_written`: whether fuzzy translations are in the file.
    """

    translated: int
    fuzzy: int
    empty: int
    kept: int
    fuzzy_written: bool


def fill(document: Document, matches: Sequence[Answers], *, fuzzy: bool | None = None) -> Summary:
    """Fill each unit with its best match.

    `fuzzy`: whether to write matches that are not exact; by default, only if the format can mark them.
    """
    written = document.marks_fuzzy if fuzzy is None else fuzzy
    counts = Counter[str]()
    pairs = zip(document.units, matches, strict=True)
    for _, message in groupby(pairs, key=lambda pair: pair[0].message or id(pair[0])):
        texts = [(unit, filling_of(unit, answers)) for unit, answers in message]
        missing = any(filling is None and any(map(str.isalpha, unit.text)) for unit, filling in texts)
        is_fuzzy = any(filling.fuzzy for _, filling in texts if filling)
        for unit, filling in texts:
            if missing or not filling or ((written or not is_fuzzy) and not document.fill(unit, filling)):
                counts["empty"] += 1
            else:
                counts["fuzzy" if is_fuzzy else "translated"] += 1
    return Summary(counts["translated"], counts["fuzzy"], counts["empty"], document.kept, written)


def filling_of(unit: Unit, answers: Answers) -> Filling | None:
    """The first exact answer in the same context, else the first one as fuzzy; None where there is none."""
    fillings = (_filling(unit, answer) for answer in answers)
    found = [filling for filling in fillings if filling is not None]
    return min(found, key=lambda filling: filling.fuzzy, default=None)


def _filling(unit: Unit, answer: Answer) -> Filling | None:
    text, original, metadata = answer.text, answer.original.text if answer.original else "", answer.metadata
    exact = answer.match == "exact"
    if exact and metadata:  # of a row that other texts may share
        text = _written(metadata.get(TARGET_TEXT), text)
        original = _written(metadata.get(SOURCE_TEXT), original)
    if original != unit.text:
        # Files of one language do not say how the original was written: it had the lines of its translation.
        alike = SOURCE_TEXT not in metadata and TARGET_TEXT in metadata and clean(unit.text) == original
        lines_alike = alike and text.count("\n") == unit.text.count("\n")
        exact = exact and (lines_alike or original.strip() == unit.text.strip())
        text = text if lines_alike else with_edges(unit.text, text.strip())
    same_context = metadata.get(CONTEXT) in (None, unit.context or "")
    forms, codes = (metadata.get(FORMS), metadata.get(CODES)) if exact else ((), "")
    filling = Filling(
        text,
        not (exact and same_context),
        original,
        forms if isinstance(forms, list) else (),
        codes if isinstance(codes, str) else "",
    )
    return unit.adapt(filling) if unit.adapt else filling


def _written(stated: object, cleaned: str) -> str:
    return stated if isinstance(stated, str) and clean(stated) == cleaned else cleaned


def source_language(document: Document, memory: Translator, given: str | None) -> str:
    """The language of a document's texts: the given one, or the one it states, or that of most texts.

    Raises UnknownLanguageError, UsageError if the language is not clear.
    """
    stated = given or document.source
    if stated is not None:
        return memory.known.known([("source", stated)])[0]
    texts = [unit.text[:CHARACTERS_DETECTED] for unit in document.units[:TEXTS_DETECTED]]
    detected = Counter(code for code in map(memory.detect, texts) if code is not None)
    if not detected:
        raise UsageError("the language of the file was not recognised: give it (--from)")
    return detected.most_common(1)[0][0]


def translate_file(
    memory: Translator,
    path: Path,
    out: Path,
    target: str,
    source: str | None = None,
    *,
    fuzzy: bool | None = None,
) -> Summary:
    """Fill `path` and write it to `out`. Raises UsageError, UnknownLanguageError, CorpusError."""
    (target,) = memory.known.known([("target", target)])
    if out.exists() and out.samefile(path):
        raise UsageError(f"{out} is the file itself: give another --out")
    document = open_document(read_whole(path), str(path), target)
    texts = [unit.text for unit in document.units]
    matches: list[Answers] = []
    code = source_language(document, memory, source) if texts else ""
    for begin in range(0, len(texts), TEXTS_ASKED):
        matches += memory.remember(texts[begin : begin + TEXTS_ASKED], code, target)
    summary = fill(document, matches, fuzzy=fuzzy)
    with output_file(out) as draft:
        draft.write_bytes(document.content())
    return summary
