"""Sentences without pictures, one language at a time."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evaluation.suites.sets import read_lines
from index.errors import DataError
from training.data.captions import CaptionedPictures


def load_texts(data: Path, name: str, languages: Sequence[str], seed: int) -> dict[str, list[str]]:
    """Language -> the distinct sentences of `text/NAME.LANG.txt`, for those languages that have the file.

    Where the files line up, the lines of two languages are translations; so each language's are shuffled by
    themselves, and which line a sentence came from is lost. DataError where no language has a file.
    """
    found: dict[str, list[str]] = {}
    for language in languages:
        file = data / "text" / f"{name}.{language}.txt"
        if file.is_file():
            lines = sorted(set(read_lines(file)))
            order = np.random.default_rng([seed, *language.encode()]).permutation(len(lines))
            found[language] = [lines[i] for i in order]
    if not found:
        raise DataError(
            f"{data / 'text'}: no {name}.LANG.txt for any of {', '.join(languages)}; add them, or do "
            "without: --set data.texts="
        )
    return found


def data_sha256(captions: CaptionedPictures, texts: Mapping[str, Sequence[str]]) -> str:
    """Identifies what is trained on: the captions, and the sentences beside them where there are any."""
    if not texts:
        return captions.sha256
    digest = hashlib.sha256(captions.sha256.encode())
    for language, sentences in texts.items():
        digest.update("".join(f"{language}\t{sentence}\n" for sentence in sentences).encode())
    return digest.hexdigest()
