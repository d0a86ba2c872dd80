"""Training data made of token ids alone, for encoders that learn from them before the first step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models

from training.data.captions import CaptionedPictures
from training.data.training_data import TrainingData


def spoken(sentences: Sequence[Sequence[int] | NDArray[np.int32]], languages: Sequence[int]) -> TrainingData:
    """Sentences and the place of each one's language."""
    names = tuple(f"l{place}" for place in range(max(languages) + 1))
    by_language: dict[str, list[NDArray[np.int32]]] = {name: [] for name in names}
    for sentence, place in zip(sentences, languages, strict=True):
        by_language[names[place]].append(np.asarray(sentence, np.int32))
    empty: Any = CaptionedPictures((), ())
    return TrainingData(names, 0, Tokenizer(models.BPE()), empty, [], sentences=by_language)
