"""Validation by retrieval between sentences and pictures, without any translations.

Dev pictures are divided among the languages in the same way as training pictures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evaluation.measures.recall import image_sentence_recall
from index.arrays import Vectors
from training.data.captions import CaptionedPictures
from training.data.picture_source import PictureSource
from training.data.tokens import TokenIds, pad
from training.encoders.two_branch import TwoBranch

EMBEDDING_BATCH = 256


@dataclass(frozen=True)
class ValidationSet:
    """Dev pictures, their captions as token ids, and where the pictures come from."""

    data: CaptionedPictures
    tokens: list[TokenIds]
    pictures: PictureSource


def validate(model: TwoBranch, validation: ValidationSet, device: torch.device) -> dict[str, float]:
    """Measure each language among its own pictures: the sum of recalls at 1, 5, 10 both ways (0 to 600)."""
    was_training = model.training
    model.eval()
    texts = embed_texts(model, validation.tokens, device)
    pictures = embed_pictures(model, validation.pictures, len(validation.data.pictures), device)
    model.train(was_training)
    recalls: dict[str, float] = {}
    for language in validation.data.languages:
        rows = [i for i, caption in enumerate(validation.data.captions) if caption.language == language]
        owners = np.asarray([validation.data.captions[i].picture for i in rows])
        picture_rows, positives = np.unique(owners, return_inverse=True)
        recalls[language] = image_sentence_recall(pictures[picture_rows], texts[rows], positives)
    return recalls


@torch.inference_mode()
def embed_texts(model: TwoBranch, tokens: Sequence[TokenIds], device: torch.device) -> Vectors:
    """Embed N sentences, given as token ids: (N, D) unit rows."""
    parts = [
        model.embed_text(*pad(tokens[start : start + EMBEDDING_BATCH], device)).float().cpu().numpy()
        for start in range(0, len(tokens), EMBEDDING_BATCH)
    ]
    return np.concatenate(parts)


@torch.inference_mode()
def embed_pictures(model: TwoBranch, source: PictureSource, count: int, device: torch.device) -> Vectors:
    """Embed the first `count` pictures of a source, unaugmented: (count, D) unit rows."""
    parts = []
    for start in range(0, count, EMBEDDING_BATCH):
        rows = np.arange(start, min(start + EMBEDDING_BATCH, count))
        parts.append(model.embed_pictures(source.plain(rows).to(device)).float().cpu().numpy())
    return np.concatenate(parts)
