from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, score_pair, score_pool, score_translation, table_of_pairs

LANGUAGES = ("en", "de", "pt", "zh")


def bridged(n: int, seed: int, noise: float = 0.7) -> dict[str, NDArray[np.float32]]:
    random = np.random.default_rng(seed)
    shared = random.standard_normal((n, 12))
    rows = {code: shared + noise * random.standard_normal((n, 12)) for code in LANGUAGES}
    return {
        code: (v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32) for code, v in rows.items()
    }


def naive(one: NDArray[np.float32], other: NDArray[np.float32]) -> dict[str, float]:
    """Cosine and CSLS retrieval, one query and one candidate at a time, in double precision."""
    n = len(one)
    cosine = [[float(np.dot(a.astype(float), b.astype(float))) for b in other] for a in one]
    rows = [np.mean(sorted(values)[-10:]) for values in cosine]
    columns = [np.mean(sorted(cosine[i][j] for i in range(n))[-10:]) for j in range(n)]
    csls = [[2 * cosine[i][j] - rows[i] - columns[j] for j in range(n)] for i in range(n)]
    found = {}
    for name, scores in (("cosine", cosine), ("csls", csls)):
        ranks = [sum(score > scores[i][i] for score in scores[i]) for i in range(n)]
        found |= {f"{name}_r{k}": 100 * sum(rank < k for rank in ranks) / n for k in (1, 5, 10)}
    return found


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_a_pair_is_what_the_definitions_give(seed: int, n: int) -> None:
    vectors = bridged(n, seed)
    score = score_pair("en", "de", vectors)
    assert (score.source, score.target, score.n) == ("en", "de", n)
    expected = naive(vectors["en"], vectors["de"]) | {"tied": 0.0}
    assert score.measures == {key: pytest.approx(value, abs=1e-9) for key, value in expected.items()}


def test_means_over_all_pairs() -> None:
    table = score_translation("set", "note", bridged(60, 0))
    assert [(pair.source, pair.target) for pair in table.pairs] == list(permutations(LANGUAGES, 2))
    assert table.languages == LANGUAGES
    assert (table.n, set(table.means)) == (60, {"all"})
    for key, mean in table.means["all"].items():
        assert mean == pytest.approx(np.mean([pair.measures[key] for pair in table.pairs]))


def test_one_pool_over_all_languages() -> None:
    vectors = bridged(30, 1)
    vectors["zh"] = vectors["zh"][::-1].copy()
    table = score_pool("pool", "note", vectors)
    assert (table.n, table.languages) == (30, LANGUAGES)
    assert table.means["all"]["csls_r1"] == score_translation("", "", vectors).means["all"]["csls_r1"]
    shares = [pair.measures["positives"] for pair in table.pairs]
    assert [(pair.source, pair.target) for pair in table.pairs] == list(permutations(LANGUAGES, 2))
    assert table.means["all"]["positives"] == pytest.approx(np.mean(shares))


def test_pairs_without_queries_count_in_no_mean() -> None:
    pairs = [PairScore("en", "de", 2, {"csls_r1": 50.0}), PairScore("de", "en", 0, {"csls_r1": 0.0})]
    assert table_of_pairs("set", "note", pairs).means == {"all": {"csls_r1": 50.0}}
    assert table_of_pairs("set", "note", pairs[1:]).means == {"all": {}}
