"""Cross-lingual consistency at query time (SMALR, Burns et al. 2020, 3.4): a question's translations into
other languages are asked as well, and what all of them find counts.

The translations may be given, or be our own: the nearest sentence of each other language's index. CLC-A is
the mean of the scores of all languages; CLC-C weighs them by a small network learned on validation captions
(evaluation.consistency). Numpy alone.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    model_validator,
)

from index.encoder.bundle import check_codes
from index.encoder.text_encoder import Vectors
from index.errors import DamagedError, UsageError
from index.search.ranking import Match
from index.search.sentence_index import SentenceIndex
from index.storage.files import replace_text
from index.unit import unit

HIDDEN = 32
CANDIDATES = 100  # the nearest by the mean, which CLC-C puts into its own order
Scores = NDArray[np.floating]


class Consistency(BaseModel):
    """CLC-C: scores of |L| languages -> HIDDEN units -> one score, without biases.

    s = Σ_h second_h max(0, Σ_l first_lh (1 + cos_l)); first (|L|, HIDDEN), second (HIDDEN,).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    languages: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(check_codes)]
    first: tuple[tuple[FiniteFloat, ...], ...]
    second: tuple[FiniteFloat, ...]

    @model_validator(mode="after")
    def _shapes_fit(self) -> "Consistency":
        if len(self.first) != len(self.languages) or any(len(row) != len(self.second) for row in self.first):
            raise ValueError("first: a row a language, each as long as second")
        return self

    @classmethod
    def uniform(cls, languages: Sequence[str], hidden: int = HIDDEN) -> "Consistency":
        """Where learning begins: every weight alike, which gives 1 + the mean cosine."""
        row = (1 / len(languages),) * hidden
        return cls(languages=tuple(languages), first=(row,) * len(languages), second=(1 / hidden,) * hidden)

    @classmethod
    def read(cls, file: Path) -> "Consistency":
        """What `write` wrote. UsageError where there is no file, DamagedError if it is none of its kind."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            raise UsageError(f"{file} is missing: passepartout evaluate consistency writes it") from None
        except (OSError, ValidationError) as error:
            raise DamagedError(f"{file} is no consistency.json: write it again") from error

    def write(self, file: Path) -> None:
        replace_text(file, self.model_dump_json() + "\n")

    def __call__(self, cosines: Mapping[str, Scores]) -> Scores:
        """Language -> cosines of its translation, all of one shape -> combined scores of that shape."""
        inputs = stacked(cosines, self.languages)
        units = np.maximum(0, np.tensordot(1 + inputs, np.asarray(self.first), axes=(-1, 0)))
        found: Scores = units @ np.asarray(self.second)
        return found


def stacked(cosines: Mapping[str, Scores], languages: Sequence[str]) -> Scores:
    """(..., |L|) in the order of `languages`; where one has no translation, the mean of those that have."""
    mean = mean_scores(cosines)
    return np.stack([cosines.get(language, mean) for language in languages], axis=-1)


def mean_scores(cosines: Mapping[str, Scores]) -> Scores:
    """CLC-A: the mean over the languages that there are."""
    found: Scores = np.mean(list(cosines.values()), axis=0)
    return found


def own_translations(
    indexes: Mapping[str, SentenceIndex], vectors: Vectors, source: str, target: str
) -> dict[str, Vectors]:
    """Questions in `source`, (n, d) unit rows -> language -> (n, d): themselves, and the vector of what each
    third language's index answers to each."""
    found = {source: vectors}
    for language, index in indexes.items():
        if language not in (source, target) and len(index) and len(vectors):
            answers = index.search(vectors, source, 1)
            rows = [index.row(answer.id) for (answer,) in answers]
            found[language] = np.concatenate([index.vectors.vectors(row or 0, 1) for row in rows])
    return found


def mean_queries(translations: Mapping[str, Vectors]) -> Vectors:
    """One question for all its translations, (n, d) unit rows: cosines to it order as CLC-A does."""
    return unit(np.sum(list(translations.values()), axis=0))


def consistent(
    indexes: Mapping[str, SentenceIndex],
    questions: Mapping[str, Vectors],
    source: str,
    target: str,
    k: int,
    learned: Consistency | None = None,
) -> list[list[Match]]:
    """Each question's k answers in `target`, in the order of CLC-A, or of CLC-C where it is `learned`.

    `questions`: language -> (n, d) unit rows, row i the question i, in `source`, or a translation of it. The
    answers' scores and confidences are the ones that the question alone gives them.
    """
    index, found = indexes[target], []
    for number, mean in enumerate(mean_queries(questions)):
        rows = index.vectors.search(mean[None], max(CANDIDATES, k) if learned else k)[1][0]
        if learned:
            candidates = np.concatenate([index.vectors.vectors(int(row), 1) for row in rows])
            scores = learned({code: each[number] @ candidates.T for code, each in questions.items()})
            rows = rows[np.argsort(-scores, kind="stable")][:k]
        found.append(index.assess(questions[source][number][None], [int(row) for row in rows], source))
    return found
