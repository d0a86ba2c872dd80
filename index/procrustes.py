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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import faiss
import numpy as np
from numpy.typing import NDArray

from index.hubness import NEIGHBOURS

MOST_WORDS = 2000  # a language's most frequent words take part: rare words make poor anchors
CANDIDATES = 100
PULLS = (1.0, 16.0, 256.0, np.inf)
FOLDS = 3
SWEEPS = 3  # turns between two searches for anchors
STILL = 5e-3  # how far (root mean square) a unit vector may move when nothing moves any more

Rotation = NDArray[np.float64]
Pair = tuple[str, str]
# (p, 2) row numbers: row of the first language, row of the second
Anchors = dict[Pair, NDArray[np.int64]]
Vectors = NDArray[np.float64]
Spaces = dict[str, Vectors]
Products = dict[Pair, Rotation]


@dataclass(frozen=True)
class Alignment:
    """Rotations (d, d) for row vectors: `vectors @ rotation`. `pull` is the κ that was chosen."""

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
    most: int = MOST_WORDS,
    iterations: int = 20,
    pulls: Sequence[float] = PULLS,
    seed: int = 0,
    progress: Callable[[int], None] = lambda rounds: None,
) -> Alignment:
    """Align word vectors {language: (n_l, d) unit rows, most frequent words first}.

    `most` words a language make the anchors; `pulls` are the κ to choose from (one value: no choice).
    `progress` is told of each of the `iterations` rounds, all that are left at once when nothing moves.
    """
    # Double precision: singular vectors in single are orthogonal only to 1e-5.
    spaces = {code: np.asarray(rows[:most], np.float64) for code, rows in vectors.items()}
    rotations = {code: np.eye(rows.shape[1]) for code, rows in spaces.items()}
    anchors = find_anchors(spaces, k)
    pull = choose_pull(spaces, anchors, pulls, seed)
    done, moved = 0, np.inf if np.isfinite(pull) else 0.0
    while done < iterations and moved > STILL:
        previous, rotations = rotations, solve(anchor_products(spaces, anchors), rotations, pull)
        moved = max(_moved(rotations[code], previous[code]) for code in rotations)
        anchors = find_anchors({code: rows @ rotations[code] for code, rows in spaces.items()}, k)
        done += 1
        progress(1)
    progress(iterations - done)
    return Alignment(
        rotations={code: rotation.astype(np.float32) for code, rotation in rotations.items()},
        iterations=done,
        anchors={pair: len(rows) for pair, rows in anchors.items()},
        converged=moved <= STILL,
        pull=pull,
    )


def find_anchors(spaces: Spaces, k: int) -> Anchors:
    """For each pair of languages, the words that are among each other's k nearest by CSLS."""
    return {(a, b): mutual_neighbours(spaces[a], spaces[b], k) for a, b in combinations(spaces, 2)}


def mutual_neighbours(first: Vectors, second: Vectors, k: int) -> NDArray[np.int64]:
    """(n, d), (m, d) unit rows -> (p, 2) pairs of rows that are in each other's k nearest by CSLS.

    CSLS ranks the CANDIDATES nearest by cosine: exact for up to as many rows, nearly so above.
    """
    if not len(first) or not len(second):
        return np.zeros((0, 2), np.int64)
    ahead, back = _nearest(first, second), _nearest(second, first)
    forward = _best(ahead, back, k)
    backward = _best(back, ahead, k)
    pairs = np.arange(len(first))[:, None] * len(second) + forward
    mirrored = backward * len(second) + np.arange(len(second))[:, None]
    both = np.intersect1d(pairs, mirrored)
    return np.stack(np.divmod(both, len(second)), axis=1)


def _nearest(queries: Vectors, rows: Vectors) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Cosines and row numbers of each query's nearest rows (n, up to CANDIDATES), nearest first."""
    found = min(CANDIDATES, len(rows))
    cosines, numbers = faiss.knn(
        queries.astype(np.float32), rows.astype(np.float32), found, metric=faiss.METRIC_INNER_PRODUCT
    )
    return cosines, numbers


