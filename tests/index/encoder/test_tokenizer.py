"""Tokens of a corpus, put together from those of its pre-tokens: the same as the tokenizer's own."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from index.encoder.tokenizer import BundleTokenizer
from index.text.pre_tokens import Tokens

MOST = 12


def bpe() -> Tokenizer:
    """As `training` makes them: any character, a few merges, Metaspace."""
    letters = sorted({*"abcdefghijklmnopqrstuvwxyz0123456789.,!\u0308\u2581", *"ñüéß"})
    vocabulary = {token: number for number, token in enumerate(["<pad>", "<unk>", "<seq>", *letters])}
    merges = [("a", "b"), ("\u2581", "a"), ("\u2581a", "b"), ("c", "d")]
    for pair in merges:
        vocabulary["".join(pair)] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(),
            pre_tokenizers.Punctuation(),
            pre_tokenizers.Digits(individual_digits=True),
        ]
    )
    tokenizer.add_special_tokens(
        [AddedToken("<pad>", normalized=False), AddedToken("<seq>", normalized=False)]
    )
    return tokenizer


def replacing() -> Tokenizer:
    tokenizer = bpe()
    steps = [normalizers.NFKC(), normalizers.Lowercase()]
    steps += [normalizers.Replace(old, new) for old, new in (("ñ", "ab"), ("ab", "c"), ("ü", ""), (".", "d"))]
    steps.append(normalizers.Replace(Regex("[\u0305-\u030a]"), ""))
    tokenizer.normalizer = normalizers.Sequence(steps)
    return tokenizer


def opened(tokenizer: Tokenizer, folder: Path) -> BundleTokenizer:
    tokenizer.save(str(folder / "tokenizer.json"))
    return BundleTokenizer(folder / "tokenizer.json", MOST)


def lists(tokens: Tokens) -> list[list[int]]:
    return [row.tolist() for row in np.split(tokens.ids, np.cumsum(tokens.lengths)[:-1])]


ODD = "ab cab a dog 3.14 x<seq> <seq> <pad>y \u2581a a\u2581 ¨b b¨ 中文 Ünï \u0308 \u200b \u200d ﬁ İ \ud800"
PRE_TOKENS = st.sampled_from([*ODD.split(" "), "\xa0", "\0", "a" * 30])
TEXTS = st.lists(st.lists(PRE_TOKENS | st.text(max_size=4), max_size=8).map(" ".join), min_size=1, max_size=6)


@pytest.mark.parametrize("make", [bpe, replacing])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=TEXTS)
@example(texts=["ab cab", "", "¨b ab", "x ¨b", "ab <seq> ab", "ab " * 30, "ab\u2581 a", "a" * 900])
def test_a_corpus_gets_the_same_tokens_as_its_texts(
    make: Callable[[], Tokenizer], texts: list[str], tmp_path: Path
) -> None:
    tokenizer = opened(make(), tmp_path)
    assert tokenizer._cuts_at_spaces
    assert lists(tokenizer.encode_corpus(texts)) == tokenizer.encode(texts)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.Punctuation()),
        lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.Metaspace(prepend_scheme="first")),
        lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.Metaspace(split=False)),
        lambda t: setattr(t, "normalizer", normalizers.Replace("a b", "c")),
        lambda t: setattr(t, "normalizer", normalizers.Replace(Regex("a.b"), "c")),
        lambda t: setattr(t, "normalizer", normalizers.Replace(Regex("[\t-~]"), "c")),
        lambda t: setattr(t, "post_processor", processors.BertProcessing(("<seq>", 2), ("<pad>", 0))),
        lambda t: t.add_tokens([AddedToken("a b", normalized=False)]),
        lambda t: t.add_tokens([AddedToken("ab", normalized=True)]),
    ],
    ids=["punctuation", "first", "whole", "replaced", "matched", "ranged", "both", "spaced", "normalized"],
)
def test_a_tokenizer_that_looks_beyond_spaces_is_given_whole_texts(
    change: Callable[[Tokenizer], object], tmp_path: Path
) -> None:
    changed = bpe()
    change(changed)
    tokenizer = opened(changed, tmp_path)
    assert not tokenizer._cuts_at_spaces
    texts = ["ab ab a b", "a bc", ""]
    assert lists(tokenizer.encode_corpus(texts)) == tokenizer.encode(texts)
