"""The words of a language and their tokens."""

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import DamagedError
from index.words.vocabulary import by_frequency, token_counts, training_words


def test_training_words_are_those_of_the_file(bundle: Bundle) -> None:
    found = training_words(bundle, "de")
    assert found["hund"] == 100
    assert found["katze"] == 99
    assert training_words(bundle, "fr") == Counter()


@pytest.mark.parametrize(
    "line", ["hund", "hund 3", "hund\t", "\t3", "hund\t-3", "hund\tdrei", "hund\t²", "a\tb\t3", ""]
)
def test_a_malformed_list_is_refused_with_its_line(bundle: Bundle, tmp_path: Path, line: str) -> None:
    shutil.copytree(bundle.folder, tmp_path / "b")
    (tmp_path / "b" / "words" / "de.tsv").write_text(f"katze\t3\n{line}\nx\t1\n", "utf-8")
    with pytest.raises(DamagedError, match=r"de\.tsv, line 2"):
        training_words(Bundle(tmp_path / "b", bundle.manifest), "de")


def test_frequent_words_come_first_and_ties_in_order() -> None:
    assert by_frequency({"b": 2, "a": 2, "c": 5, "d": 1}) == ["c", "a", "b", "d"]


def test_tokens_are_counted_as_often_as_their_words(bundle: Bundle) -> None:
    encoder = TextEncoder(bundle)
    found = token_counts(encoder, {"dog": 3, "dogs": 2})
    (dog,), (_, ending) = encoder.tokens(["dog", "dogs"])
    assert found[dog] == 5
    assert found[ending] == 2
    assert found.sum() == 7
    np.testing.assert_array_equal(token_counts(encoder, {}), np.zeros(encoder.vocabulary))
