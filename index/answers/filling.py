"""Filling a document from the translation memory: exact matches as translated, others as fuzzy."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from index.answers.answer import Answer, Answers
from index.answers.translator import Translator
from index.errors import UsageError
from index.formats.document import Document, Filling, Unit, with_edges
from index.formats.registry import open_document
from index.formats.sentence import CODES, CONTEXT, FORMS, SOURCE_TEXT, TARGET_TEXT
from index.formats.streams import read_whole
from index.languages import language
from index.storage.files import output_file
from index.text.normalisation import clean
from index.text.segments import MOST_SENTENCES, Segment, filled, segments

TEXTS_ASKED = 256  # at a time
TEXTS_DETECTED, CHARACTERS_DETECTED = 100, 1000  # at most, to identify the language of a document
NEARLY_NONE = 0.05  # of the texts of a document, so few that its language may have been mistaken
Found = Mapping[str, Answers]  # the matches of the translation memory for texts and sentences


@dataclass(frozen=True)
class Summary:
    """How many texts of a document were `translated` (exact), `fuzzy` (similar) or left `empty`.

    `kept` texts had a translation before. `fuzzy_written`: whether fuzzy translations are in the file.
    `looks_like`: where nearly none were known, the language that they clearly are in, if not as assumed.
    """

    translated: int
    fuzzy: int
    empty: int
    kept: int
    fuzzy_written: bool
    looks_like: str | None = None


def sentences_asked(document: Document, found: Found, source: str) -> list[str]:
    """The sentences to look up, each once, of texts that were and have no exact match as a whole."""
    rows = (parts for unit in document.units for parts in _divisions(unit, found, source))
    return list(dict.fromkeys(part.text for parts in rows for part in parts if not part.between))


def fill(document: Document, found: Found, source: str, *, fuzzy: bool | None = None) -> Summary:
    """Fill each unit, in `source`, with its best match, or those of its sentences.

    `fuzzy`: whether to write matches that are not exact; by default, only if the format can mark them.
    """
    written = document.marks_fuzzy if fuzzy is None else fuzzy
    counts = Counter[str]()
    for _, message in groupby(document.units, key=lambda unit: unit.message or id(unit)):
        texts = [(unit, filling_of(unit, found, source)) for unit in message]
        missing = any(filling is None and any(map(str.isalpha, unit.text)) for unit, filling in texts)
        is_fuzzy = any(filling.fuzzy for _, filling in texts if filling)
        for unit, filling in texts:
            if missing or not filling or ((written or not is_fuzzy) and not document.fill(unit, filling)):
                counts["empty"] += 1
            else:
                counts["fuzzy" if is_fuzzy else "translated"] += 1
    return Summary(counts["translated"], counts["fuzzy"], counts["empty"], document.kept, written)


def filling_of(unit: Unit, found: Found, source: str) -> Filling | None:
    """The best match of a text as a whole, or those of all its sentences if they are surer; None without."""
    joined = (_joined(unit, parts, found) for parts in _divisions(unit, found, source))
    fillings = filter(None, [_best(unit, found.get(unit.text, ())), *joined])
    return min(fillings, key=lambda filling: filling.fuzzy, default=None)


def _best(unit: Unit, answers: Answers) -> Filling | None:
    """The first exact answer in the same context, else the first one as fuzzy; None where there is none."""
    fillings = filter(None, (_filling(unit, answer) for answer in answers))
    return min(fillings, key=lambda filling: filling.fuzzy, default=None)


def _divisions(unit: Unit, found: Found, source: str) -> Iterator[list[Segment]]:
    """The segments of a text without an exact match as a whole; of one that wraps, also without its lines."""
    answers = found.get(unit.text)
    if answers is None or (any(answer.match == "exact" for answer in answers) and not unit.wraps):
        return
    for text in dict.fromkeys([unit.text, clean(unit.text) if unit.wraps else unit.text]):
        parts = segments(text, source)
        count = sum(not part.between for part in parts)
        if 0 < count <= MOST_SENTENCES and parts != [Segment(unit.text)]:
            yield parts


def _joined(unit: Unit, parts: Sequence[Segment], found: Found) -> Filling | None:
    """The matches of all sentences in their places, as sure as the least sure; None if one has no match."""
    matches = {
        part.text: _best(replace(unit, text=part.text, adapt=None), found.get(part.text, ()))
        for part in parts
        if not part.between
    }
    known = {text: match for text, match in matches.items() if match}
    if len(known) < len(matches):
        return None
    filling = Filling(
        filled(parts, lambda part: known[part.text].text),
        any(match.fuzzy for match in known.values()),
        filled(parts, lambda part: known[part.text].original),
    )
    return unit.adapt(filling) if unit.adapt else filling


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


def source_language(document: Document, translator: Translator, given: str | None) -> str:
    """The language of a document's texts: the given one, or the one it states, or that of most texts.

    Raises UnknownLanguageError, UsageError if the language is not clear.
    """
    stated = given or document.source
    if stated is not None:
        return translator.languages.codes_of([("source", stated)])[0]
    detected = _detected(document, translator)
    if not detected:
        raise UsageError("the language of the file was not recognised: give it (--from)")
    return detected.most_common(1)[0][0]


def _detected(document: Document, translator: Translator) -> Counter[str]:
    """The languages of the first texts that are clear."""
    texts = [unit.text[:CHARACTERS_DETECTED] for unit in document.units[:TEXTS_DETECTED]]
    return Counter(code for code in map(translator.detect, texts) if code is not None)


def with_language(summary: Summary, document: Document, translator: Translator, assumed: str) -> Summary:
    """The summary with `looks_like`."""
    known = summary.translated + summary.fuzzy
    if known > NEARLY_NONE * len(document.units):
        return summary
    detected = _detected(document, translator)
    code, count = next(iter(detected.most_common(1)), (assumed, 0))
    clear = code != assumed and count > detected.total() / 2
    return replace(summary, looks_like=code) if clear else summary


def translate_file(
    translator: Translator,
    path: Path,
    out: Path,
    target: str,
    source: str | None = None,
    *,
    fuzzy: bool | None = None,
) -> Summary:
    """Fill `path` and write it to `out`. Raises UsageError, UnknownLanguageError, CorpusError."""
    (target,) = translator.languages.codes_of([("target", target)])
    if out.exists() and out.samefile(path):
        raise UsageError(f"{out} is the file itself: give another --out")
    document = open_document(read_whole(path), str(path), target)
    code = source_language(document, translator, source) if document.units else ""
    if code == target and not source:
        raise UsageError(f"{path}: its texts count as {language(code).name}: give their language with --from")
    found: dict[str, Answers] = {}

    def look_up(texts: Sequence[str]) -> None:
        for begin in range(0, len(texts), TEXTS_ASKED):
            asked = texts[begin : begin + TEXTS_ASKED]
            found.update(zip(asked, translator.remember(asked, code, target), strict=True))

    look_up(list(dict.fromkeys(unit.text for unit in document.units)))
    look_up(sentences_asked(document, found, code))
    summary = with_language(fill(document, found, code, fuzzy=fuzzy), document, translator, code)
    with output_file(out) as draft:
        draft.write_bytes(document.content())
    return summary
