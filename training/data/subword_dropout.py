"""BPE dropout (Provilkov et al. 2020): while training, a word is spelled by other subwords every time.

tokenizers has it too, but draws from a generator that can't be seeded: a resumed run would differ from an
unbroken one.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from index.text.normalisation import clean
from training.data.tokens import SEQUENCE_ID, UNKNOWN_ID

SPELLINGS = 8  # of each word, drawn once: an epoch then only picks among them

Tokens = NDArray[np.int32]


class RespelledCaptions(Sequence[Tokens]):
    """Captions as token ids, other ones in each epoch: those of caption i depend on seed, epoch and i alone.

    `share` is the probability that a merge is left out, each time that it could be made.
    """

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str], share: float, seed: int) -> None:
        self.seed, self.epoch = seed, 0
        self._first = tokenizer.post_processor is not None  # puts <seq> first
        assert tokenizer.truncation is not None, "train_tokenizer sets it"
        self._longest = int(tokenizer.truncation["max_length"]) - self._first
        speller = Speller(tokenizer, share, seed)
        places: dict[str, int] = {}
        self._spellings: list[list[list[int]]] = []
        self._words: list[list[int]] = []
        for text in texts:
            words = pieces(tokenizer, text)
            for word in words:
                if word not in places:
                    places[word] = len(places)
                    self._spellings.append([speller.spell(word) for _ in range(SPELLINGS)])
            self._words.append([places[word] for word in words])

    def __len__(self) -> int:
        return len(self._words)

    @overload
    def __getitem__(self, caption: int) -> Tokens: ...
    @overload
    def __getitem__(self, caption: slice) -> list[Tokens]: ...
    def __getitem__(self, caption: int | slice) -> Tokens | list[Tokens]:
        if isinstance(caption, slice):
            return [self[i] for i in range(*caption.indices(len(self)))]
        words = self._words[caption]
        drawn = np.random.default_rng([self.seed, self.epoch, int(caption)]).integers(
            SPELLINGS, size=len(words)
        )
        ids = [token for word, one in zip(words, drawn, strict=True) for token in self._spellings[word][one]]
        ids = [SEQUENCE_ID] * self._first + ids[: self._longest]
        return np.asarray(ids or [UNKNOWN_ID], dtype=np.int32)


class Speller:
    """Divides a word by the merges of a BPE tokenizer, each left out with probability `share`."""

    def __init__(self, tokenizer: Tokenizer, share: float, seed: int) -> None:
        model = json.loads(tokenizer.to_str())["model"]
        self._ids: dict[str, int] = model["vocab"]
        self._ranks = {tuple(merge): rank for rank, merge in enumerate(model["merges"])}
        self._share = share
        self._draw = np.random.default_rng(seed)

    def spell(self, word: str) -> list[int]:
        """Token ids; a character that is no token is <unk>."""
        symbols = list(word)
        while found := self._merges(symbols):
            place = min(found)[1]
            symbols[place : place + 2] = ["".join(symbols[place : place + 2])]
        return [self._ids.get(symbol, UNKNOWN_ID) for symbol in symbols]

    def _merges(self, symbols: Sequence[str]) -> list[tuple[int, int]]:
        """(rank, place) of the merges that can be made and were not left out."""
        kept = self._draw.random(len(symbols)) >= self._share
        ranks = ((self._ranks.get(pair), i) for i, pair in enumerate(pairwise(symbols)))
        return [(rank, place) for rank, place in ranks if rank is not None and kept[place]]


def pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    """What the tokenizer divides into subwords: words with their mark, punctuation, digits."""
    assert tokenizer.normalizer is not None
    assert tokenizer.pre_tokenizer is not None
    normal = tokenizer.normalizer.normalize_str(clean(text))
    return [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)]
