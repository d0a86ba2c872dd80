"""The reasons for answers, as the API tells them."""

from collections.abc import Mapping, Sequence

from index.search.translator import Explanation as Parts
from index.search.translator import Translator
from service.api.schemas import Agreement, Detour, Explanation, Kind, Return
from service.engine.cache import Answers
from service.engine.languages import Asked

DIGITS = 4  # as of scores


def explain_answers(
    translator: Translator, kind: Kind, asked: Sequence[Asked], found: Sequence[Mapping[str, Answers]]
) -> list[dict[str, Answers]]:
    """The answers `found` for each text in each of its targets, each with its explanation."""
    return [
        {target: _explained(translator, kind, one, target, answers) for target, answers in row.items()}
        for one, row in zip(asked, found, strict=True)
    ]


def _explained(translator: Translator, kind: Kind, asked: Asked, target: str, answers: Answers) -> Answers:
    ids = [answer.id for answer in answers]
    parts = translator.explain(kind, asked.text, asked.source, target, ids)
    return tuple(
        answer.model_copy(update={"explanation": _told(why)})
        for answer, why in zip(answers, parts, strict=True)
    )


def _told(why: Parts) -> Explanation:
    back = None
    if why.back is not None:
        back = Return(text=why.back.text, id=why.back.id, cosine=round(why.back.cosine, DIGITS))
    via = [
        Detour(
            language=detour.language,
            text=detour.text,
            id=detour.id,
            question=round(detour.question, DIGITS),
            answer=round(detour.answer, DIGITS),
            place=detour.place,
        )
        for detour in why.via
    ]
    return Explanation(
        cosine=round(why.cosine, DIGITS),
        question_mean=round(why.question_mean, DIGITS),
        answer_mean=round(why.answer_mean, DIGITS),
        margin=round(why.margin, DIGITS),
        candidates=why.candidates,
        agreement=Agreement(direct=back, via=via),
    )
