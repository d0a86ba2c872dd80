"""Multi-pairwise Procrustes: one rotation a language, so that words of one meaning meet.

Taitelbaum et al. 2019: minimise over orthogonal R_l the sum over language pairs and their anchors
|| x R_a - y R_b ||². For one language with the others fixed the minimum is Schönemann's (1966): R_a = U Vᵀ
where U S Vᵀ is the singular value decomposition of Σ_b Xᵀ (Y R_b). The languages take turns until nothing
moves. Anchors are mutual k nearest neighbours by CSLS (globetrotter 3.4: k = 5), found again after every
alignment.

Where it departs: the spaces come from one encoder and are nearly aligned already, and a rotation has
d (d - 1) / 2 free parameters, more than a few hundred anchors can carry. So each language also has a pull
κ || R_l - I ||² (it adds κ I to the matrix that is decomposed, as κ d anchors would that agree already),
and κ is chosen by how well the anchors of words that were held out meet. Infinite κ, no rotation at all, is
among the choices, and anything else must beat it by more than a standard error. A language without anchors
keeps the identity.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, repeat

import numpy as np
from numpy.typing import NDArray

from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls_scores, neighbourhood_means

MOST_WORDS = 2000  # a language's most frequent words take part: rare words make poor anchors
GROUP_WIDTH = 8  # columns reduced to their highest before partitioning
ANCHOR_PULLS = (1.0, 16.0, 256.0, np.inf)
PULL_FOLDS = 3
SWEEPS_PER_ROUND = 3  # over all languages, between two searches for anchors
CONVERGED_MOVEMENT = 5e-3  # root mean square movement of a unit vector at convergence

Rotation = NDArray[np.float64]
Pair = tuple[str, str]
# (p, 2) row numbers: row of the first language, row of the second
Anchors = dict[Pair, NDArray[np.int64]]
Vectors = NDArray[np.floating]
Spaces = dict[str, Vectors]
Products = dict[Pair, Vectors]


@dataclass(frozen=True)
class Alignment:
    """Rotations (d, d) for row vectors, applied as `vectors @ rotation`, and how they were computed.

    `anchors`: their number for each pair of languages in the last iteration; `pull`: the κ chosen.
    """

    rotations: dict[str, NDArray[np.float32]]
    iterations: int
    anchors: dict[Pair, int]
    converged: bool
    pull: float

    @property
    def orthogonality(self) -> float:
        """The largest entry of |Rᵀ R - I| over all languages."""
        rotations = [rotation.astype(np.float64) for rotation in self.rotations.values()]
        return max((float(np.abs(r.T @ r - np.eye(len(r))).max()) for r in rotations), default=0.0)


def align(
    vectors: Mapping[str, NDArray[np.floating]],
    *,
    k: int = 5,
    most_words: int = MOST_WORDS,
    iterations: int = 20,
    pulls: Sequence[float] = ANCHOR_PULLS,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[int], None] = lambda rounds: None,
) -> Alignment:
    """Align word vectors {language: (n_l, d) unit rows, most frequent words first}.

    Anchors are sought among the first `most_words` of each language; `pulls` are the κ to choose from (a
    single value: no choice). `threads` search for anchors, one pair of languages each, with the same result.
    `progress` is called with 1 after each round, and at convergence with the rest of the `iterations`.
    """
    spaces = {code: np.asarray(rows[:most_words], np.float32) for code, rows in vectors.items()}
    rotations = {code: np.eye(rows.shape[1]) for code, rows in spaces.items()}
    anchors = find_anchors(spaces, k, threads)
    pull = choose_pull(spaces, anchors, pulls, seed)
    rounds, moved = 0, np.inf if np.isfinite(pull) else 0.0
    while rounds < iterations and moved > CONVERGED_MOVEMENT:
        if rounds:
            anchors = find_anchors(_turned(spaces, rotations), k, threads)
        previous, rotations = rotations, solve(anchor_products(spaces, anchors), rotations, pull)
        moved = max(_movement(rotations[code], previous[code]) for code in rotations)
        rounds += 1
        progress(1)
    progress(iterations - rounds)
    return Alignment(
        rotations={code: rotation.astype(np.float32) for code, rotation in rotations.items()},
        iterations=rounds,
        anchors={pair: len(rows) for pair, rows in anchors.items()},
        converged=moved <= CONVERGED_MOVEMENT,
        pull=pull,
    )


def find_anchors(spaces: Spaces, k: int, threads: int = 1) -> Anchors:
    """Find, for each pair of languages, the words that are mutual k nearest neighbours by CSLS."""
    pairs = list(combinations(spaces, 2))
    firsts, seconds = ([spaces[pair[side]] for pair in pairs] for side in (0, 1))
    if threads == 1:
        return dict(zip(pairs, map(mutual_neighbours, firsts, seconds, repeat(k)), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        return dict(zip(pairs, pool.map(mutual_neighbours, firsts, seconds, repeat(k)), strict=True))


def _turned(spaces: Spaces, rotations: Mapping[str, Rotation]) -> Spaces:
    return {code: rows @ rotations[code].astype(np.float32) for code, rows in spaces.items()}


def mutual_neighbours(first: Vectors, second: Vectors, k: int) -> NDArray[np.int64]:
    """(n, d), (m, d) unit rows -> (p, 2) pairs of mutual k nearest rows by CSLS, in ascending order."""
    n, m = len(first), len(second)
    if not n or not m:
        return np.zeros((0, 2), np.int64)
    cosines = np.asarray(first, np.float32) @ np.asarray(second, np.float32).T
    ahead, back = (neighbourhood_means(_highest(way, CSLS_NEIGHBOURS)[0]) for way in (cosines, cosines.T))
    scores = csls_scores(cosines, ahead[:, None], back)
    pairs = np.arange(n)[:, None] * m + _best(scores, k)
    mirrored = _best(scores.T, k) * m + np.arange(m)[:, None]
    return np.stack(np.divmod(np.intersect1d(pairs, mirrored), m), axis=1)


def _best(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """(n, m) -> (n, k) columns of each row's k highest, in any order; all where m <= k."""
    values, columns = _highest(scores, k)
    if values.shape[1] <= k:
        return columns
    return np.take_along_axis(columns, np.argpartition(values, -k, axis=1)[:, -k:], axis=1)


