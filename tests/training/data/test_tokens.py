from itertools import chain, combinations, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from training.data.settings import TokenizerSettings
from training.data.tokens import (
    PAD_ID,
    SEQUENCE_ID,
    SPECIAL_TOKENS,
    UNKNOWN_ID,
    balanced,
    by_length,
    pad,
    tokenize,
    train_tokenizer,
)

TEXTS = [
    "A dog runs on the beach.",
    "Ein Hund rennt am Strand.",
    "Um cachorro corre na praia.",
    "狗在沙滩上跑。",
    "كلب يركض على الشاطئ.",
] * 3
LONGEST = 16


def learn(*, sequence_token: bool = False, max_tokens: int = LONGEST, **settings: object) -> Tokenizer:
    table = TokenizerSettings.model_validate({"vocabulary": 300, **settings})
    return train_tokenizer(TEXTS, table, sequence_token=sequence_token, max_tokens=max_tokens)


BAG, TRANSFORMER = learn(), learn(sequence_token=True)


def test_the_sequence_token_comes_first_if_requested() -> None:
    plain, marked = (tokenize(tokenizer, TEXTS[:5]) for tokenizer in (BAG, TRANSFORMER))
    for one, other in zip(plain, marked, strict=True):
        assert other.tolist() == [SEQUENCE_ID, *one][:LONGEST]
        assert SEQUENCE_ID not in one
        assert min(one) >= len(SPECIAL_TOKENS)


def test_the_vocabulary_is_shared_and_no_larger_than_asked_for() -> None:
    assert learn(vocabulary=200).get_vocab_size() <= 200
    assert BAG.get_vocab_size() <= 300
    # Enough merges: words of every script are tokens of their own, the space before them marked.
    assert {"▁dog", "▁hund", "▁cachorro", "▁كلب"} <= set(BAG.get_vocab())


def test_punctuation_and_digits_stand_alone() -> None:
    texts = ["the 1234 dogs, the 1234 dogs."] * 3
    tokenizer = train_tokenizer(
        texts, TokenizerSettings(vocabulary=200), sequence_token=False, max_tokens=LONGEST
    )
    vocabulary = tokenizer.get_vocab()
    assert not [token for token in vocabulary if len(token) > 1 and any(c in ",.1234" for c in token)]
    assert "▁dogs" in vocabulary


def test_a_text_is_read_as_a_bundle_reads_it() -> None:
    texts = ["¿A dog, on the beach?", "a dog on the beach", "A dog on the beach!"]
    asked, plain, stopped = tokenize(BAG, texts)
    assert np.array_equal(plain, stopped)
    assert np.array_equal(asked[: len(plain)], plain)
    assert len(asked) > len(plain)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("EIN HUND", "ein hund"),
        ("İn", "in"),
        ("ａ ｄｏｇ runs", "a dog runs"),
        ("  a\tdog \u00a0 runs\n", "a dog runs"),
    ],
)
def test_case_compatible_forms_and_odd_spaces_make_no_difference(one: str, other: str) -> None:
    assert np.array_equal(*tokenize(BAG, [one, other]))


def test_case_makes_one_where_the_recipe_says_so() -> None:
    assert not np.array_equal(*tokenize(learn(lowercase=False), ["Ein Hund", "ein hund"]))


def test_vowel_points_are_not_read() -> None:
    for pointed, plain in (("מֵעַל", "מעל"), ("سَيّارَة", "سيارة"), ("عـــين", "عين")):
        assert BAG.normalizer.normalize_str(pointed) == plain
    assert BAG.normalizer.normalize_str("हिन्दी ไทย é") == "हिन्दी ไทย é"


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_a_text_without_tokens_is_unknown(text: str) -> None:
    assert tokenize(BAG, [text])[0].tolist() == [UNKNOWN_ID]
    assert tokenize(TRANSFORMER, [text])[0].tolist() == [SEQUENCE_ID]


def test_long_texts_are_cut() -> None:
    rows = tokenize(TRANSFORMER, ["dog runs " * 100, "dog"])
    assert len(rows[0]) == LONGEST
    assert len(rows[1]) < LONGEST, "pads are left out"
    assert len(tokenize(learn(max_tokens=5), ["dog runs " * 100])[0]) == 5


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=9), min_size=1, max_size=6))
def test_pad_fills_up_and_masks_what_it_filled(tokens: list[list[int]]) -> None:
    ids, mask = pad([np.asarray(row, dtype=np.int32) for row in tokens], torch.device("cpu"))
    assert ids.dtype == mask.dtype == torch.int64
    assert ids.shape == mask.shape == (len(tokens), max(map(len, tokens)))
    for row, found, real in zip(tokens, ids.tolist(), mask.tolist(), strict=True):
        padding = ids.shape[1] - len(row)
        assert found == row + [PAD_ID] * padding
        assert real == [1] * len(row) + [0] * padding


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 9))
def test_captions_of_like_length_go_together(lengths: list[int], groups: int) -> None:
    tokens = [np.zeros(length, np.int32) for length in lengths]
    found, spans = by_length(np.random.default_rng(0).permutation(len(lengths)), tokens, groups)
    assert sorted(found) == list(range(len(lengths)))
    assert len(spans) <= groups
    sizes = [rows for rows, _ in spans]
    assert sum(sizes) == len(lengths)
    for (_, longest), (start, stop) in zip(spans, pairwise(np.cumsum([0, *sizes])), strict=True):
        own = [lengths[i] for i in found[start:stop]]
        assert own == sorted(own)
        assert longest == own[-1]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=9), st.integers(1, 4))
def test_no_other_groups_pad_less(lengths: list[int], groups: int) -> None:
    _, spans = by_length(np.arange(len(lengths)), [np.zeros(length, np.int32) for length in lengths], groups)
    ordered = sorted(lengths)
    all_cuts = chain.from_iterable(combinations(range(1, len(ordered)), n) for n in range(groups))
    costs = [
        sum((stop - start) * ordered[stop - 1] for start, stop in pairwise([0, *cuts, len(ordered)]))
        for cuts in all_cuts
    ]
    assert sum(rows * longest for rows, longest in spans) == min(costs)


UNEVEN = {"en": [f"a dog of {number:05d}" for number in range(4000)], "fi": ["koira", "kissa", "lintu"] * 5}


@pytest.mark.parametrize("temperature", [1.0, 2.0, 5.0])
def test_a_temperature_gives_languages_their_share_of_the_text(temperature: float) -> None:
    """p_l ∝ n_l^(1/T), n_l the characters of the distinct texts."""
    found = list(balanced(UNEVEN, temperature, few=1))
    small = [text for text in found if text in UNEVEN["fi"]]
    large = [text for text in found if text not in UNEVEN["fi"]]
    assert small == ["koira", "kissa", "lintu"], "the smallest whole, each text once"
    assert len(set(large)) == len(large)
    characters = len("".join(UNEVEN["en"])) / len("".join(small))
    got = len("".join(large)) / len("".join(small))
    assert got == pytest.approx(characters ** (1 / temperature), rel=0.1)


def test_equal_texts_have_equal_tokens_in_their_own_places() -> None:
    rows = tokenize(BAG, ["A dog runs.", "", "Ein Hund.", "A dog runs."])
    assert rows[0].tolist() == rows[3].tolist() != rows[2].tolist()
    assert rows[1].tolist() == [UNKNOWN_ID]
