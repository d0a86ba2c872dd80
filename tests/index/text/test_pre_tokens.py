"""Pre-tokens by number, and the tokens of many texts in two arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from index.storage.tables import strings
from index.text.pre_tokens import Numbering, Tokens
from tests.index.encoder.test_tokenizer import lists


def test_pre_tokens_are_numbered_as_they_come() -> None:
    numbering = Numbering()
    assert lists(numbering.of_pre_tokens(["a b", "b c a"])) == [[0, 1], [1, 2, 0]]
    assert lists(numbering.of_pre_tokens(["c d"])) == [[2, 3]]


@given(st.lists(st.text("ab é \u3000\u200d\t狗", max_size=6) | st.just("a b"), min_size=1, max_size=5))
def test_pre_tokens_are_the_pieces_between_spaces(texts: list[str]) -> None:
    numbering = Numbering()
    rows = lists(numbering.of_pre_tokens(texts))
    # In the middle of an array, as they are in a batch of a file.
    assert lists(Numbering().of_pre_tokens(strings(["a  b", *texts, "c"]).slice(1, len(texts)))) == rows
    names = list(numbering)
    assert [[names[number] for number in row] for row in rows] == [text.split(" ") for text in texts]


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=6), st.data())
def test_tokens_of_some_texts(texts: list[list[int]], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1))
    tokens = Tokens.of(texts)
    assert lists(tokens) == texts
    assert lists(tokens.take(np.array(rows))) == [texts[row] for row in rows]
    assert lists(tokens.expand(Tokens.of([rows, [], rows[:1]]))) == [
        [token for row in rows for token in texts[row]],
        [],
        texts[rows[0]],
    ]
    assert lists(tokens.without(np.array([3, 4]))) == [
        [token for token in text if token not in (3, 4)] for text in texts
    ]
