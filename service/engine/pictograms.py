"""Pictograms of texts and answers: what the encoder sees in them, as emoji."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from index.encoder.pictures import PICTOGRAM_SET, Pictures, emoji, family
from index.search.translator import Translator
from index.teaching.suggestions import ordered
from service.engine.answers import SCORE_DIGITS
from service.schemas import Answer, PartResult, Pictogram, SentenceResult, WordResult

TEACHING_PICTURES = 300  # listed at most
# In the Unicode names of signs that stand for themselves, which nobody could say a name of.
SIGN_NAMES = re.compile(r"\b(SQUARED|CLOCK FACE|DIGIT|INPUT SYMBOL|ARROWS?|TRIANGLE)\b")
Seen = Mapping[str, list[Pictogram]]
AnyResult = TypeVar("AnyResult", SentenceResult, WordResult)


def pictograms_of(translator: Translator, texts: Sequence[str]) -> list[list[Pictogram]]:
    """Find the pictograms nearest to each text; none if the bundle has no pictograms."""
    pictograms = translator.pictograms
    if pictograms is None or not texts:
        return [[] for _ in texts]
    return [
        [Pictogram(emoji=near.emoji, cosine=round(near.cosine, SCORE_DIGITS)) for near in row]
        for row in pictograms.nearest(translator.encode(texts))
    ]


def teaching_pictures(translator: Translator) -> list[tuple[str, str]]:
    """List the pictograms to caption first, (SET/NAME, emoji); one variant of each concept, and no signs."""
    pictograms = translator.pictograms
    if pictograms is None:
        return []
    first = {family(code): row for row, code in reversed(list(enumerate(pictograms.codes)))}
    rows = sorted(row for row in first.values() if not is_sign(pictograms.codes[row]))
    plain = Pictures(tuple(pictograms.codes[row] for row in rows), pictograms.vectors[rows])
    return [(f"{PICTOGRAM_SET}/{code}", emoji(code)) for code in ordered(plain, TEACHING_PICTURES)]


def is_sign(code: str) -> bool:
    """Whether a pictogram, by its code points, is a sign such as an arrow, a digit or a squared letter."""
    return SIGN_NAMES.search(unicodedata.name(emoji(code)[0], "")) is not None


def texts_of(results: Sequence[SentenceResult | WordResult]) -> list[str]:
    """The texts of results and of their answers, each once."""
    return list(dict.fromkeys(text for result in results for text in (result.asked, *_answered(result))))


def with_pictograms(results: Sequence[AnyResult], seen: Seen) -> list[AnyResult]:
    """Add its pictograms to each text and answer."""
    return [result.model_copy(update=_update(result, seen)) for result in results]


def _answered(result: SentenceResult | WordResult | PartResult) -> Iterable[str]:
    for answers in result.translations.values():
        yield from (answer.text for answer in answers)
    for part in getattr(result, "sentences", None) or ():
        yield from _answered(part)


def _update(result: SentenceResult | WordResult, seen: Seen) -> dict[str, object]:
    update: dict[str, object] = {
        "translations": _translations(result.translations, seen),
        "pictograms": seen[result.asked],
    }
    if isinstance(result, SentenceResult) and result.sentences:
        update["sentences"] = [
            part.model_copy(update={"translations": _translations(part.translations, seen)})
            for part in result.sentences
        ]
    return update


def _translations(translations: Mapping[str, list[Answer]], seen: Seen) -> dict[str, list[Answer]]:
    return {
        target: [answer.model_copy(update={"pictograms": seen[answer.text]}) for answer in answers]
        for target, answers in translations.items()
    }
