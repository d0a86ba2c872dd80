"""What a text encoder is told of the data before its first step, where it asks for that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import nn

from training.data.companions import CompanionSource
from training.data.first_words import first_words
from training.data.picture_source import PictureSource
from training.encoders.adapted import Adapted
from training.encoders.bag import Bag
from training.encoders.hybrid import Hybrid
from training.encoders.hybrid_words import begin_hybrid
from training.encoders.picture_verified import verified_rows
from training.encoders.universal import Universal
from training.recipes.recipe import Recipe

Rows = NDArray[np.int32]


@dataclass(frozen=True)
class Known:
    """The data of a run: `sentences`, language -> token ids of all its sentences; `tokens`, the token ids of
    the captions of pictures; `companions`, whose these are; `pictures`, what they show."""

    recipe: Recipe
    data: Path
    tokenizer: Tokenizer
    sentences: Mapping[str, list[Rows]]
    tokens: Sequence[Rows]
    companions: CompanionSource
    pictures: PictureSource


def begin(encoder: nn.Module, known: Known) -> None:
    """Teach an encoder the languages, and give it its words, where it has such parts."""
    languages = known.recipe.data.languages
    if isinstance(encoder, Adapted | Bag | Hybrid | Universal):
        learn_languages(encoder, languages, known.sentences)
    if isinstance(encoder, Bag) and encoder.settings.embeddings == "picture-verified":
        _verify_sharing(encoder, known)
    if isinstance(encoder, Hybrid):
        captions = known.tokens, known.companions
        begin_hybrid(
            encoder, known.tokenizer, known.data, known.sentences, languages, captions, known.recipe.seed
        )
    if isinstance(encoder, Universal):
        _give_words(encoder, known)


def learn_languages(
    encoder: Adapted | Bag | Hybrid | Universal,
    languages: Sequence[str],
    sentences: Mapping[str, list[Rows]],
) -> None:
    """Teach an encoder that tells languages apart what each looks like."""
    rows = [row for language in languages for row in sentences.get(language, ())]
    counts = [len(sentences.get(language, ())) for language in languages]
    encoder.learn_languages(rows, np.repeat(np.arange(len(languages)), counts))


def _verify_sharing(encoder: Bag, known: Known) -> None:
    companions, count = known.companions, len(known.tokens)
    encoder.share(
        verified_rows(
            known.tokens,
            companions.languages[:count],
            companions.pictures[:count],
            known.pictures.plain(np.arange(companions.pictures.max() + 1)).numpy(),
            shape=(encoder.vocabulary, encoder.rows.shape[1]),
            false_discovery_rate=encoder.settings.false_discovery_rate,
        )
    )


def _give_words(encoder: Universal, known: Known) -> None:
    settings, recipe = encoder.settings, known.recipe
    languages, sentences = recipe.data.languages, known.sentences
    encoder.take_words(
        first_words(
            settings.vectors, known.data, languages, known.tokenizer, sentences, settings.words, recipe.seed
        )
    )
