"""What the encoder sees in texts and answers, as emoji."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from index.encoder.pictograms import emoji, family
from index.encoder.pictures import PICTOGRAMS, Pictures
from index.search.translator import Translator
from index.teaching.suggestions import ordered
from service.engine.answers import SCORE_DIGITS
from service.schemas import Answer, PartResult, Pictogram, SentenceResult, WordResult

TEACHING_PICTURES = 300  # that are listed
Seen = Mapping[str, list[Pictogram]]
Given = TypeVar("Given", SentenceResult, WordResult)


def pictograms_of(translator: Translator, texts: Sequence[str]) -> list[list[Pictogram]]:
    """The pictograms nearest to each text; none where the bundle has none."""
    pictograms = translator.pictograms
    if pictograms is None or not texts:
        return [[] for _ in texts]
    return [
        [Pictogram(emoji=near.emoji, cosine=round(near.cosine, SCORE_DIGITS)) for near in row]
        for row in pictograms.nearest(translator.encode(texts))
    ]


def teaching_pictures(translator: Translator) -> list[tuple[str, str]]:
    """SET/NAME and emoji of the pictograms to caption first, of variants of a concept the first alone."""
    pictograms = translator.pictograms
    if pictograms is None:
        return []
    first = {family(code): row for row, code in reversed(list(enumerate(pictograms.codes)))}
    rows = sorted(first.values())
    plain = Pictures(tuple(pictograms.codes[row] for row in rows), pictograms.vectors[rows])
    return [(f"{PICTOGRAMS}/{code}", emoji(code)) for code in ordered(plain, TEACHING_PICTURES)]


def texts_of(results: Sequence[SentenceResult | WordResult]) -> list[str]:
    """The texts of results and of their answers, each once."""
    return list(dict.fromkeys(text for result in results for text in (result.asked, *_answered(result))))


def with_pictograms(results: Sequence[Given], seen: Seen) -> list[Given]:
    """The results, each text and answer with its pictograms."""
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
