"""A vocabulary with room for one more language, in which all other text is spelled as it was."""

import json
from collections import Counter
from collections.abc import Sequence

from tokenizers import Tokenizer

from index.text.normalisation import clean
from training.data.settings import TokenizerSettings
from training.data.tokens import SEQUENCE, train_tokenizer

LEAST_SIGHTINGS = 2  # of a character, for it to be worth a subword


def extend_vocabulary(
    tokenizer: Tokenizer, texts: Sequence[str], settings: TokenizerSettings, size: int, max_tokens: int
) -> Tokenizer:
    """The tokenizer, with subwords for what it cannot spell in `texts`.

    New are characters that the vocabulary lacks and merges whose result has such a character, as a BPE of
    `size` learned from `texts` alone has them. They get ids after all others and merge after all others, so
    text of known characters is spelled exactly as before.
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
    _take_over(described["model"], json.loads(fresh.to_str())["model"], new)
    return Tokenizer.from_str(json.dumps(described))


def _unknown_characters(tokenizer: Tokenizer, texts: Sequence[str]) -> set[str]:
    counts = Counter(c for text in texts for c in tokenizer.normalizer.normalize_str(clean(text)))
    vocabulary = tokenizer.get_vocab()
    return {
        c
        for c, count in counts.items()
        if count >= LEAST_SIGHTINGS and not c.isspace() and c not in vocabulary
    }


def _take_over(model: dict[str, object], fresh: dict[str, object], new: set[str]) -> None:
    """Add to a BPE model, as `tokenizers` describes it, the characters `new` and another's merges of them."""
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
