"""Text of the kinds that an index holds is told from text of others by its tokens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.answers.evidence import LARGEST_TOKEN_SCORE, domain_columns
from index.build.domain import TokenCounts
from index.confidence.models import Model
from index.text.pre_tokens import Tokens

HELD, BOTH, OTHER, UNSEEN = range(4)
COUNTS = TokenCounts(np.array([90.0, 50.0, 0.0, 0.0]), np.array([0.0, 50.0, 90.0, 0.0]))
MODEL = Model(weights={"token_score": 2.0}, bias=0.0, n=1)


def test_a_token_says_where_it_occurs() -> None:
    table = COUNTS.table()
    assert table[HELD] > 2 > table[BOTH] == pytest.approx(0) == table[UNSEEN] > -2 > table[OTHER]
    assert np.abs(table).max() <= LARGEST_TOKEN_SCORE


def test_what_a_text_adds_itself_is_taken_off() -> None:
    counts = TokenCounts(np.array([1.0, 50.0]), np.array([1.0, 50.0]))
    held, other = counts.scores(np.array([0]), less_held=1), counts.scores(np.array([0]), less_other=1)
    assert held[0] < counts.table()[0] < other[0]


@given(st.lists(st.sampled_from([HELD, BOTH, UNSEEN]), max_size=8))
def test_a_token_of_other_text_makes_a_text_less_likely(tokens: list[int]) -> None:
    texts = Tokens.of([tokens, [*tokens, OTHER]])
    alone, more = MODEL.probability(domain_columns(texts, np.zeros(2), COUNTS.table()[texts.ids]))
    assert 0 <= more <= 1
    assert more < alone or not tokens
