"""What the index found, as the API tells it."""

from collections.abc import Sequence

from index.search.translator import Match
from service.api.schemas import Answer
from service.engine.cache import Answers

DIGITS = 4  # of scores and confidences


def answers_of(matches: Sequence[Match]) -> Answers:
    """The answers that matches are, in their order."""
    return tuple(
        Answer(
            text=match.text,
            score=round(match.score, DIGITS),
            confidence=round(match.confidence, DIGITS),
            id=match.id,
            metadata=dict(match.metadata),
        )
        for match in matches
    )


def likely(answers: Answers, least: float) -> Answers:
    """The answers at least so likely; what the corpus itself says is no guess, however unlikely."""
    return tuple(one for one in answers if one.confidence >= least or "memory" in one.metadata)
