"""Cleaning: what is kept, in which form, and why the rest is dropped."""

import io
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.build.cleaning import Cleaner
from index.formats.sentence import Sentence, group_number
from index.storage.options import CLEANING_RULES, DEDUPLICATION_ONLY, Cleaning
from index.text.normalisation import clean


def kept(
    cleaner: Cleaner,
    sentences: Sequence[tuple[str, Sentence]],
    is_foreign: Callable[[str], bool] = lambda text: False,
) -> Iterator[Sentence]:
    """Clean sentences in batches of seven."""
    for start in range(0, len(sentences), 7):
        batch = cleaner.begin(sentences[start : start + 7])
        found = cleaner.finish(batch, {text: is_foreign(text) for text in batch.wanted})
        yield from (sentence for _, sentence in found)


def cleaned(
    texts: list[str],
    cleaning: Cleaning | None = None,
    is_foreign: Callable[[str], bool] = lambda text: False,
    record: io.StringIO | None = None,
) -> tuple[list[str], Cleaner]:
    cleaner = Cleaner(cleaning or Cleaning(), record or io.StringIO())
    given = [("f.txt", Sentence(str(n), text, "en", n)) for n, text in enumerate(texts, start=1)]
    return [sentence.text for sentence in kept(cleaner, given, is_foreign)], cleaner


CASES = {
    "long": ["A cat.", ("a dog " * 300).strip()],
    "duplicate": ["A dog on the snow.", "A dog on  the snow."],
    "near": ["A dog on the snow.", "a dog on the snow!"],
}


@pytest.mark.parametrize("rule", CASES)
def test_each_rule_drops_counts_and_can_be_left_out(rule: str) -> None:
    kept, cleaner = cleaned(CASES[rule])
    assert kept == CASES[rule][:1]
    assert cleaner.done.dropped == {rule: 1}
    off = tuple(
        found for found in CLEANING_RULES if found == rule or (rule == "duplicate" and found == "near")
    )
    kept, cleaner = cleaned(CASES[rule], Cleaning(off))
    assert kept == [clean(text) for text in CASES[rule]]
    assert cleaner.done.dropped == {}


def test_form_is_nfc_and_single_spaces_unless_left_out() -> None:
    texts = ["Cafe\u0301  noir", "A dog."]
    kept, cleaner = cleaned(texts)
    assert kept == ["Café noir", "A dog."]
    assert cleaner.done.changed == 1
    kept, cleaner = cleaned(texts, Cleaning(("form",)))
    assert kept == texts
    assert cleaner.done.changed == 0


def test_empty_lines_are_always_dropped_and_not_listed() -> None:
    record = io.StringIO()
    kept, cleaner = cleaned(["", "A dog.", " \u200b"], Cleaning(CLEANING_RULES), record=record)
    assert kept == ["A dog."]
    assert cleaner.done.dropped == {"empty": 2}
    assert len(record.getvalue().splitlines()) == 1


def test_what_is_not_confirmed_is_dropped() -> None:
    sentence = Sentence("1", "A dog.", "en", 1, confirmed=False)
    cleaner = Cleaner(Cleaning(), io.StringIO())
    assert list(kept(cleaner, [("f", sentence)])) == []
    assert cleaner.done.dropped == {"unconfirmed": 1}
    assert len(list(kept(Cleaner(DEDUPLICATION_ONLY, io.StringIO()), [("f", sentence)]))) == 1


def test_the_judge_drops_what_is_in_another_language() -> None:
    texts = ["A dog.", "Ein Hund.", "A cat."]

    def is_foreign(text: str) -> bool:
        return text == "Ein Hund."

    kept, cleaner = cleaned(texts, is_foreign=is_foreign)
    assert kept == ["A dog.", "A cat."]
    assert cleaner.done.dropped == {"language": 1}
    assert cleaned(texts, Cleaning(("language",)), is_foreign)[0] == texts


def test_what_is_dropped_is_written_with_reason_place_and_the_row_kept() -> None:
    record = io.StringIO()
    cleaned(["A cat.", "A dog on the snow.", 'A dog "on" the snow.', "A cat."], record=record)
    assert record.getvalue().splitlines() == [
        "reason\tfile\tline\tid\trow\ttext",
        'near\tf.txt\t3\t3\t1\t"A dog ""on"" the snow."',
        "duplicate\tf.txt\t4\t4\t0\tA cat.",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Polish", "polish"),  # short
        ("Is the dog on the snow?", "Is the dog on the snow."),
        ("The dog is on the snow.", "The dog is not on the snow."),
        ("It rose by 5 to 12 percent.", "It rose by 5 to 13 percent."),
        ("😀😀😀😀😀😀😀😀😀😀😀😀", "😁😁😁😁😁😁😁😁😁😁😁😁"),
        ("किताब मेज पर रखी है", "कताब मज पर रख ह"),  # vowel signs are letters
    ],
)
def test_what_differs_in_meaning_is_no_near_duplicate(one: str, other: str) -> None:
    assert len(cleaned([one, other])[0]) == 2


def test_a_dropped_duplicate_leaves_its_group_to_the_row_that_is_kept() -> None:
    cleaner = Cleaner(Cleaning(), io.StringIO())
    texts = ["A cat.", "A dog.", "A cat.", "A dog."]
    given = [("f", Sentence(str(n), text, "en", n, group=f"g{n}")) for n, text in enumerate(texts)]
    list(kept(cleaner, given))
    assert list(cleaner.done.rows) == [0, 1, 0, 1]
    assert list(cleaner.done.groups) == [group_number(f"g{n}") for n in range(4)]


@given(st.lists(st.text(max_size=20), max_size=30))
def test_cleaning_twice_is_cleaning_once_and_nothing_is_lost_uncounted(texts: list[str]) -> None:
    kept, cleaner = cleaned(texts)
    assert cleaner.done.lines == len(texts) == cleaner.done.kept + cleaner.done.dropped.total()
    assert len(kept) == len(set(kept)) == cleaner.done.kept
    again, second = cleaned(kept)
    assert again == kept
    assert second.done.dropped.total() == second.done.changed == 0
