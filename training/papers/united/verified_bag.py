"""A bag of subwords that languages share where pictures verify that they mean the same.

A subword that two languages spell alike may mean the same (sofa) or not (die). It is shared if the captions
that contain it show similar pictures in both languages; without that check, spelling alone would carry
meaning from language to language.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import combinations
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from index.arrays import Numbers, Vectors, unit
from training.data.tokens import TokenIds
from training.data.training_data import TrainingData
from training.encoders.bag import TokenMean, TokenMeanSettings
from training.encoders.vision import VisionSettings
from training.papers.shared.language_identifier import LanguageIdentifier
from training.papers.shared.suppliers import language_places


class VerifiedBagSettings(TokenMeanSettings):
    """Settings of the bag whose shared subwords are verified.

    shared: the subwords of which two languages share the embedding: those that pictures verify, or none.
    false_discovery_rate: the expected share of wrongly shared ones among them.
    """

    encoder: Literal["verified_bag"]
    shared: Literal["verified", "none"] = "verified"
    false_discovery_rate: float = Field(default=0.2, gt=0, lt=1)

    def build(self, vocabulary: int, languages: int) -> "VerifiedBag":
        return VerifiedBag(self, vocabulary, languages)

    def requires(self, vision: VisionSettings) -> Iterator[str]:
        if self.shared == "verified" and vision.space != "whitened":
            yield 'text.shared = "verified" needs vision.space = "whitened"'


class VerifiedBag(TokenMean):
    """A token has an embedding in each language, some of which are the same; the mean of a sentence's.

    The language of a sentence is identified from its tokens. `rows` (vocabulary, languages) is the row of a
    token's embedding in `tokens`.
    """

    rows: Tensor

    def __init__(self, settings: VerifiedBagSettings, vocabulary: int, languages: int) -> None:
        super().__init__(settings, vocabulary * languages)
        self.settings = settings
        self.identifier = LanguageIdentifier(vocabulary, languages)
        all_rows = torch.arange(vocabulary)[:, None] + vocabulary * torch.arange(languages)
        self.register_buffer("rows", all_rows)

    def initialise(self, data: TrainingData) -> None:
        """Fit the language identifier, share where pictures agree."""
        self.identifier.fit(data)
        if self.settings.shared == "none":
            return
        vocabulary, languages = self.rows.shape
        rows = verified_rows(
            data.tokens,
            language_places(data),
            data.picture_places,
            data.picture_space(),
            shape=(vocabulary, languages),
            false_discovery_rate=self.settings.false_discovery_rate,
        )
        self.rows.copy_(torch.from_numpy(rows))

    def table_rows(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The row of each token in the language of its sentence (N, T)."""
        return self.rows[ids, self.identifier(ids, mask)[:, None]]


def verified_rows(
    tokens: Sequence[TokenIds],
    languages: Numbers,
    pictures: Numbers,
    space: Vectors,
    *,
    shape: tuple[int, int],
    false_discovery_rate: float,
) -> Numbers:
    """Compute the row of each subword's embedding in each language: (vocabulary, languages), as `shape`.

    tokens: captions as token ids; languages, pictures: the numbers of each caption's language and picture.
    space: (pictures, d) unit rows. The table has vocabulary * languages rows, language after language; a
    subword takes another language's row where pictures verify that both mean the same.
    false_discovery_rate: the expected share of errors among these (Benjamini & Hochberg 1995).
    """
    vocabulary, count = shape
    rows = np.arange(vocabulary)[:, None] + vocabulary * np.arange(count)
    sightings = {
        (token, language, picture)
        for row, language, picture in zip(tokens, languages.tolist(), pictures.tolist(), strict=True)
        for token in row.tolist()
    }
    evidence = _picture_sums(sightings, space, shape)
    for token, first, second in _verified(*evidence, false_discovery_rate):
        rows[token][rows[token] == rows[token, second]] = rows[token, first]
    return rows


def _verified(
    sums: Vectors, counts: NDArray[np.float64], dimensions: float, false_discovery_rate: float
) -> Numbers:
    """Test the sums and counts of `_picture_sums`: (n, 3) subword and two languages, lowest p-value first."""
    from scipy.stats import false_discovery_control, norm  # which takes half a second to import

    tests: list[Numbers] = []
    chances: list[NDArray[np.float64]] = []
    for first, second in combinations(range(counts.shape[1]), 2):
        shared = np.flatnonzero(counts[:, first] * counts[:, second])
        # Σx·Σy has a standard deviation of sqrt(n m / dimensions) where pictures have nothing in common.
        products = np.einsum("td,td->t", sums[shared, first], sums[shared, second])
        deviations = np.sqrt(counts[shared, first] * counts[shared, second] / dimensions)
        tests.append(np.stack([shared, np.full_like(shared, first), np.full_like(shared, second)], axis=1))
        chances.append(norm.sf(products / deviations))
    all_tests, chance = np.concatenate(tests), np.concatenate(chances)
    if not len(all_tests):
        return all_tests
    order = np.argsort(chance, kind="stable")
    verified: Numbers = all_tests[order][false_discovery_control(chance[order]) <= false_discovery_rate]
    return verified


def _picture_sums(
    sightings: Set[tuple[int, int, int]], space: Vectors, shape: tuple[int, int]
) -> tuple[Vectors, NDArray[np.float64], float]:
    """Sum the pictures of each subword in each language; sightings: (subword, language, picture).

    Returns sums (vocabulary, languages, d) over distinct pictures, their counts (vocabulary, languages), and
    the effective number of dimensions of the centred space.
    """
    centred = unit(space - space.mean(axis=0))
    token, language, picture = np.asarray(sorted(sightings)).T
    sums, counts = np.zeros((*shape, space.shape[1]), np.float32), np.zeros(shape)
    np.add.at(sums, (token, language), centred[picture])
    np.add.at(counts, (token, language), 1)
    spectrum = np.linalg.eigvalsh(np.cov(centred.T))
    return sums, counts, float(spectrum.sum() ** 2 / (spectrum**2).sum())
