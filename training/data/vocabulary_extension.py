"""Extends a vocabulary: by the characters of a language, or by merges of its own tokens.

Text of neither is tokenised as before.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from index.languages import is_unspaced
from index.text.normalisation import clean, words
from training.data.settings import TokenizerSettings
from training.data.tokens import SEQUENCE, UNKNOWN_ID, train_tokenizer

MIN_CHARACTER_COUNT = 2  # occurrences before a character gets a token
LEAST_OCCURRENCES = 5  # of two neighbouring tokens in the texts, before they are joined
FIRST_CHARACTER = 0xF0000  # of the private ones that stand for tokens while merges are learned
MOST_TOKENS = 0x110000 - FIRST_CHARACTER


def extend_vocabulary(
    tokenizer: Tokenizer, texts: Sequence[str], settings: TokenizerSettings, size: int, max_tokens: int
) -> Tokenizer:
    """Add subwords for the characters of `texts` that a tokenizer lacks.

    A BPE of `size` tokens is learned from `texts`; its merges that contain a new character are added with the
    characters. They get ids after all others and merge after all others, so text of known characters is
    tokenised exactly as before.
    """
    new = _unknown_characters(tokenizer, texts)
    if not new:
        return tokenizer
    described = json.loads(tokenizer.to_str())
    fresh = train_tokenizer(
        texts,
        settings.model_copy(update={"vocabulary": size}),
        sequence_token=tokenizer.token_to_id(SEQUENCE) is not None,
        max_tokens=max_tokens,
    )
    _add_merges(described["model"], json.loads(fresh.to_str())["model"], new)
    return Tokenizer.from_str(json.dumps(described))


def grown_vocabulary(tokenizer: Tokenizer, texts: Iterable[str], added: int) -> Tokenizer:
    """Add at most `added` merges of a BPE tokenizer's tokens, as BPE learns them from `texts`.

    They come after its own merges: a text is tokenised as before, and then neighbours are joined. So a new
    token always stands for the same old ones, and an encoder that adds up their vectors knows its vector.
    Tokens are joined within words alone; in scripts without spaces these are ICU's.
    """
    described = json.loads(tokenizer.to_str())
    vocabulary: dict[str, int] = described["model"]["vocab"]
    if len(vocabulary) + added > MOST_TOKENS:
        raise ValueError(f"{len(vocabulary) + added} tokens; at most {MOST_TOKENS} can be told apart")
    spelling = {number: token for token, number in vocabulary.items()}
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    known = "".join(chr(FIRST_CHARACTER + number) for number in spelling)
    trainer = trainers.BpeTrainer(
        vocab_size=len(known) + added,
        min_frequency=LEAST_OCCURRENCES,
        initial_alphabet=list(known),
        show_progress=False,
    )
    learner.train_from_iterator(_lines_of_tokens(tokenizer, texts), trainer)
    for pair in json.loads(learner.to_str())["model"]["merges"]:
        left, right = ("".join(spelling[ord(token) - FIRST_CHARACTER] for token in part) for part in pair)
        vocabulary.setdefault(left + right, len(vocabulary))
        described["model"]["merges"].append([left, right])
    return Tokenizer.from_str(json.dumps(described))


def _unknown_characters(tokenizer: Tokenizer, texts: Sequence[str]) -> set[str]:
    counts = Counter(c for text in texts for c in tokenizer.normalizer.normalize_str(clean(text)))
    vocabulary = tokenizer.get_vocab()
    return {
        c
        for c, count in counts.items()
        if count >= MIN_CHARACTER_COUNT and not c.isspace() and c not in vocabulary
    }


def _add_merges(model: dict[str, object], fresh: dict[str, object], new: set[str]) -> None:
    """Add the characters `new`, and the merges of `fresh` that contain them, to a BPE `model`."""
    vocabulary, merges = model["vocab"], model["merges"]
    fresh_merges = fresh["merges"]
    assert isinstance(vocabulary, dict)
    assert isinstance(merges, list)
    assert isinstance(fresh_merges, list)
    for character in sorted(new):
        vocabulary[character] = len(vocabulary)
    for left, right in fresh_merges:
        if new & set(left + right) and left in vocabulary and right in vocabulary:
            vocabulary.setdefault(left + right, len(vocabulary))
            merges.append([left, right])


def _lines_of_tokens(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterator[str]:
    """Each text's words, each a character a token; words of one token, or with unknown ones, left out."""

    @cache
    def of_word(word: str) -> str:
        numbers = [token.id for token in tokenizer.model.tokenize(word)]
        if len(numbers) < 2 or UNKNOWN_ID in numbers:
            return ""
        return "".join(chr(FIRST_CHARACTER + number) for number in numbers)

    for text in texts:
        normal = tokenizer.normalizer.normalize_str(clean(text))
        parts = (part for part, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal))
        if line := " ".join(filter(None, (of_word(word) for part in parts for word in _words(part)))):
            yield line


def _words(part: str) -> list[str]:
    """The words of what the tokenizer takes for one: several in a script without spaces."""
    return words(part, "und") if is_unspaced(part[-1]) else [part]
