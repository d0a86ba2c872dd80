"""Answers of the API, made from matches in the index."""

from collections.abc import Sequence

from index.confidence import MIN_CONFIDENCE
from index.search.translator import Match
from service.schemas import Answer, Differs, Original

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
