"""Answers of the API, made from matches in the index, with explanations if they were asked for."""

from collections.abc import Mapping, Sequence

from index.confidence import MIN_CONFIDENCE
from index.search.translator import Explanation as SearchExplanation
from index.search.translator import Match, Translator
from service.engine.languages import Query
from service.schemas import Agreement, Answer, Detour, Differs, Explanation, Kind, Original, Return

SCORE_DIGITS = 4  # of scores, confidences and cosines

Answers = tuple[Answer, ...]


def to_answers(matches: Sequence[Match]) -> Answers:
    """Convert matches to answers, in their order."""
    return tuple(
        Answer(
            text=match.text,
            score=round(match.score, SCORE_DIGITS),
            confidence=round(match.confidence, SCORE_DIGITS),
            id=match.id,
            match=match.match,
            similarity=None if match.similarity is None else round(match.similarity, SCORE_DIGITS),
            original=None
            if match.original is None
            else Original(text=match.original.text, id=match.original.id),
            penalties=match.penalties,
            differs=_differs(match),
            in_vocabulary=match.in_vocabulary,
            examples=None if match.examples is None else list(match.examples),
            metadata=dict(match.metadata),
        )
        for match in matches
    )


def _differs(match: Match) -> Differs | None:
    if match.in_vocabulary is not None:  # a word
        return None
    return Differs(question=list(match.differs.question), answer=list(match.differs.answer))


def filter_by_confidence(answers: Answers, min_confidence: float, near: bool = False) -> Answers:
    """Keep the answers with at least `min_confidence` and, with `near`, those that are near."""
    kept = []
    for answer in answers:
        if answer.confidence >= min_confidence:
            kept.append(answer)
        elif near and (answer.match == "near" or answer.confidence >= MIN_CONFIDENCE):
            kept.append(
                answer.model_copy(update={"match": "near"}) if answer.match == "translation" else answer
            )
    return tuple(kept)


def explain_answers(
    translator: Translator, kind: Kind, queries: Sequence[Query], rows: Sequence[Mapping[str, Answers]]
) -> list[dict[str, Answers]]:
    """Add an explanation to each of the answers to queries, `rows` by target."""
    return [_explain_row(translator, kind, query, row) for query, row in zip(queries, rows, strict=True)]


def _explain_row(
    translator: Translator, kind: Kind, query: Query, row: Mapping[str, Answers]
) -> dict[str, Answers]:
    ids = {target: [answer.id for answer in answers] for target, answers in row.items()}
    explanations = translator.explain(kind, query.text, query.source, ids)
    return {target: _explained(answers, explanations[target]) for target, answers in row.items()}


def _explained(answers: Answers, explanations: Sequence[SearchExplanation]) -> Answers:
    return tuple(
        answer.model_copy(update={"explanation": _to_explanation(explanation)})
        for answer, explanation in zip(answers, explanations, strict=True)
    )


def _to_explanation(parts: SearchExplanation) -> Explanation:
    direct = None
    if parts.back is not None:
        direct = Return(text=parts.back.text, id=parts.back.id, cosine=round(parts.back.cosine, SCORE_DIGITS))
    via = [
        Detour(
            language=detour.language,
            text=detour.text,
            id=detour.id,
            question=round(detour.question, SCORE_DIGITS),
            answer=round(detour.answer, SCORE_DIGITS),
            place=detour.place,
        )
        for detour in parts.via
    ]
    return Explanation(
        cosine=round(parts.cosine, SCORE_DIGITS),
        question_mean=round(parts.question_mean, SCORE_DIGITS),
        answer_mean=round(parts.answer_mean, SCORE_DIGITS),
        margin=round(parts.margin, SCORE_DIGITS),
        candidates=parts.candidates,
        agreement=Agreement(direct=direct, via=via),
    )
