"""Rows of keys: what a dictionary would say, in bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.build import duplicates
from index.build.duplicates import FirstRows, key_of


@given(st.lists(st.lists(st.text("abc", max_size=3), max_size=12), max_size=12))
def test_the_first_row_of_a_key_is_what_a_dictionary_says(batches: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplicates, "LATEST_KEYS", 4)  # nearly everything is in SQLite
        rows, wanted, row = FirstRows(), dict[int, int](), 0
        for batch in batches:
            keys = list(map(key_of, batch))
            rows.expect(keys)
            for key in keys:
                assert (key in rows) == (key in wanted)
                assert rows.first(key, row) == wanted.get(key)
                wanted.setdefault(key, row)
                row += 1
        rows.close()


def test_different_texts_have_different_keys() -> None:
    keys = {key_of(str(number)) for number in range(1000)}
    assert len(keys) == 1000
    assert min(keys) < 0 < max(keys), "all 64 bits are used"
    assert key_of("\ud800") != key_of("")
