"""Confidence: the probability that an answer is right, and what an answer is called by it.

An answer has evidence: named columns of numbers, such as its score and how much of the question its words
cover (answers/evidence.py lists them). A `Model` (models.py) multiplies each column by the weight of that
name, adds them up and squashes the sum to a probability: logistic regression, as Platt (1999) does with one
score. Which model depends on what is compared:

    sentence         two sentences of languages that the index has
    foreign          a question in a language that the index has no sentences of
    foreign_aligned  the same, where its candidates were ranked by all that the corpus aligns with them
    paraphrase       two sentences of one language, which may mean the same
    gloss            an answer and the sentence of the asker's language that is nearest to it
    word             two words; PICTURED_WORD where they are compared by pictures

An encoder's bundle has those for sentences, paraphrases and words, fitted on text whose right answers are
known (build/encoder_calibration.py). A build fits those for sentences and paraphrases again, on the index
itself, where it can (build/calibration.py). Then (`Confidence`, in the order of answers/sentence_search.py):

1. A text may be of a kind that the index does not hold at all, such as a headline among captions: the
   probability is multiplied by that of one more model, `domain`.
2. Words decide. An answer that says another number, or otherwise something else than its question
   (answers/guard.py), is near at best, whatever its probability.
3. A sentence of the question's own language that says nothing else (answers/memory.py) is as likely as such
   sentences are, the very text is certain, any other is near at best; so are their translations.
4. What is left decides what the answer is called, in `match_of`.
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
