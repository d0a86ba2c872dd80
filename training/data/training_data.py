"""The training data of a run, as encoders and auxiliary inputs read it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from tokenizers import Tokenizer

from index.arrays import Numbers, Vectors
from training.data.captions import CaptionedPictures
from training.data.pairs import PseudopairSupplier
from training.data.tokens import TokenIds

Row = TypeVar("Row", str, TokenIds)  # a sentence, as text or as token ids


def _no_space() -> Vectors:
    raise NotImplementedError("the recipe's validation refuses what needs a fixed space here")


@dataclass(frozen=True)
class TrainingData:
    """The captions, sentences and pictures of a run.

    captions, tokens: the captions of pictures, as text and as token ids. texts: language -> its sentences
    without pictures. sentences: language -> token ids of `texts`, then of its captions. text_sizes: name ->
    language -> how many of `texts` are of that name; they come in this order. picture_space: (pictures, d)
    rows, the input of the picture branch. mine_captions: whether captions are mined for pairs, too. embed:
    embeds sentences (n, d) by the model that the run goes on from; None if it begins anew. trained: languages
    whose subwords are trained, all if empty; those that they hardly use are held as the run began with them.
    """

    languages: tuple[str, ...]
    seed: int
    tokenizer: Tokenizer
    captions: CaptionedPictures
    tokens: Sequence[TokenIds]
    _: KW_ONLY
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sentences: Mapping[str, list[TokenIds]] = field(default_factory=dict)
    text_sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    picture_space: Callable[[], Vectors] = _no_space
    mine_captions: bool = True
    embed: Callable[[Sequence[TokenIds]], Vectors] | None = None
    trained: tuple[str, ...] = ()

    @cached_property
    def picture_places(self) -> Numbers:
        """The row of each caption's picture."""
        return np.asarray([caption.picture for caption in self.captions.captions], np.int64)

    @cached_property
    def pseudopairs(self) -> PseudopairSupplier:
        """The supplier of mined pairs."""
        # Of each language's sentences those without pictures come first.
        texts = {code: self.sentences[code][: len(texts)] for code, texts in self.texts.items()}
        mined = self.sentences if self.mine_captions else texts
        return PseudopairSupplier(mined, self.seed, self._text_rows())

    @property
    def mined_lines(self) -> Mapping[str, Sequence[str]]:
        """The sentences of `pseudopairs`, as text."""
        if not self.mine_captions:
            return dict(self.texts)
        return with_captions(self.texts, self.captions, self.captions.texts)

    def _text_rows(self) -> dict[str, dict[str, range]]:
        """Name of a text -> language -> the rows of `sentences` that are of it; "" is the captions."""
        ends = dict.fromkeys(self.sentences, 0)
        rows: dict[str, dict[str, range]] = {}
        for name, sizes in self.text_sizes.items():
            rows[name] = {code: range(ends[code], ends[code] + size) for code, size in sizes.items()}
            ends |= {code: part.stop for code, part in rows[name].items()}
        if self.mine_captions:
            rows[""] = {code: range(end, len(self.sentences[code])) for code, end in ends.items()}
        return rows


def with_captions(
    texts: Mapping[str, Sequence[Row]], captions: CaptionedPictures, rows: Sequence[Row]
) -> dict[str, list[Row]]:
    """Language -> its sentences without pictures, then its captions, which `rows` are: text or token ids."""
    sentences = {code: list(of_language) for code, of_language in texts.items()}
    for caption, row in zip(captions.captions, rows, strict=True):
        sentences.setdefault(caption.language, []).append(row)
    return sentences
