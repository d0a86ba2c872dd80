"""What word embeddings begin as: vectors of each language's words, of one length on average."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from index.errors import DataError
from training.data.context_vectors import word_vectors

Vectors = NDArray[np.float32]


def first_words(
    folder: str,
    data: Path,
    languages: Sequence[str],
    tokenizer: Tokenizer,
    sentences: Mapping[str, Sequence[NDArray[np.int32]]],
    width: int,
    seed: int,
) -> list[Vectors]:
    """(vocabulary, width) of each language, in their order; zeros for words that have none.

    From LANG.vec in `folder`, looked for below `data`, then as it stands; of a language without one, and
    where `folder` is "", from its sentences' token ids (training.data.context_vectors). Lengths are 1 on
    average, so that no language's words are louder than another's.
    """
    place = next((path for path in (data / folder, Path(folder)) if path.is_dir()), None) if folder else None
    if folder and place is None:
        raise DataError(f"text.vectors {folder}: no folder of that name, in the data or elsewhere")
    words = [tokenizer.id_to_token(number) or "" for number in range(tokenizer.get_vocab_size())]
    told = {language: sentences.get(language, ()) for language in languages}
    found = word_vectors(place, words, told, width, seed)
    return [_of_mean_length_one(found[language]) for language in languages]


def _of_mean_length_one(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1)
    some = lengths > 0
    return vectors / lengths[some].mean() if some.any() else vectors
