"""The words of a language and their tokens."""

import gzip
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from index.encoder.bundle import Bundle, words_file
from index.encoder.text_encoder import TextEncoder
from index.encoder.word_list import read_word_list
from index.errors import DamagedError
from index.words.vocabulary import by_frequency, token_counts, training_tokens, training_words


def test_training_words_are_those_of_the_file(bundle: Bundle) -> None:
    found = training_words(bundle, "de")
    assert found["hund"] == 100
    assert found["katze"] == 99
    assert training_words(bundle, "fr") == Counter()


@pytest.mark.parametrize(
    "line",
    [
        *("hund", "hund 3", "hund\t", "\t3", "hund\t-3", "hund\tdrei", "hund\t²", "a\tb\t3", ""),
        *("hund\t3\tdog", "hund\t3\tdog=a", "hund\t3\t=3", "hund\t3\t", "hund\t3\tdog=3\tcat=3"),
    ],
)
def test_a_malformed_list_is_refused_with_its_line(bundle: Bundle, tmp_path: Path, line: str) -> None:
    shutil.copytree(bundle.folder, tmp_path / "b")
    (tmp_path / "b" / words_file("de")).write_bytes(gzip.compress(f"katze\t3\n{line}\nx\t1\n".encode()))
    with pytest.raises(DamagedError, match=r"de\.tsv\.gz, line 2"):
        training_words(Bundle(tmp_path / "b", bundle.manifest), "de")


@pytest.mark.parametrize(
    "content",
    [b"katze\t3\n", gzip.compress(b"katze\t3\n", mtime=0)[:-3], gzip.compress(b"\xff", mtime=0)],
    ids=["not compressed", "cut off", "no text"],
)
def test_what_is_not_a_compressed_list_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "de.tsv.gz").write_bytes(content)
    with pytest.raises(DamagedError, match=r"de\.tsv\.gz"):
        read_word_list(tmp_path / "de.tsv.gz")


def test_frequent_words_come_first_and_ties_in_order() -> None:
    ranked = by_frequency({"b": 2, "a": 2, "c": 5, "d": 1})
    assert list(ranked.items()) == [("c", 5), ("a", 2), ("b", 2), ("d", 1)]


def test_tokens_are_counted_as_often_as_their_words(bundle: Bundle) -> None:
    encoder = TextEncoder(bundle)
    found = token_counts(encoder, {"dog": 3, "dogs": 2})
    (dog,), (_, ending) = encoder.tokens(["dog", "dogs"])
    assert found[dog] == 5
    assert found[ending] == 2
    assert found.sum() == 7
    np.testing.assert_array_equal(token_counts(encoder, {}), np.zeros(encoder.vocabulary))


def test_tokens_of_training_words_are_kept_for_the_same_words(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    encoder = TextEncoder(bundle)
    found = training_tokens(encoder)["de"]
    assert np.array_equal(found, token_counts(encoder, training_words(bundle, "de")))
    counted = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.npy")}
    assert len(counted) == len(bundle.manifest.languages)
    taught = bundle.manifest.model_copy(update={"version": "taught", "languages": ("de", "en")})
    assert np.array_equal(training_tokens(TextEncoder(Bundle(bundle.folder, taught)))["de"], found)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.npy")} == counted
    for path in counted:
        path.write_bytes(b"damaged")
    assert np.array_equal(training_tokens(encoder)["de"], found)