def _best(
    near: tuple[NDArray[np.float32], NDArray[np.int64]],
    back: tuple[NDArray[np.float32], NDArray[np.int64]],
    k: int,
) -> NDArray[np.int64]:
    """Each query's k best candidates by CSLS; what depends on the query alone does not change their order."""
    cosines, numbers = near
    crowding = back[0][:, :NEIGHBOURS].mean(axis=1)
    order = np.argsort(crowding[numbers] - 2 * cosines, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(numbers, order, axis=1)


def _moved(new: Rotation, old: Rotation) -> float:
    """Root mean square distance between where the two turn an unit vector."""
    return float(np.linalg.norm(new - old) / np.sqrt(len(new)))


def solve(products: Products, rotations: Mapping[str, Rotation], pull: float) -> dict[str, Rotation]:
    """The rotations that bring the anchors together: languages in turn until none moves."""
    current = dict(rotations)
    for _ in range(SWEEPS):
        moved = 0.0
        for code, rotation in current.items():
            target = sum(
                between @ current[other] for (one, other), between in products.items() if one == code
            )
            left, _, right = np.linalg.svd(pull * np.eye(len(rotation)) + target)
            moved = max(moved, _moved(left @ right, rotation))
            current[code] = left @ right
        if moved < STILL / 10:
            break
    return current


def anchor_products(spaces: Spaces, anchors: Anchors) -> Products:
    """Xᵀ Y (d, d) over the anchors of each pair of languages that has any, in both directions."""
    products = {}
    for (a, b), rows in anchors.items():
        if len(rows):
            products[a, b] = spaces[a][rows[:, 0]].T @ spaces[b][rows[:, 1]]
            products[b, a] = products[a, b].T
    return products


def choose_pull(spaces: Spaces, anchors: Anchors, pulls: Sequence[float], seed: int = 0) -> float:
    """The κ under which held-out anchors meet best; the strongest within a standard error of the best."""
    if len(pulls) == 1:
        return pulls[0]
    random = np.random.default_rng(seed)
    # Words are held out, not pairs: a word has several anchors, and each would tell on the others.
    fold = {code: random.integers(FOLDS, size=len(rows)) for code, rows in spaces.items()}
    pulls = sorted(pulls, reverse=True)
    meetings = np.concatenate(
        [_held_out(spaces, anchors, fold, number, pulls) for number in range(FOLDS)], axis=1
    )
    if meetings.shape[1] < 2 * FOLDS:
        return np.inf
    behind = meetings[meetings.mean(axis=1).argmax()] - meetings
    near = behind.mean(axis=1) <= behind.std(axis=1) / np.sqrt(meetings.shape[1])
    return pulls[int(near.argmax())]


def _held_out(
    spaces: Spaces,
    anchors: Anchors,
    fold: Mapping[str, NDArray[np.int64]],
    number: int,
    pulls: Sequence[float],
) -> NDArray[np.float64]:
    """(pulls, p) cosines of the anchors within one fold, turned by what the words of the others say."""
    kept, out = {}, {}
    for (a, b), rows in anchors.items():
        first, second = fold[a][rows[:, 0]] == number, fold[b][rows[:, 1]] == number
        kept[a, b], out[a, b] = rows[~first & ~second], rows[first & second]
    products = anchor_products(spaces, kept)
    rotations = {code: np.eye(rows.shape[1]) for code, rows in spaces.items()}
    found = []
    for pull in pulls:
        # From strong to weak, each from where the one before ended: fewer turns are needed.
        rotations = solve(products, rotations, pull) if np.isfinite(pull) else rotations
        aligned = {code: rows @ rotations[code] for code, rows in spaces.items()}
        found.append(
            np.concatenate([np.zeros(0), *(_cosines(aligned, pair, rows) for pair, rows in out.items())])
        )
    return np.stack(found)


def _cosines(spaces: Spaces, pair: Pair, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.einsum(
        "nd,nd->n", spaces[pair[0]][rows[:, 0]], spaces[pair[1]][rows[:, 1]]
    )
    return found
