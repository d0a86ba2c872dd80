"""Confidence: the probability that an answer is right, and what an answer is called by it.

An answer has evidence: named columns of numbers, such as its score and how much of the question its words
cover (answers/evidence.py lists them). A `Model` weighs these columns by name, adds them up and squashes the
sum to a probability: logistic regression, as Platt (1999) does with one score. There is one for sentences of
two languages, two for questions in a language that the index has no sentences of (aligned or not), one for
two sentences of one language, which may mean the same, one for the gloss of an answer, and one for words. An
encoder comes with those that any index needs, fitted on text whose right answers are known; a build fits
those for sentences again, on the index itself, where it can (build/calibration.py).

A text may be of a kind that the index does not hold at all, such as a headline among captions. One more model
gives the probability that it is not, with which the confidence is multiplied. Then words decide: an answer
that says another number, or otherwise something else than its question (answers/guard.py), is never likely,
and a sentence of the question's own language that says nothing else is as likely as such sentences are. What
is left decides, in `match_of`, what the answer is called.
"""

from typing import Literal

from pydantic import Field

from index.frozen import Frozen

# "exact": the corpus has a translation of this very text; "memory": of nearly this text; "paraphrase": of a
# sentence of the same language that likely means the same; "translation": found across languages, and more
# likely right than not; "near": less likely, or it says something else, at best the same with other
# details.
MatchKind = Literal["exact", "memory", "paraphrase", "translation", "near"]
# The least confidence of a translation, in every protocol, page and command: more likely than not.
MIN_CONFIDENCE = 0.5


class PairQuality(Frozen):
    """How well a pair translates, measured with sentences whose translation is in the index."""

    r1: float = Field(ge=0, le=1, description="Share of sentences whose translation was found first.")
    r10: float = Field(ge=0, le=1, description="Share whose translation was among the first ten.")
    n: int = Field(ge=1, description="Sentences tried.")
    ece: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Expected calibration error of the confidences, fitted without the answers that it is "
        "measured on; null if there were too few sentences to measure it.",
    )
