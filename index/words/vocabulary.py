"""The words of a language: from its corpus and from the training texts of the encoder bundle."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.encoder.word_list import read_word_list
from index.errors import DamagedError
from index.storage.files import cache_folder, replace_bytes
from index.storage.tables import read_array
from index.text.normalisation import words_of
from index.text.pre_tokens import Numbering, Tokens


def training_words(bundle: Bundle, language: str) -> Counter[str]:
    """How often the words of a bundle's word list occur; empty without one. DamagedError if malformed."""
    file = bundle.words(language)
    return Counter(read_word_list(file).counts) if file else Counter()


def count_words(texts: Sequence[str], language: str) -> dict[str, int]:
    """How often each word occurs in some texts."""
    numbering, counts = Numbering(), Counter[str]()
    occurrences = np.bincount(numbering.of_pre_tokens(texts).ids)
    for pre_token, count in zip(numbering, occurrences.tolist(), strict=True):
        for word in words_of(pre_token, language):
            counts[word] += count
    return dict(counts)


def by_frequency(counts: Mapping[str, int], most: int | None = None) -> dict[str, int]:
    """Words with their counts, most frequent first, ties in alphabetical order; no more than `most`."""
    return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))[:most])


def training_tokens(encoder: TextEncoder) -> dict[str, NDArray[np.float32]]:
    """(vocabulary,) how often each token occurs in the training words of each language of an encoder.

    Tokenising them takes seconds, so the counts are kept in the user's cache, which may be deleted any time.
    They are found by tokenizer and words, which an encoder still has when it was taught another language.
    """
    return {code: _training_tokens(encoder, code) for code in encoder.bundle.manifest.languages}


def _training_tokens(encoder: TextEncoder, language: str) -> NDArray[np.float32]:
    manifest, folder = encoder.bundle.manifest, cache_folder()
    words_file = encoder.bundle.words(language)
    if words_file is None:
        return np.zeros(encoder.vocabulary, np.float32)
    files = [
        manifest.files[file.relative_to(encoder.bundle.folder).as_posix()].sha256
        for file in (encoder.bundle.tokenizer, words_file)
    ]
    key = " ".join([*files, str(manifest.max_tokens), str(manifest.punctuation)])
    path = folder and folder / "tokens" / f"{blake2b(key.encode(), digest_size=16).hexdigest()}.npy"
    with suppress(OSError, DamagedError):
        if path:
            return read_array(path, (encoder.vocabulary,))
    counts = token_counts(encoder, training_words(encoder.bundle, language)).astype(np.float32)
    if path:
        _keep(path, counts)
    return counts


def _keep(path: Path, counts: NDArray[np.float32]) -> None:
    content = BytesIO()
    np.save(content, counts, allow_pickle=False)
    with suppress(OSError):  # with a read-only home, they are counted again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(path, content.getvalue())


def token_counts(encoder: TextEncoder, counts: Mapping[str, int]) -> NDArray[np.float64]:
    """(vocabulary,) how often each token occurs in words that occur `counts` times."""
    tokens = Tokens.of(encoder.tokens(list(counts)))
    weights = np.fromiter(counts.values(), np.float64, len(counts))
    return np.bincount(tokens.ids, weights[tokens.texts], encoder.vocabulary).astype(np.float64)
