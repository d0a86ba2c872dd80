"""What a run learns from, as encoders and auxiliary inputs ask for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.data.captions import CaptionedPictures
from training.data.pairs import Pseudopairs
from training.data.pictograms import is_drawing
from training.data.tokens import tokenize
from training.data.transfer import Given, with_given

Tokens = NDArray[np.int32]
Vectors = NDArray[np.float32]


def _no_space() -> Vectors:
    raise NotImplementedError("the recipe's validation refuses what needs a fixed space here")


@dataclass(frozen=True)
class TrainingData:
    """The captions, sentences and pictures of a run.

    folder: the data folder. captions, tokens: the captions of pictures, as text and as token ids.
    sentences: language -> token ids of its sentences without pictures, then of its captions; `texts` says how
    many of each language have no picture. transferred: captions that pictures were given beside their own.
    picture_space: (pictures, d) rows, the pictures as the picture branch reads them. whitened_space:
    (pictures, K) unit rows. pseudopairs: pairs of sentences, mined or transferred.
    """

    folder: Path
    languages: tuple[str, ...]
    seed: int
    tokenizer: Tokenizer
    captions: CaptionedPictures
    tokens: Sequence[Tokens]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sentences: Mapping[str, list[Tokens]] = field(default_factory=dict)
    transferred: Sequence[Given] = ()
    picture_space: Callable[[], Vectors] = _no_space
    whitened_space: Callable[[], Vectors] = _no_space
    mine_captions: bool | None = None  # None where nothing is mined

    @cached_property
    def shown(self) -> CaptionedPictures:
        """The captions that batches are drawn from: those of the pictures, then the transferred ones."""
        return with_given(self.captions, self.transferred)

    @cached_property
    def shown_tokens(self) -> Sequence[Tokens]:
        """Token ids of `shown`."""
        return [*self.tokens, *tokenize(self.tokenizer, [given.text for given in self.transferred])]

    @cached_property
    def language_places(self) -> NDArray[np.int64]:
        """For each caption shown the place of its language."""
        place = {language: number for number, language in enumerate(self.languages)}
        return np.asarray([place[caption.language] for caption in self.shown.captions], np.int64)

    @cached_property
    def picture_places(self) -> NDArray[np.int64]:
        """For each caption shown the row of its picture."""
        return np.asarray([caption.picture for caption in self.shown.captions], np.int64)

    @cached_property
    def pseudopairs(self) -> Pseudopairs:
        """The sentences that may be mined, or the pairs that were transferred."""
        if self.mine_captions is None:
            return transferred_pairs(self)
        if self.mine_captions:
            return Pseudopairs(self.sentences, self.seed)
        # Of each language's sentences those without pictures come first.
        texts = {code: self.sentences[code][: len(texts)] for code, texts in self.texts.items()}
        return Pseudopairs(texts, self.seed)

    def scenes(self) -> dict[str, list[Tokens]]:
        """`sentences` without the names of drawings, whose words are synonyms."""
        drawn: dict[str, list[bool]] = {language: [] for language in self.sentences}
        for caption in self.captions.captions:
            drawn[caption.language].append(is_drawing(self.captions.pictures[caption.picture]))
        kept = {}
        for language, rows in self.sentences.items():
            names = [False] * (len(rows) - len(drawn[language])) + drawn[language]
            kept[language] = [row for row, is_name in zip(rows, names, strict=True) if not is_name]
        return kept


def sentences_of(
    tokenizer: Tokenizer,
    texts: Mapping[str, Sequence[str]],
    captions: CaptionedPictures,
    tokens: Sequence[Tokens],
) -> dict[str, list[Tokens]]:
    """Language -> token ids of its sentences without pictures, then of its captions."""
    sentences = {language: tokenize(tokenizer, lines) for language, lines in texts.items()}
    for caption, row in zip(captions.captions, tokens, strict=True):
        sentences.setdefault(caption.language, []).append(row)
    return sentences


def transferred_pairs(data: TrainingData) -> Pseudopairs:
    """Each transferred caption with the one that it stands beside: c2c of Kádár et al. 2019."""
    rows: list[int] = []
    by_language: dict[str, list[Tokens]] = {}
    for caption, row in zip(data.shown.captions, data.shown_tokens, strict=True):
        language = by_language.setdefault(caption.language, [])
        rows.append(len(language))
        language.append(row)
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for number, given in enumerate(data.transferred, len(data.captions.captions)):
        key = data.captions.captions[given.caption].language, given.language
        pairs.setdefault(key, []).append((rows[given.caption], rows[number]))
    supplier = Pseudopairs(by_language, data.seed)
    supplier.pairs = {key: np.asarray(places, dtype=np.int64) for key, places in pairs.items()}
    return supplier
