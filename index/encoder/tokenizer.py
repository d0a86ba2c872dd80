"""BundleTokenizer: texts to the token ids that an encoder reads."""

import json
import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from index.arrays import Numbers
from index.encoder.bundle import Bundle
from index.errors import DamagedError
from index.text.normalisation import as_encoded, clean
from index.text.pre_tokens import Tokens

# Longer than any token, so cutting texts before tokenising removes nothing that the model would see.
CHARACTERS_A_TOKEN = 64
PRE_TOKENS_CACHED = 1 << 16
METASPACE = "\u2581"  # stands for a space in tokens
LETTER_CLASS = re.compile(r"\[[^]\[\\^]+\]")  # a regular expression that matches one character of a set
CUT_AT_SPACES = {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "always", "split": True}


class BundleTokenizer:
    """The tokenizer of a bundle: cleans texts and cuts them to `most` tokens."""

    def __init__(self, path: Path, most: int, *, punctuation: bool = False, prefix: str = "") -> None:
        """Read a tokenizer.json; `punctuation` keeps it in texts, `prefix` comes before each encoded text.

        Raises DamagedError if `path` is not a tokenizer.
        """
        self._tokenizer = _open(path)
        padding = self._tokenizer.padding
        self.pad = int(padding["pad_id"]) if padding else 0
        self.unknown = _unknown(self._tokenizer, self.pad)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(most)
        self._most = most
        self._punctuation, self._prefix = punctuation, prefix

    @classmethod
    def of(cls, bundle: Bundle) -> "BundleTokenizer":
        """The tokenizer of a bundle with the options in its manifest, opened once: it takes half a second."""
        manifest = bundle.manifest
        opened = _OPENED.get(manifest.digest)
        if opened is None:
            opened = _OPENED[manifest.digest] = cls(
                bundle.tokenizer,
                manifest.max_tokens,
                punctuation=manifest.punctuation,
                prefix=manifest.prefix,
            )
        return opened

    @property
    def vocabulary(self) -> int:
        """The number of tokens."""
        return self._tokenizer.get_vocab_size()

    @cached_property
    def special(self) -> Numbers:
        """The tokens that are added to every text."""
        return np.unique(np.array(self._tokenizer.encode(self._prefix).ids, np.int64))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text for the encoder, with special tokens; never empty."""
        prefixed = [self._prefix + text for text in self._clean(texts)]
        return [encoding.ids or [self.unknown] for encoding in self._tokenizer.encode_batch_fast(prefixed)]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, without special tokens; may be empty."""
        encoded = self._tokenizer.encode_batch_fast(self._clean(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encoded]

    def encode_corpus(self, texts: Sequence[str]) -> Tokens:
        """Encode the texts of a corpus as `encode` does, caching the tokens of pre-tokens, which recur.

        Used only if the tokens of a text are those of its pre-tokens; other texts are encoded as they are.
        """
        if not self._cuts_at_spaces:
            return Tokens.of(self.encode(texts))
        cleaned = self._clean(texts)
        rows = list(map(self._joined, cleaned))
        whole = [number for number, row in enumerate(rows) if not 0 < len(row) <= self._most]
        for number, row in zip(whole, self.encode([cleaned[number] for number in whole]), strict=True):
            rows[number] = row
        return Tokens.of(rows)

    def _joined(self, text: str) -> list[int]:
        """The tokens of a text's pre-tokens, concatenated; empty if those of one pre-token are uncertain."""
        parts = list(map(self._tokens_of, text.split(" ")))
        return [] if () in parts else list(chain.from_iterable(parts))

    @cached_property
    def _tokens_of(self) -> Callable[[str], tuple[int, ...]]:
        """A cached function pre-token -> tokens; it returns none if they might be different within a text."""

        @lru_cache(PRE_TOKENS_CACHED)
        def tokens_of(pre_token: str) -> tuple[int, ...]:
            if not self._stands_alone(pre_token):
                return ()
            return tuple(self._tokenizer.encode(pre_token, add_special_tokens=False).ids)

        return tokens_of

    def _clean(self, texts: Sequence[str]) -> list[str]:
        longest = self._most * CHARACTERS_A_TOKEN
        cleaned = [clean(text[:longest]) for text in texts]
        return cleaned if self._punctuation else list(map(as_encoded, cleaned))

    @cached_property
    def _cuts_at_spaces(self) -> bool:
        """Whether the tokens of a text are always those of its pre-tokens, as with the shipped tokenizers."""
        own, small = self._tokenizer, Tokenizer(WordLevel({}, ""))  # to write a vocabulary takes long
        for part in ("normalizer", "pre_tokenizer", "post_processor"):
            if getattr(own, part) is not None:
                setattr(small, part, getattr(own, part))
        rules: dict[str, Any] = json.loads(small.to_str())
        normalizers, cuts = _steps(rules, "normalizer"), _steps(rules, "pre_tokenizer")
        return (
            all(map(_keeps_to_words, normalizers))
            and cuts[:1] == [CUT_AT_SPACES]
            and rules["post_processor"] is None
            and not self._prefix
            and not any(
                token.normalized or " " in token.content for token in own.get_added_tokens_decoder().values()
            )
        )

    @cached_property
    def _not_alone(self) -> re.Pattern[str]:
        """Matches spaces, and added tokens such as <pad>, which are recognised anywhere in a text."""
        added = [token.content for token in self._tokenizer.get_added_tokens_decoder().values()]
        return re.compile("|".join(map(re.escape, [" ", METASPACE, *added])))

    def _stands_alone(self, pre_token: str) -> bool:
        """Whether a pre-token has the same tokens by itself as within a text."""
        normalizer = None if pre_token.isascii() else self._tokenizer.normalizer
        normal = normalizer.normalize_str(pre_token) if normalizer else pre_token
        return bool(normal) and not (self._not_alone.search(pre_token) or self._not_alone.search(normal))


_OPENED = WeakValueDictionary[str, BundleTokenizer]()  # by the digest of the bundle's manifest


def _steps(rules: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The steps of a normaliser or pre-tokenizer, which may be nothing, one step or a sequence."""
    rule: dict[str, Any] | None = rules[kind]
    if rule is None:
        return []
    steps: list[dict[str, Any]] = rule.get(f"{kind.replace('_', '')}s", [rule])
    return steps


def _keeps_to_words(step: dict[str, Any]) -> bool:
    """Whether a step of a normaliser treats each word independently of the others."""
    if step["type"] == "Replace":
        text = step["pattern"].get("String") or step["pattern"]["Regex"]
        if "Regex" in step["pattern"] and (not LETTER_CLASS.fullmatch(text) or re.match(text, " ")):
            return False
        return not {" ", METASPACE} & set(text + step["content"])
    return step["type"] in ("NFKC", "Lowercase")


def _open(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises plain Exception
        raise DamagedError(f"{path}: tokenizers cannot read it ({error}): export it again") from error


def _unknown(tokenizer: Tokenizer, pad: int) -> int:
    """The token that represents a text without tokens."""
    name = getattr(tokenizer.model, "unk_token", None)
    token = tokenizer.token_to_id(name) if name else None
    return pad if token is None else token
