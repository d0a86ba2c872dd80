"""Turns a recipe and a data folder into the source of batches that the loop trains on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from index.arrays import Vectors
from index.encoder.bundle import PICTURE_SPACE, TOKENIZER
from index.encoder.lineage import Lineage
from index.encoder.picture_space import PictureSpace
from index.errors import DataError
from index.storage.files import replace_text
from training.data.augmented_pictures import AugmentedPictures
from training.data.auxiliary import SUPPLIERS
from training.data.captions import CaptionedPictures, load_split, shuffled
from training.data.folder import data_sha256, joined, open_pictures, texts_by_name
from training.data.picture_sets import epoch_shares, move_onto_first_set
from training.data.picture_source import FixedFeatures, PictureSource
from training.data.pictures import PictureCollection
from training.data.sampler import PictureSampler
from training.data.terms import data_terms, require_open
from training.data.tokens import balanced, tokenize, train_tokenizer
from training.data.training_data import TrainingData, with_captions
from training.encoders.base import EncoderSettings, pick_device
from training.encoders.features import features_of_collection
from training.encoders.picture_space import fit_picture_space, take_over
from training.encoders.stored import BEST, Start
from training.encoders.vision import Backbone, load_backbone
from training.loop.checkpoint import load_best
from training.loop.model import build_model
from training.loop.run import LINEAGE, Run, lineage_of
from training.loop.source import CaptionSource
from training.loop.validation import ValidationSet, embed_texts


def prepare(run: Run, data: Path) -> CaptionSource:
    """Read the data, learn or reopen the vocabulary, compute features, build the model (seeded)."""
    recipe, text = run.recipe, run.recipe.text.located(data)
    note_lineage(run, data)
    train, dev = (load_split(data, split, recipe.data) for split in ("train", "dev"))
    archive = open_pictures(data, recipe.data, recipe.vision.image_size)
    named = texts_by_name(data, recipe.data, recipe.seed)
    texts = joined(named)
    train = _captions_of_run(run, train, texts)
    archive.require(train.pictures + dev.pictures)
    tokenizer = vocabulary(run, train, texts, text)
    torch.manual_seed(recipe.seed)
    backbone = load_backbone(recipe.vision.backbone, data)
    width = backbone.width(recipe.vision.image_size)
    start = text.goes_on_from()
    if recipe.vision.space == "whitened" and isinstance(start, Start):
        _take_over_picture_space(run, start, backbone)
    pictures, dev_pictures = picture_sources(run, archive, backbone, train, dev)
    tuned = backbone if recipe.vision.training == "tuned" else None
    torch.manual_seed(recipe.seed)
    device = pick_device()
    model = build_model(recipe, data, tokenizer.get_vocab_size(), width, tuned).to(device)
    tokens = tokenize(tokenizer, train.texts)
    tokens_of_texts = {code: tokenize(tokenizer, lines) for code, lines in texts.items()}
    learned = TrainingData(
        languages=recipe.data.languages,
        seed=recipe.seed,
        tokenizer=tokenizer,
        captions=train,
        tokens=tokens,
        texts=texts,
        sentences=with_captions(tokens_of_texts, train, tokens),
        text_sizes={name: {code: len(rows) for code, rows in of.items()} for name, of in named.items()},
        picture_space=lambda: pictures.plain(np.arange(len(train.pictures))).numpy(),
        mine_captions=recipe.mining is None or recipe.mining.captions,
        trained=recipe.mining.languages if recipe.mining else (),
    )
    model.text.initialise(learned)
    if isinstance(start, Path):
        load_best(start / BEST, model)
        learned = replace(learned, embed=lambda rows: embed_texts(model.eval(), rows, device))
    inputs = sorted({name for objective in recipe.objectives.values() for name in objective.inputs})
    made = ((name, SUPPLIERS[name](learned)) for name in inputs)
    sampler = PictureSampler(
        train,
        recipe.optimiser.batch_size,
        recipe.seed,
        recipe.data.anchors,
        epoch_shares(train.pictures, recipe.data.weights),
    )
    return CaptionSource(
        run,
        learned,
        sha256=data_sha256(train, texts),
        pictures=pictures,
        sampler=sampler,
        suppliers={name: supplier for name, supplier in made if supplier is not None},
        validation=ValidationSet(dev, tokenize(tokenizer, dev.texts), dev_pictures),
        model=model,
        device=device,
    )


def note_lineage(run: Run, data: Path) -> None:
    """Write down what a run learns from, and what it goes on from did, before that is gone or replaced.

    DataError if the recipe asks for open licences and one of these has none.
    """
    text = run.recipe.text.located(data)
    lineage = Lineage(sources=data_terms(data, run.recipe.data))
    if start := getattr(text, text.folder_key):
        lineage = lineage_of(Path(start)).joined(lineage)
    require_open(lineage.sources, run.recipe.data)
    if not (run.folder / LINEAGE).is_file():
        replace_text(run.folder / LINEAGE, lineage.model_dump_json(indent=1) + "\n")


def training_captions(run: Run, data: Path) -> CaptionedPictures:
    """The captions that the run is trained on. UsageError if `data` is not what the run began with."""
    captions = load_split(data, "train", run.recipe.data)
    return _captions_of_run(run, captions, training_texts(run, data))


def training_texts(run: Run, data: Path) -> dict[str, list[str]]:
    """Language -> the sentences without pictures that the run is trained on."""
    return joined(texts_by_name(data, run.recipe.data, run.recipe.seed))


def _captions_of_run(
    run: Run, train: CaptionedPictures, texts: Mapping[str, Sequence[str]]
) -> CaptionedPictures:
    if without := sorted(set(run.recipe.data.rotation or run.recipe.data.languages) - set(train.languages)):
        raise DataError(f"no training picture has a caption in {', '.join(without)}")
    if run.recipe.data.shuffle_pictures:
        train = shuffled(train, run.recipe.seed)
    run.bind(data_sha256(train, texts))
    return train


def vocabulary(
    run: Run, train: CaptionedPictures, texts: Mapping[str, Sequence[str]], encoder: EncoderSettings
) -> Tokenizer:
    """The run's tokenizer: the encoder's own, or one learned from captions and texts when the run begins."""
    if (run.folder / TOKENIZER).is_file():
        return run.tokenizer()
    recipe = run.recipe
    by_language = with_captions({}, train, train.texts)
    for language, sentences in texts.items():
        by_language.setdefault(language, []).extend(sentences)
    lines = balanced(by_language, recipe.tokenizer.language_temperature)
    tokenizer = encoder.own_tokenizer(lines) or train_tokenizer(
        lines,
        recipe.tokenizer,
        sequence_token=recipe.text.reads_sequence_token,
        max_tokens=recipe.text.max_tokens,
    )
    replace_text(run.folder / TOKENIZER, tokenizer.to_str(pretty=True))
    return tokenizer


def picture_sources(
    run: Run,
    pictures: PictureCollection,
    backbone: Backbone,
    train: CaptionedPictures,
    dev: CaptionedPictures,
) -> tuple[PictureSource, PictureSource]:
    """Sources of training and dev pictures, in the run's whitened space if it has one.

    The space is fitted to the training pictures the first time, and kept in the run's folder.
    """
    vision = run.recipe.vision
    if vision.training == "tuned":
        train_source, dev_source = (
            AugmentedPictures(pictures, names, backbone.scale, vision.views, pick_device())
            for names in (train.pictures, dev.pictures)
        )
        return train_source, dev_source
    names = train.pictures + dev.pictures
    features = features_of_collection(backbone, pictures, names, vision.views)
    move_onto_first_set(features, names, len(train.pictures))
    parts = np.split(features, [len(train.pictures)], axis=1)
    if vision.space == "whitened":
        space = _picture_space(run, backbone, parts[0])
        parts = [space.of_views(part) for part in parts]
    count = 2 if vision.gives_two_views else 1  # whichever objectives an ablation leaves
    train_features, dev_features = (
        FixedFeatures(part, count=count, average=vision.average_views) for part in parts
    )
    return train_features, dev_features


def _take_over_picture_space(run: Run, start: Start, backbone: Backbone) -> None:
    """Keep the picture space of what the run goes on from, if it has one, as its own if that has none yet.

    UsageError if the recipe's cannot be the same.
    """
    if (run.folder / PICTURE_SPACE).is_file():
        return
    if space := take_over(start, backbone, run.recipe.vision, run.recipe.head.dimension):
        run.keep_picture_space(space)


def _picture_space(run: Run, backbone: Backbone, train: Vectors) -> PictureSpace:
    """The run's picture space, fitted to the training pictures (V, N, F) and kept if it has none yet."""
    recipe = run.recipe
    if not (run.folder / PICTURE_SPACE).is_file():
        fitted = fit_picture_space(backbone, train, recipe.vision, recipe.head.dimension, recipe.seed)
        run.keep_picture_space(fitted)
    return run.picture_space()  # as a resumed run reads it
