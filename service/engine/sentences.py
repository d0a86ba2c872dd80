"""Texts of several sentences, each of which is answered separately."""

from collections.abc import Mapping, Sequence

from service.engine.answers import Answers
from service.engine.engine import Engine
from service.engine.languages import Query

Part = tuple[str, Mapping[str, Answers]]  # a sentence and its answers by target


async def answer_parts(
    engine: Engine,
    rows: Sequence[Sequence[Query]],
    k: int,
    min_confidence: float,
    *,
    near: bool = False,
) -> list[list[Part]]:
    """Answer the sentences of each text with up to `k` answers each, as Engine.translate does."""
    parts = [query for row in rows for query in row]
    if not parts:
        return [[] for _ in rows]
    answers = iter(await engine.translate("sentence", parts, k, min_confidence, near=near))
    return [[(query.text, next(answers)) for query in row] for row in rows]
