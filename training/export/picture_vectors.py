"""Embeds the pictures of a split with a finished run, for image-sentence retrieval."""

from pathlib import Path

import torch

from evaluation.suites.retrieval import PictureVectors
from training.data.captions import CaptionedPictures
from training.data.folder import DataFolder
from training.data.picture_sets import read_members
from training.data.settings import PHOTO_SET
from training.encoders.vision import load_backbone
from training.loop.model import load_model
from training.loop.prepare import picture_sources, training_captions
from training.loop.run import open_run
from training.loop.validation import embed_pictures


def picture_vectors(folder: Path, data: Path, split: str) -> PictureVectors:
    """Embed the photographs of a split, which `evaluate retrieval` reads, by a finished run's best model.

    `data` is what the run was trained on. Raises UsageError if it has not finished, DataError if a picture is
    missing.
    """
    run = open_run(folder)
    result = run.result()
    names = tuple(read_members(data, PHOTO_SET, split))
    model = load_model(run, data)
    archive = DataFolder(data).pictures(run.recipe.data, run.recipe.vision.image_size)
    archive.require(names)
    backbone = model.backbone or load_backbone(run.recipe.vision.backbone, data)
    sources = picture_sources(
        run, archive, backbone, training_captions(run, data), CaptionedPictures(names, ())
    )
    with torch.inference_mode():
        vectors = embed_pictures(model, sources[1], len(names), torch.device("cpu"))
    files = tuple(name.removeprefix(f"{PHOTO_SET}/") for name in names)
    return PictureVectors(files, vectors, split, run.recipe.sha256, str(result["data_sha256"]))
