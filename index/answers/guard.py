"""The guard: an answer that says another number, side, day or person than its question, or its opposite.

However alike the vectors and the words of two sentences are, such an answer is near at best. Numbers are
compared for every candidate (evidence.py); what else two texts say differently (text/contrasts) is looked for
only where an answer is otherwise likely, since it takes longer.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from index.answers.answer import Differs
from index.answers.candidates import Candidates
from index.answers.evidence import Asked, as_written
from index.text.contrasts import Contrast, contrasts


def contrasts_of(
    table: Candidates, asked: Asked, compared: Mapping[int, tuple[str, str]]
) -> dict[int, list[Contrast]]:
    """The contrasts of candidates to their questions, by place in the table; nothing where there is none.

    `compared`: by place, a text and its language: the candidate itself, or for a translation that the corpus
    has the sentence which it translates.
    """
    found = {}
    for place, (text, language) in compared.items():
        question = asked.bare[table["question"][place]]
        if question != text and (contrast := contrasts(question, asked.language, text, language)):
            found[place] = contrast
    return found


def limited_by(
    chances: NDArray[np.float64], contrasting: dict[int, list[Contrast]], limit: float
) -> NDArray[np.float64]:
    """(n,) confidences, at most `limit` where there is a contrast."""
    places = list(contrasting)
    chances[places] = np.minimum(chances[places], limit)
    return chances


def with_contrasts(differs: Differs, found: Sequence[Contrast], question: str, answer: str) -> Differs:
    """Add the words of the texts by which contrasts are said to those by which an answer differs."""
    if not found:
        return differs
    asked = as_written([word for contrast in found for word in contrast.question], question)
    # Those of a sentence whose translation the answer is are not in the answer.
    words = [word for contrast in found for word in contrast.answer if word in answer.lower()]
    answered = as_written(words, answer)
    return Differs(
        question=tuple(dict.fromkeys([*differs.question, *asked])),
        answer=tuple(dict.fromkeys([*differs.answer, *answered])),
    )
