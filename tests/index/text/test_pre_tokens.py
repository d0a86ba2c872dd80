"""Tokens of a corpus, each piece tokenised once: the same as the tokenizer's own, whatever the text."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.storage.tables import strings
from index.text import pre_tokens as pieces
from index.text.normalisation import clean
from index.text.pre_tokens import Memory, Pieces, Recent, Tokens, slices
from tests.bundles import FILLERS, sentences

MOST, LONGEST = 12, 60


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
    tokenizer.enable_truncation(MOST)
    return tokenizer


def with_first() -> Tokenizer:
    tokenizer = bpe()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<seq> <pad> $A", special_tokens=[("<seq>", 2), ("<pad>", 0)]
    )
    return tokenizer


def romanised() -> Tokenizer:
    tokenizer = bpe()
    steps = [normalizers.NFKC(), normalizers.Lowercase()]
    steps += [normalizers.Replace(old, new) for old, new in (("ñ", "ab"), ("ab", "c"), ("ü", ""), (".", "d"))]
    tokenizer.normalizer = normalizers.Sequence(steps)
    return tokenizer


def by_words() -> Tokenizer:
    words = {word: number for number, word in enumerate(["[UNK]", *FILLERS, "##s", "dog", "d"])}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.enable_truncation(MOST)
    return tokenizer


def plainly(tokenizer: Tokenizer) -> Callable[[Sequence[str]], list[list[int]]]:
    """As the encoder does it."""
    return lambda texts: [
        found.ids or [1] for found in tokenizer.encode_batch([clean(t[:LONGEST]) for t in texts])
    ]


def lists(tokens: Tokens) -> list[list[int]]:
    return [found.tolist() for found in np.split(tokens.every, np.cumsum(tokens.lengths)[:-1])]


ODD = "ab cab a dog 3.14 x<seq> <seq> <pad>y \u2581a a\u2581 ¨b b¨ 中文 Ünï \u0308 \u200b \u200d ﬁ İ \ud800"
PIECES = st.sampled_from([*ODD.split(" "), "\xa0", "\0", "a" * 30])
TEXTS = st.lists(st.lists(PIECES | st.text(max_size=4), max_size=8).map(" ".join), min_size=1, max_size=6)


@pytest.mark.parametrize("make", [bpe, with_first, romanised, by_words])
@given(rounds=st.lists(TEXTS, min_size=1, max_size=3))
@example(rounds=[["ab cab", ""], ["¨b ab", "x ¨b", "ab <seq> ab", "ab " * 30, "ab\u2581 a"]])
def test_tokens_are_those_of_the_tokenizer(make: Callable[[], Tokenizer], rounds: list[list[str]]) -> None:
    tokenizer = make()
    tokenize = plainly(tokenizer)
    memory = Memory(tokenizer, tokenize, LONGEST, MOST)
    assert memory.usable
    for texts in rounds:
        assert lists(memory.tokens(texts)) == tokenize(texts)


@pytest.mark.parametrize("make", [bpe, with_first, romanised, by_words])
@given(rounds=st.lists(TEXTS, min_size=1, max_size=3))
@example(rounds=[["ab cab", ""], ["¨b ab", "x ¨b", "ab <seq> ab", "ab " * 30, "ab\u2581 a"], ["a" * 50]])
def test_those_of_a_few_texts_are_too(make: Callable[[], Tokenizer], rounds: list[list[str]]) -> None:
    tokenizer = make()
    tokenize = plainly(tokenizer)
    recent = Recent(Memory(tokenizer, tokenize, LONGEST, MOST))
    for texts in rounds + rounds:
        assert recent.tokens(texts) == tokenize(texts)


def test_what_is_remembered_of_a_few_texts_has_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "RECENT", 30)
    tokenizer = by_words()
    recent = Recent(Memory(tokenizer, plainly(tokenizer), LONGEST, MOST))
    for start in range(0, 10_000, 100):
        texts = [str(number) for number in range(start, start + 100)] + ["d" * (pieces.LONG + 1)]
        assert recent.tokens(texts) == plainly(tokenizer)(texts)
        assert len(recent) <= 30 + pieces.LEARNED


def test_threads_may_ask_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "RECENT", 30)
    tokenizer = by_words()
    recent = Recent(Memory(tokenizer, plainly(tokenizer), LONGEST, MOST))
    asked = [[f"{number} dogs {number % 40}", "a dog"] for number in range(400)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(recent.tokens, asked)) == list(map(plainly(tokenizer), asked))


@pytest.mark.parametrize(
    "odd", ["¨b", "x\u2581", "<pad>", "<PAD>", "a<seq>", "", " ", "a b", "a\u200b", "\xa0"]
)
def test_words_that_are_not_in_a_text_as_alone_are_not_put_into_one(odd: str) -> None:
    memory = Memory(bpe(), plainly(bpe()), LONGEST, MOST)
    assert memory.apart(["ab", "3.14", "中文", "l'ab"])
    assert not memory.apart(["ab", odd, "cd"])


@pytest.mark.parametrize("make", [bpe, by_words])
@given(st.lists(PIECES | st.text(max_size=4), max_size=6))
@example(["<PAD>", "ab"])
def test_words_apart_have_the_tokens_that_each_has_alone(
    make: Callable[[], Tokenizer], words: list[str]
) -> None:
    tokenizer = make()
    memory = Memory(tokenizer, plainly(tokenizer), LONGEST, MOST)
    tokenizer.no_truncation()
    if memory.apart(words):
        alone = [tokenizer.encode(clean(word), add_special_tokens=False).ids for word in words]
        together = tokenizer.encode(clean(" ".join(words)), add_special_tokens=False).ids
        assert together == [token for tokens in alone for token in tokens]


def test_what_is_known_is_not_tokenised_again_and_forgotten_when_it_is_much(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    encoder = TextEncoder(bundle)
    memory = encoder.memory
    learn = memory._certain
    monkeypatch.setattr(memory, "_certain", lambda piece: asked.append(piece) or learn(piece))
    texts = sentences("en")[:50]
    for _ in range(2):
        assert lists(memory.tokens(texts)) == encoder.whole_tokens(texts)
    assert sorted(asked) == sorted({piece for text in texts for piece in text.split()})
    monkeypatch.setattr(pieces, "MOST", 3)
    before = len(asked)
    assert lists(memory.tokens(texts)) == encoder.whole_tokens(texts)
    assert len(asked) == 2 * before


@pytest.mark.parametrize(
    "change",
    [
        lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.Punctuation()),
        lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.Metaspace(prepend_scheme="first")),
        lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.Metaspace(split=False)),
        lambda t: setattr(t, "normalizer", normalizers.Replace("a b", "c")),
        lambda t: setattr(t, "post_processor", processors.BertProcessing(("<seq>", 2), ("<pad>", 0))),
        lambda t: t.add_tokens([AddedToken("a b", normalized=False)]),
        lambda t: t.add_tokens([AddedToken("ab", normalized=True)]),
        lambda t: t.no_truncation(),
        lambda t: t.enable_truncation(MOST, direction="left"),
    ],
    ids=["punctuation", "first", "whole", "replaced", "both", "spaced", "normalized", "endless", "left"],
)
def test_a_tokenizer_that_looks_beyond_spaces_is_asked_itself(change: Callable[[Tokenizer], object]) -> None:
    tokenizer = bpe()
    change(tokenizer)
    tokenize = plainly(tokenizer)
    memory = Memory(tokenizer, tokenize, LONGEST, MOST)
    assert not memory.usable
    texts = ["ab ab a b", "a bc", ""]
    assert lists(memory.tokens(texts)) == tokenize(texts)


def test_pieces_are_numbered_as_they_come() -> None:
    known = Pieces()
    assert lists(known.numbered(["a b", "", "b  c a"])) == [[0, 1], [], [1, 2, 0]]
    assert lists(known.numbered(["c d"])) == [[2, 3]]


@given(st.lists(st.text("ab é \u3000\u200d\t狗", max_size=6) | st.just("a b"), min_size=1, max_size=5))
def test_pieces_are_what_stands_between_white_space(texts: list[str]) -> None:
    known = Pieces()
    found = lists(known.numbered(texts))
    # In the middle of an array, as they are in a batch of a file.
    assert lists(Pieces().numbered(strings(["a  b", *texts, "c"]).slice(1, len(texts)))) == found
    names = list(known)
    assert [[names[number] for number in row] for row in found] == [text.split() for text in texts]
    assert names == list(dict.fromkeys(piece for text in texts for piece in text.split()))


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=6), st.data())
def test_tokens_of_some_texts(texts: list[list[int]], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1))
    tokens = Tokens.of(texts)
    assert lists(tokens) == texts
    assert lists(tokens.take(np.array(rows))) == [texts[row] for row in rows]
    assert slices(np.array([5, 0]), np.array([2, 3])).tolist() == [5, 6, 0, 1, 2]
