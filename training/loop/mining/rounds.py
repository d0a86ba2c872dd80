"""Rounds of mining: before some epochs pairs are mined with the encoder as it is (Kádár et al. 2019, 2.2).

The next epochs train on them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from index.errors import DamagedError
from training.data.pairs import Pseudopairs
from training.encoders.two_branch import TwoBranch
from training.loop.mining.alignment import align, bags
from training.loop.mining.mutual import mine
from training.loop.mining.probable_pairs import probable_pairs
from training.loop.mining.side import FLAT_ROWS, Side, decoys
from training.loop.mining.translations import FOLDS, with_words
from training.loop.mining.word_evidence import WordEvidence, sentence_vectors
from training.loop.run import Run
from training.loop.validation import embed_texts
from training.recipes.settings import MiningSettings

LEAST_SENTENCES = 50  # of a text in a language, to be mined for probable pairs
LEAST_UNLEARNED = 0.02  # of any pair, so that what is known is seen again
LEAST_LIKELY_WORD = 0.03  # a translation of a stem that its words are paired with; decision 99
ENOUGH = 0.5  # of a text's sentences paired with a pivot, for no further one to be asked

Vectors = NDArray[np.float32]
Pairs = NDArray[np.int64]
Mined = tuple[dict[tuple[str, str], Pairs], dict[tuple[str, str], Vectors]]  # pairs, and their weights


def load_or_mine_round(
    run: Run,
    epoch: int,
    source: Pseudopairs,
    model: TwoBranch,
    device: torch.device,
    word_evidence: Callable[[], WordEvidence],
) -> dict[str, int]:
    """Give `source` the pairs that `epoch` trains on, mined where a round begins with it.

    `word_evidence` is made where whole words are counted.

    Returns the number of pairs per "language-language" when a round begins, else {}. A round's pairs are kept
    in the run's folder, so that a resumed run has the same; DamagedError when that file is missing.
    """
    settings = run.recipe.mining
    round_epoch = last_round(epoch, settings) if settings else None
    if settings is None or round_epoch is None:
        return {}
    file = run.pseudopairs_file(round_epoch)
    if source.file == file:
        return {}
    words = word_evidence() if settings.counts_words(round_epoch) else None
    if words:
        source.add_words(words.paired)
    if file.is_file():
        source.read(file)
    elif round_epoch == epoch:
        if settings.probability is None:
            source.pair(_mine(source, epoch, model, device, settings))
        else:
            sides = _Sides(source, epoch, model, device, settings, words)
            source.pair(*_mine_probable(sides))
        source.write(file)
    else:
        raise DamagedError(f"{file} is missing; train again into another folder")
    counts = {f"{first}-{second}": len(rows) for (first, second), rows in sorted(source.pairs.items())}
    return counts if round_epoch == epoch else {}


def last_round(epoch: int, settings: MiningSettings) -> int | None:
    """The epoch that began with the mining round whose pairs `epoch` trains on, if there is one."""
    return None if epoch < settings.begin else epoch - (epoch - settings.begin) % settings.every


def stage(epoch: int, epochs: int, settings: MiningSettings | None) -> tuple[int, int]:
    """First epoch and end epoch of the stage of `epoch`, from one mining round (or the start) to the next."""
    if settings is None:
        return 0, epochs
    round_epoch = last_round(epoch, settings)
    start, stop = (0, settings.begin) if round_epoch is None else (round_epoch, round_epoch + settings.every)
    return start, min(stop, epochs)


def _mine(
    source: Pseudopairs, epoch: int, model: TwoBranch, device: torch.device, settings: MiningSettings
) -> dict[tuple[str, str], Pairs]:
    """Pairs with the highest CSLS."""
    sampled = {
        language: _draw(len(rows), settings.sentences, [source.seed, epoch, *language.encode()])
        for language, rows in source.tokens.items()
    }
    vectors = {
        language: _embedded(model, [source.tokens[language][i] for i in rows], device)
        for language, rows in sampled.items()
    }
    pairs = mine(vectors, keep=settings.keep, neighbours=settings.neighbours, seed=source.seed)
    return {
        (first, second): np.stack([sampled[first][rows[:, 0]], sampled[second][rows[:, 1]]], axis=1)
        for (first, second), rows in pairs.items()
    }


def _mine_probable(sides: "_Sides") -> Mined:
    """Probable translations within each text, and how much each weighs: its probability.

    With `favour_unlearned`, times what the encoder has still to learn of it.
    """
    parts: dict[tuple[str, str], list[tuple[Pairs, Vectors]]] = {}
    for rows in sides.source.rows.values():
        for languages, pairs, probabilities in _probable_in_text(sides, rows):
            parts.setdefault(languages, []).append((pairs, probabilities))
    keys = sorted(parts)
    joined = {key: _joined(parts[key]) for key in keys}
    if sides.words:
        joined = {key: _joined([pairs, _word_pairs(sides, key, *pairs)]) for key, pairs in joined.items()}
    mined = {key: pairs for key, (pairs, _) in joined.items()}
    weights = {key: probabilities for key, (_, probabilities) in joined.items()}
    if sides.settings.favour_unlearned:
        weights = {key: weights[key] * unlearned for key, unlearned in _unlearned(sides, mined).items()}
    return mined, weights


def _probable_in_text(
    sides: "_Sides", rows: Mapping[str, range]
) -> Iterator[tuple[tuple[str, str], Pairs, Vectors]]:
    """The pairs of each language of a text with each pivot that is asked for it, and their probabilities.

    A further pivot is asked where the text has it and those before it paired too few. rows: of the text.
    """
    settings = sides.settings
    assert settings.probability is not None, "the caller chose by it"
    pivots: dict[str, tuple[Pairs, Side]] = {}
    for language in sorted(rows.keys() - {settings.pivot}):
        if len(rows[language]) < LEAST_SENTENCES:
            continue
        own_rows, own = sides.of(language, rows[language], settings.decoys)
        is_paired = np.zeros(len(own_rows), bool)
        for pivot in settings.pivots:
            if pivot == language or is_paired.mean() >= ENOUGH:
                break
            if pivot not in rows and pivot != settings.pivot:
                continue
            if pivot not in pivots:
                drawn, side = sides.of(pivot, rows.get(pivot), 0)
                pivots[pivot] = drawn, with_words(side)
            pivot_rows, side = pivots[pivot]
            pairs, probabilities = probable_pairs(own, side, settings.neighbours)
            is_kept = probabilities >= settings.probability
            first, second = pairs[is_kept].T
            is_paired[first] = True
            kept = np.stack([own_rows[first], pivot_rows[second]], axis=1)
            yield (language, pivot), kept, probabilities[is_kept]


def _joined(parts: Sequence[tuple[Pairs, Vectors]]) -> tuple[Pairs, Vectors]:
    pairs, probabilities = zip(*parts, strict=True)
    return np.concatenate(pairs), np.concatenate(probabilities)


def _word_pairs(
    sides: "_Sides", languages: tuple[str, str], pairs: Pairs, probabilities: Vectors
) -> tuple[Pairs, Vectors]:
    """Pair words by what paired sentences say of them; rows are those of words (`WordEvidence.paired`).

    A word of the first language has the one that translates it best, and, by its stem, all that may.
    """
    assert sides.words is not None, "the caller asked"
    assert sides.settings.probability is not None, "the caller asked"
    own, other = (sides.words.lexicons[code] for code in languages)
    stems = sides.words.stems[languages[0]]
    words, stemmed, others = (
        bags([listed.rows[row] for row in rows], listed.rarity).matrix
        for listed, rows in ((own, pairs[:, 0]), (stems, pairs[:, 0]), (other, pairs[:, 1]))
    )
    each, weights = np.stack([np.arange(len(pairs))] * 2, axis=1), probabilities.astype(np.float64)
    best, best_probable = align(words, others, each, weights).best(sides.settings.probability)
    found, probable = align(stemmed, others, each, weights).likely(LEAST_LIKELY_WORD)
    translations = csr_array((probable, found.T), shape=(len(stems.rarity), len(other)))
    by_stem = translations[stems.of_words].tocoo()
    by_stem_rows = np.stack([len(own) + by_stem.row, by_stem.col], axis=1)
    first_rows = np.asarray([len(sides.source.sentences(code)) for code in languages])
    return np.concatenate([best, by_stem_rows]) + first_rows, np.concatenate([best_probable, by_stem.data])


def _unlearned(sides: "_Sides", mined: Mapping[tuple[str, str], Pairs]) -> dict[tuple[str, str], Vectors]:
    """What the encoder has still to learn of each pair: 1 - cosine, at least LEAST_UNLEARNED."""
    pivots = {code: sides.embedded(code) for code in {second for _, second in mined}}
    unlearned = {}
    for language, keys in groupby(sorted(mined), key=itemgetter(0)):
        vectors = pivots[language] if language in pivots else sides.embedded(language)
        for key in keys:
            parts = np.array_split(mined[key], 1 + len(mined[key]) // FLAT_ROWS)
            cosines = [(vectors[rows[:, 0]] * pivots[key[1]][rows[:, 1]]).sum(axis=1) for rows in parts]
            unlearned[key] = np.maximum(1 - np.concatenate(cosines), np.float32(LEAST_UNLEARNED))
    return unlearned


@dataclass(frozen=True)
class _Sides:
    """Makes the sides of a round's searches."""

    source: Pseudopairs
    epoch: int
    model: TwoBranch
    device: torch.device
    settings: MiningSettings
    words: WordEvidence | None  # if whole words are counted

    def of(self, language: str, rows: range | None, share: float) -> tuple[Pairs, Side]:
        """Embed sentences of a language, and decoys: `share` of their number.

        rows: which; all if None, for a text that lacks the pivot. Returns the rows drawn, and the side.
        """
        every = self.source.tokens[language]
        rows = self.source.sentences(language) if rows is None else rows
        seed = [self.source.seed, self.epoch, *language.encode()]
        drawn = rows.start + _draw(len(rows), self.settings.sentences, seed)
        draw = np.random.default_rng(seed)
        if self.words is None:
            tokens = [every[row] for row in drawn]
            tokens += decoys(tokens, share, draw)
            return drawn, Side(self._embed(tokens), list(map(len, tokens)), len(drawn), self.source.seed)
        words_of, stems = self.words.lexicons[language].rows, self.words.stems[language]
        sentences = [np.stack([every[row], words_of[row], stems.rows[row]], axis=1) for row in drawn]
        folds = [draw.integers(FOLDS, size=len(drawn))]
        halves = [[sentences[row] for row in np.flatnonzero(folds[0] == fold)] for fold in range(FOLDS)]
        for fold, of_fold in enumerate(halves):
            made = decoys(of_fold, share, draw)
            sentences += made
            folds.append(np.full(len(made), fold))
        tokens, words, stem_rows = ([rows[:, column] for rows in sentences] for column in range(3))
        vectors = sentence_vectors(self._embed(tokens), words, self._word_tables[language], len(drawn))
        lengths, bagged = list(map(len, tokens)), bags(stem_rows, stems.rarity)
        return drawn, Side(vectors, lengths, len(drawn), self.source.seed, bagged, np.concatenate(folds))

    def embedded(self, language: str) -> Vectors:
        """Embed all sentences and words of a language."""
        return self._embed(list(self.source.tokens[language]))

    @cached_property
    def _word_tables(self) -> Mapping[str, tuple[Vectors, Vectors]]:
        assert self.words is not None, "the caller asked"
        return self.words.tables(self._embed)

    def _embed(self, tokens: list[NDArray[np.int32]]) -> Vectors:
        return _embedded(self.model, tokens, self.device)


def _embedded(model: TwoBranch, tokens: list[NDArray[np.int32]], device: torch.device) -> Vectors:
    """Embed sentences as when the encoder is used, without dropout."""
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        vectors = embed_texts(model, tokens, device)
    model.train(was_training)
    return vectors


def _draw(count: int, most: int, seed: Sequence[int]) -> NDArray[np.int64]:
    """`most` of the numbers below `count`, or all of them, drawn at random and sorted."""
    return np.sort(np.random.default_rng(seed).permutation(count)[:most])
