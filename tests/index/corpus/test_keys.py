"""Keys: what a dictionary would say, in bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.corpus import keys
from index.corpus.keys import Keys, digest

BATCHES = st.lists(st.lists(st.text("abc", max_size=3), max_size=12), max_size=12)


@given(BATCHES)
def test_the_first_row_of_a_key_is_what_a_dictionary_says(batches: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "LATEST", 4)  # nearly everything lies on disk, in runs that are merged
        patch.setattr(keys, "BLOCK", 3)
        table, wanted, row = Keys(), dict[bytes, int](), 0
        for batch in batches:
            names = [digest(text) for text in batch]
            table.expect(names)
            for name in names:
                assert (name in table) == (name in wanted)
                assert table.first(name, row) == wanted.get(name)
                wanted.setdefault(name, row)
                row += 1


def test_a_key_may_be_given_another_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "LATEST", 1)
    table = Keys()
    table.expect([digest("a")])
    assert table.first(digest("a"), 7) is None
    table[digest("a")] = 3
    for _ in range(3):
        table.expect([digest("a"), digest("b")])
        assert table.first(digest("a"), 9) == 3


def test_keys_that_share_their_first_half_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "LATEST", 1)
    table = Keys()
    names = [bytes(8) + bytes([number]) * 8 for number in range(5)] + [bytes([255]) * 16]
    for row, name in enumerate(names[1:]):
        table.expect([name])
        assert table.first(name, row) is None
    for _ in range(2):
        table.expect(names)
        assert [name in table for name in names] == [False] + [True] * 5
        assert [table.first(name, 9) for name in names[1:]] == [0, 1, 2, 3, 4]


def test_digests_tell_texts_apart() -> None:
    assert len({digest(str(number)) for number in range(1000)}) == 1000
    assert digest("é") == digest("é".encode())
    assert {len(digest(text)) for text in ("", "a", "\ud800")} == {keys.BYTES}
