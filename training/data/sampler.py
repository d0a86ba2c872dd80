"""Draws the batches of an epoch: a picture at most once in each, with one of its captions."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from training.data.captions import CaptionedPictures

Numbers = NDArray[np.int64]


class PictureSampler:
    """Draws batches of caption numbers without a picture twice, so that no negative is a positive.

    An epoch has as many captions as there are pictures. Without a `temperature` it shows each picture once,
    with a caption in a language drawn uniformly from those it has. With one, language l gets the share p_l of
    the epoch (`shares`): pictures of small languages come several times, others not in every epoch.
    `batches(epoch)` depends on the seed and the epoch alone, so that a resumed run draws what an unbroken one
    does. Batches differ in size by one at most, close to `batch_size`. languages: those whose captions are
    drawn, of which every picture must have one; all if None. shares: how often an epoch shows each picture on
    average, once if None; a fraction is a chance.
    """

    def __init__(
        self,
        data: CaptionedPictures,
        batch_size: int,
        seed: int,
        temperature: float | None = None,
        languages: Collection[str] | None = None,
        shares: NDArray[np.float64] | None = None,
    ) -> None:
        self.shares = shares
        self.batch_size = batch_size
        self.seed = seed
        self.temperature = temperature
        self._choices = _by_picture(data, data.languages if languages is None else languages)
        self._pools = _by_language(self._choices)

    def batches(self, epoch: int) -> list[Numbers]:
        """The epoch's batches of caption numbers."""
        draw = np.random.default_rng([self.seed, epoch])
        if self.shares is not None:
            return self._weighted(draw, self.shares)
        count = len(self._choices)
        batch_count = max(1, round(count / self.batch_size))
        if self.temperature is None:
            order = draw.permutation(count)
            captions = np.asarray([self._draw(draw, picture) for picture in order], dtype=np.int64)
            return [captions[part] for part in np.array_split(np.arange(count), batch_count)]
        return self._balanced(draw, batch_count, self.temperature)

    def _draw(self, draw: np.random.Generator, picture: int) -> int:
        choices = list(self._choices[picture].values())
        captions = choices[int(draw.integers(len(choices)))]
        return captions[int(draw.integers(len(captions)))]

    def _weighted(self, draw: np.random.Generator, shares: NDArray[np.float64]) -> list[Numbers]:
        batch_count = max(1, round(float(shares.sum()) / self.batch_size), int(np.ceil(shares.max())))
        order = draw.permutation(len(shares))
        edges = np.floor(np.cumsum(shares[order]) + draw.random())
        pictures = np.repeat(order, np.diff(edges, prepend=0).astype(np.int64))
        captions = np.asarray([self._draw(draw, picture) for picture in pictures.tolist()], dtype=np.int64)
        return deal(pictures, captions, batch_count, draw)

    def _balanced(self, draw: np.random.Generator, batch_count: int, temperature: float) -> list[Numbers]:
        picks = allot(self._pools, temperature, most=batch_count, draw=draw)
        pictures = np.concatenate(list(picks.values()))
        languages = np.repeat(np.asarray(list(picks)), [len(chosen) for chosen in picks.values()])
        captions = [self._choices[p][str(language)] for p, language in zip(pictures, languages, strict=True)]
        drawn_captions = np.asarray(
            [options[int(draw.integers(len(options)))] for options in captions], dtype=np.int64
        )
        return deal(pictures, drawn_captions, batch_count, draw)


def shares(counts: Sequence[int], temperature: float) -> NDArray[np.float64]:
    """p_l ∝ n_l^(1/T), n_l the pictures with captions in language l: T = 1 is natural, T → ∞ uniform.

    As in multilingual BERT and XLM-R, whose exponent is 1/T (0.7 and 0.3).
    """
    powers = (np.asarray(counts, dtype=np.float64) / max(counts)) ** (1 / temperature)
    return np.asarray(powers / powers.sum())


def allot(
    pools: dict[str, Numbers], temperature: float, *, most: int, draw: np.random.Generator
) -> dict[str, Numbers]:
    """Choose the pictures that each language shows in an epoch, in all as many as there are.

    A language's share is rounded up or down at random. It repeats a picture only when all its pictures have
    been shown; those shown least, in any language, come first. No picture is shown more than `most`
    times (once a batch): where that leaves a language short, others fill in.
    """
    total = len(np.unique(np.concatenate(list(pools.values()))))
    copies = np.zeros(1 + max(int(pool.max()) for pool in pools.values()), dtype=np.int64)
    picks: dict[str, list[Numbers]] = {language: [] for language in pools}
    open_languages = sorted(
        pools, key=lambda language: (len(pools[language]), language)
    )  # the scarce ones choose first
    remaining = total
    while remaining:
        p = shares([len(pools[language]) for language in open_languages], temperature)
        for language, quota in zip(open_languages, _rounded(remaining * p, draw), strict=True):
            chosen = _pick(pools[language], quota, copies, most, draw)
            picks[language].append(chosen)
            remaining -= len(chosen)
        open_languages = [language for language in open_languages if (copies[pools[language]] < most).any()]
    return {language: np.concatenate(chosen) for language, chosen in picks.items()}


def deal(pictures: Numbers, captions: Numbers, hands: int, draw: np.random.Generator) -> list[Numbers]:
    """Deal captions into `hands` batches, the copies of a picture (`hands` at most) into different ones."""
    position = draw.permutation(int(pictures.max()) + 1)[pictures]
    shuffled = captions[np.argsort(position, kind="stable")]
    return [shuffled[int(hand) :: hands] for hand in draw.permutation(hands)]


def _rounded(expected: NDArray[np.float64], draw: np.random.Generator) -> list[int]:
    """Round `expected` to whole numbers of the same sum, each unbiased."""
    edges = np.floor(np.cumsum(expected) + draw.random())
    edges[-1] = round(float(expected.sum()))
    return [int(n) for n in np.diff(np.minimum(edges, edges[-1]), prepend=0)]


def _pick(pool: Numbers, quota: int, copies: Numbers, most: int, draw: np.random.Generator) -> Numbers:
    """Choose `quota` pictures of a pool, or as many as `most` allows; counts them in `copies`."""
    picks = [np.empty(0, dtype=np.int64)]
    while quota > 0 and len(free := pool[copies[pool] < most]):
        chosen = free[np.lexsort((draw.random(len(free)), copies[free]))][:quota]
        copies[chosen] += 1
        picks.append(chosen)
        quota -= len(chosen)
    return np.concatenate(picks)


def _by_picture(data: CaptionedPictures, languages: Collection[str]) -> Sequence[dict[str, list[int]]]:
    """Picture -> language -> caption numbers."""
    choices: list[dict[str, list[int]]] = [{} for _ in data.pictures]
    for number, caption in enumerate(data.captions):
        if caption.language in languages:
            choices[caption.picture].setdefault(caption.language, []).append(number)
    return choices


def _by_language(choices: Sequence[dict[str, list[int]]]) -> dict[str, Numbers]:
    """Language -> the pictures with captions in it."""
    pools: dict[str, list[int]] = {}
    for picture, languages in enumerate(choices):
        for language in languages:
            pools.setdefault(language, []).append(picture)
    return {language: np.asarray(pictures, dtype=np.int64) for language, pictures in pools.items()}
