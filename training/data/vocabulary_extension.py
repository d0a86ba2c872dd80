"""Extends a vocabulary by merges of its own tokens."""

import json
from collections.abc import Iterable, Iterator
from functools import cache

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from index.languages import is_unspaced
from index.text.normalisation import clean, words
from training.data.tokens import UNKNOWN_ID

LEAST_OCCURRENCES = 5  # of two neighbouring tokens in the texts, before they are joined
FIRST_CHARACTER = 0x20000  # of those that stand for tokens while merges are learned: no space is above it
MOST_TOKENS = 0x110000 - FIRST_CHARACTER


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