def _highest(scores: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Values and columns (n, c) that include each row's k highest.

    They lie in the k groups of columns with the highest maxima: finding the maximum of each group is several
    times faster than partitioning the whole row.
    """
    n, m = scores.shape
    width = m // GROUP_WIDTH
    highest = np.ascontiguousarray(
        scores[:, : width * GROUP_WIDTH].reshape(n, GROUP_WIDTH, width).max(axis=1)
    )
    groups = np.argpartition(highest, -k, axis=1)[:, -k:] if width > k else np.tile(np.arange(width), (n, 1))
    columns = (groups[:, None, :] + width * np.arange(GROUP_WIDTH)[:, None]).reshape(n, -1)
    rest = np.tile(np.arange(width * GROUP_WIDTH, m), (n, 1))
    columns = np.concatenate([columns, rest], axis=1)
    return np.take_along_axis(scores, columns, axis=1), columns


def _movement(new: Rotation, old: Rotation) -> float:
    """Root mean square distance between a unit vector turned by one rotation and by the other."""
    return float(np.linalg.norm(new - old) / np.sqrt(len(new)))


def solve(products: Products, rotations: Mapping[str, Rotation], pull: float) -> dict[str, Rotation]:
    """Rotations that minimise the distances of anchors, one language at a time until none moves."""
    current = dict(rotations)
    single = {code: rotation.astype(np.float32) for code, rotation in rotations.items()}
    for _ in range(SWEEPS_PER_ROUND):
        moved = 0.0
        for code, rotation in current.items():
            target = sum(
                between @ single[other] for (first, other), between in products.items() if first == code
            )
            # float64: singular vectors in float32 are orthogonal only to 1e-5.
            left, _, right = np.linalg.svd(pull * np.eye(len(rotation)) + target)
            moved = max(moved, _movement(left @ right, rotation))
            current[code] = left @ right
            single[code] = current[code].astype(np.float32)
        if moved < CONVERGED_MOVEMENT / 10:
            break
    return current


def anchor_products(spaces: Spaces, anchors: Anchors) -> Products:
    """Xᵀ Y (d, d) over the anchors of each pair of languages with anchors, in both directions."""
    products: Products = {}
    for (a, b), pairs in anchors.items():
        if len(pairs):
            products[a, b] = spaces[a].T @ _partners(spaces[b], pairs, len(spaces[a]))
            products[b, a] = products[a, b].T
    return products


def _partners(rows: Vectors, anchors: NDArray[np.int64], n: int) -> Vectors:
    """(n, d): for each of n words of one language, the sum of its anchors' `rows` in the other.

    Summed first, the anchors of a word are multiplied once. `anchors` are sorted by the first column.
    """
    words, partners = anchors.T
    place = np.arange(len(words)) - np.searchsorted(words, words)  # 0 for a word's first anchor
    sums = np.zeros((n, rows.shape[1]), rows.dtype)
    for number in range(place.max() + 1):
        here = place == number
        sums[words[here]] += rows[partners[here]]
    return sums


def choose_pull(spaces: Spaces, anchors: Anchors, pulls: Sequence[float], seed: int = 0) -> float:
    """Choose the strongest κ whose held-out anchors agree within a standard error of the best κ."""
    if len(pulls) == 1:
        return pulls[0]
    random = np.random.default_rng(seed)
    # Words are held out, not pairs: the other anchors of a word would reveal the held-out one.
    fold = {code: random.integers(PULL_FOLDS, size=len(rows)) for code, rows in spaces.items()}
    pulls = sorted(pulls, reverse=True)
    folds = [_held_out(spaces, anchors, fold, number, pulls) for number in range(PULL_FOLDS)]
    meetings: list[NDArray[np.float64]] = []
    near = np.ones(1, bool)
    for cosines in zip(*folds, strict=True):
        meetings.append(np.concatenate(cosines))
        if len(meetings[0]) < 2 * PULL_FOLDS:
            return np.inf
        near = _near_best(np.stack(meetings))
        if not near[-1]:
            break  # a weaker pull would only fit the same anchors more closely
    return pulls[int(near.argmax())]


def _near_best(meetings: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(pulls, p) cosines -> (pulls,) whether the mean is within a standard error of the best."""
    behind = meetings[meetings.mean(axis=1).argmax()] - meetings
    near: NDArray[np.bool_] = behind.mean(axis=1) <= behind.std(axis=1) / np.sqrt(meetings.shape[1])
    return near


def _held_out(
    spaces: Spaces,
    anchors: Anchors,
    fold: Mapping[str, NDArray[np.int64]],
    number: int,
    pulls: Sequence[float],
) -> Iterator[NDArray[np.float64]]:
    """Yield for each pull the cosines (p,) of a fold's anchors, under rotations fitted to the other folds."""
    kept, out = {}, {}
    for (a, b), rows in anchors.items():
        first, second = fold[a][rows[:, 0]] == number, fold[b][rows[:, 1]] == number
        kept[a, b], out[a, b] = rows[~first & ~second], rows[first & second]
    products = anchor_products(spaces, kept)
    rotations = {code: np.eye(rows.shape[1]) for code, rows in spaces.items()}
    for pull in pulls:
        # From strong to weak, each starting from the previous solution: fewer sweeps are needed.
        rotations = solve(products, rotations, pull) if np.isfinite(pull) else rotations
        aligned = _turned(spaces, rotations)
        yield np.concatenate([np.zeros(0), *(_cosines(aligned, pair, rows) for pair, rows in out.items())])


def _cosines(spaces: Spaces, pair: Pair, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    cosines: NDArray[np.float64] = np.einsum(
        "nd,nd->n", spaces[pair[0]][rows[:, 0]], spaces[pair[1]][rows[:, 1]]
    )
    return cosines
