"""Extends a vocabulary by a language; all other text is tokenised as before."""

import json
from collections import Counter
from collections.abc import Sequence

from tokenizers import Tokenizer

from index.text.normalisation import clean
from training.data.settings import TokenizerSettings
from training.data.tokens import SEQUENCE, train_tokenizer

MIN_CHARACTER_COUNT = 2  # occurrences before a character gets a token


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
