from collections import Counter
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.suites.truth import Sentences, find_truth, read_text, word_pairs
from index.errors import DataError, UnknownLanguageError
from tests.bundles import lexicon, make_corpus, sentences

lines = st.lists(st.tuples(*2 * [st.lists(st.sampled_from("abcdefgh"), max_size=6)]), min_size=1, max_size=12)


def naive_best(one: Sentences, other: Sentences, top: int) -> set[tuple[str, str]]:
    """Equations 6 and 7 as they are written: a document for each word."""
    documents: dict[str, Counter[str]] = {}
    for a, b in zip(one, other, strict=True):
        for word in set(a):
            documents.setdefault(word, Counter()).update(b)
    documents = {word: document for word, document in documents.items() if document}
    frequency = Counter(word for line in other for word in set(line))
    found = set()
    for word, document in documents.items():
        values = {}
        for candidate, count in document.items():
            containing = sum(candidate in other_document for other_document in documents.values())
            values[candidate] = count / document.total() * log(len(documents) / containing)
        ordered = sorted(values, key=lambda c: (-round(values[c], 12), -frequency[c], c))
        found |= {(word, candidate) for candidate in ordered[:top] if values[candidate] > 0}
    return found


@given(lines, st.integers(1, 3))
def test_pairs_are_the_mutual_best_by_tf_idf(both: list[tuple[list[str], list[str]]], top: int) -> None:
    first, second = [a for a, _ in both], [b for _, b in both]
    forward = naive_best(first, second, top)
    backward = {(x, y) for y, x in naive_best(second, first, top)}
    assert set(word_pairs(first, second, top=top, least=1)) == forward & backward


@given(lines)
def test_pairs_are_the_same_from_the_other_side(both: list[tuple[list[str], list[str]]]) -> None:
    first, second = [a for a, _ in both], [b for _, b in both]
    there, back = word_pairs(first, second, least=1), word_pairs(second, first, least=1)
    assert set(there) == {(x, y) for y, x in back}


def test_translations_are_found_in_aligned_sentences() -> None:
    first, second = ([line.lower().strip(".").split() for line in sentences(code)] for code in ("en", "pt"))
    pairs = word_pairs(first, second, top=1)
    assert set(pairs) >= {(concept["en"], concept["pt"]) for concept in lexicon()}


def test_rare_words_are_left_out() -> None:
    first = [["dog", "runs"]] * 5 + [["cat", "runs"]] * 4 + [["man", "sits"]] * 5
    second = [["hund", "rennt"]] * 5 + [["katze", "rennt"]] * 4 + [["mann", "sitzt"]] * 5
    found = {word for pair in word_pairs(first, second, least=5) for word in pair}
    assert {"dog", "hund", "man", "mann"} <= found
    assert not {"cat", "katze"} & found
    assert ("cat", "katze") in word_pairs(first, second, least=4)


def test_no_sentences_no_pairs() -> None:
    assert word_pairs([[]], [["hund"]], least=1) == []
    assert word_pairs([["dog"]], [["hund"]], least=2) == []


def split(rows: Sentences, code: str) -> Sentences:
    return [row.split() for row in rows]  # type: ignore[attr-defined]


def repeated(*rows: list[str]) -> dict[str, list[str]]:
    """Each row for ten places, so that its words occur often enough."""
    return {f"{number}-{copy}": row for number, row in enumerate(rows) for copy in range(10)}


def test_pairs_go_both_ways_and_all_words_are_counted() -> None:
    texts = {
        "en": repeated(["dog"], ["cat"]),
        "de": repeated(["hund"], ["katze"]),
        "uk": repeated(["пес", "малий пес"], ["кіт"]),
    }
    found = find_truth(texts, split, "words")
    assert set(found.pairs["en", "de"]) == {("dog", "hund"), ("cat", "katze")}
    assert set(found.pairs["de", "en"]) == {("hund", "dog"), ("katze", "cat")}
    assert {("hund", "пес"), ("katze", "кіт")} <= set(found.pairs["de", "uk"])
    assert found.counts["uk"] == Counter({"пес": 20, "малий": 10, "кіт": 10})


def test_only_what_both_languages_have_lines_up() -> None:
    one, other = repeated(["dog"], ["cat"], ["bird"]), repeated(["hund"], ["katze"], ["vogel"])
    del other["2-0"], one["2-1"]
    pairs = find_truth({"en": one, "de": other}, split, "words").pairs["en", "de"]
    assert set(pairs) == {("dog", "hund"), ("cat", "katze"), ("bird", "vogel")}


def test_words_that_hardly_occur_are_no_truth() -> None:
    with pytest.raises(DataError, match="no word occurs often enough"):
        find_truth({"en": {"0": ["dog"]}, "de": {"0": ["hund"]}}, split, "words")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    captions = tmp_path / "photos" / "captions"
    captions.mkdir(parents=True)
    for code in ("en", "de", "zh"):
        rows = [f"{row // 2}.jpg\t{line}\thuman\n" for row, line in enumerate(sentences(code)[:8])]
        (captions / f"{code}.tsv").write_text("".join(rows), "utf-8")
    return tmp_path


def test_captions_of_one_picture_are_aligned(data: Path) -> None:
    text = read_text(data, ["de", "zh", "pt"], [])
    assert list(text) == ["de", "zh"]
    assert text["zh"]["1.jpg"] == sentences("zh")[2:4]


def test_languages_are_those_known_or_chosen(data: Path) -> None:
    assert list(read_text(data, ["de", "en"], ["zh"])) == ["zh", "de", "en"]
    with pytest.raises(UnknownLanguageError, match="has no fr text: there are de, en, zh"):
        read_text(data, ["en", "de"], ["fr"])
    with pytest.raises(DataError, match="the encoder knows zh: two languages"):
        read_text(data, ["zh"], [])


def test_a_folder_of_aligned_lines_is_its_own_text(tmp_path: Path) -> None:
    make_corpus(tmp_path, ("en", "de"), count=20)
    text = read_text(tmp_path, ["en", "de"], [])
    assert len(text["en"]) == 20
    assert text["en"]["0"] == [sentences("en")[0]]
