"""From a recipe and a data folder to everything a loop needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from index.encoder.vectors import unit
from index.errors import DataError
from index.storage.files import replace_text
from training.data.captions import CaptionedPictures, load_split, shuffled
from training.data.companions import CompanionSource
from training.data.features import features_of_collection
from training.data.halves import HalvesSource
from training.data.pictograms import is_drawing, move_onto_photographs, open_artists
from training.data.picture_source import AugmentedPictures, FixedFeatures, PictureSource
from training.data.pictures import PictureArchive, PictureCollection
from training.data.pseudopairs import PseudopairSource
from training.data.sampler import PictureSampler
from training.data.skipped import Skipped, find_bad_pictures
from training.data.stream import Inventory, Stream
from training.data.texts import data_sha256, load_texts
from training.data.tokens import balanced, tokenize, train_tokenizer
from training.data.transfer import Given, GivenSampler, paired_source, read_given, with_given
from training.data.whitening import fit_whitening
from training.encoders.initialisation import Known, begin
from training.encoders.pretrained import check_vocabulary, load_text, own_tokenizer
from training.encoders.vision import Backbone, load_backbone
from training.loop.checkpoint import load_best
from training.loop.model import TwoBranch, pick_device
from training.loop.run import Run
from training.loop.validation import ValidationSet
from training.recipes.recipe import Recipe


@dataclass(frozen=True)
class Prepared:
    """Data, model and device of a run, before its first step."""

    data: CaptionedPictures
    sha256: str
    tokens: Sequence[NDArray[np.int32]]
    pictures: PictureSource
    sampler: PictureSampler | GivenSampler
    companions: CompanionSource
    pseudopairs: PseudopairSource | None
    halves: HalvesSource | None
    validation: ValidationSet
    model: TwoBranch
    device: torch.device
    skipped: Skipped


def prepare(run: Run, data: Path) -> Prepared:
    """Read the data, learn or reopen the vocabulary, compute features, build the model (seeded)."""
    recipe = run.recipe
    whole = {split: load_split(data, split, recipe.data) for split in ("train", "dev")}
    archive = open_pictures(data, recipe)
    skipped = skipped_pictures(run, archive, [name for part in whole.values() for name in part.pictures])
    texts = training_texts(run, data)
    train, dev = _of_run(run, whole["train"], skipped, texts), whole["dev"].without(skipped.names)
    archive.require(train.pictures + dev.pictures)
    tokenizer = vocabulary(run, train, texts, own_tokenizer(recipe.text, data))
    torch.manual_seed(recipe.seed)
    backbone = load_backbone(recipe.vision.backbone, data)
    width = backbone.width(recipe.vision.image_size)
    sources = picture_sources(run, archive, backbone, train, dev)
    tuned = backbone if recipe.vision.training == "tuned" else None
    device = pick_device()
    torch.manual_seed(recipe.seed)
    pretrained = load_text(recipe.text, data)
    if pretrained:
        check_vocabulary(pretrained, tokenizer)
    model = TwoBranch(recipe, tokenizer.get_vocab_size(), width, tuned, pretrained).to(device)
    given = read_given(run.transferred_file, train) if recipe.transfer else []
    told, lines = with_given(train, given), [caption.text for caption in train.captions]
    lines += [one.text for one in given]
    spelled: Sequence[NDArray[np.int32]] = tokenize(tokenizer, lines)
    tokens = spelled[: len(train.captions)]
    companions = CompanionSource(
        told,
        recipe.data.languages,
        spelled,
        paired="partners" in recipe.needs,
        whitened=visual_space(recipe, sources[0]),
        beside="neighbours" in recipe.needs,
    )
    sentences = sentence_tokens(tokenizer, texts, train, tokens)
    begin(model.text, Known(recipe, data, tokenizer, sentences, tokens, companions, sources[0]))
    if run.start_file.is_file():
        load_best(run.start_file, model)
    sampler = PictureSampler(
        train,
        recipe.optimiser.batch_size,
        recipe.seed,
        recipe.data.language_temperature,
        recipe.data.anchors,
    )
    return Prepared(
        data=told,
        sha256=data_sha256(train, texts),
        tokens=spelled,
        pictures=sources[0],
        sampler=_with_transfer(recipe, sampler, told, given),
        companions=companions,
        pseudopairs=_pairs(recipe, sentences, texts, told, given, spelled),
        halves=HalvesSource(_of_scenes(sentences, train), recipe.seed) if "halves" in recipe.needs else None,
        validation=ValidationSet(dev, tokenize(tokenizer, [c.text for c in dev.captions]), sources[1]),
        model=model,
        device=device,
        skipped=skipped,
    )


def _with_transfer(
    recipe: Recipe, sampler: PictureSampler, told: CaptionedPictures, given: Sequence[Given]
) -> PictureSampler | GivenSampler:
    if recipe.transfer is None:
        return sampler
    own = len(told.captions) - len(given)
    return GivenSampler(sampler, told, own, recipe.transfer.share, recipe.seed)


def _pairs(
    recipe: Recipe,
    sentences: Mapping[str, list[NDArray[np.int32]]],
    texts: Mapping[str, Sequence[str]],
    told: CaptionedPictures,
    given: Sequence[Given],
    tokens: Sequence[NDArray[np.int32]],
) -> PseudopairSource | None:
    """Where pairs of sentences come from: mined among `sentences`, or what was transferred."""
    if recipe.mining and recipe.mining.captions:
        return PseudopairSource(sentences, recipe.seed)
    if recipe.mining:  # those of `texts` come first
        return PseudopairSource({code: sentences[code][: len(texts[code])] for code in texts}, recipe.seed)
    return paired_source(told, given, tokens, recipe.seed) if "mined" in recipe.needs else None


def training_captions(run: Run, data: Path) -> CaptionedPictures:
    """The captions that the run is trained on, of a stream its first window; UsageError if `data` is not what
    it began with."""
    if run.recipe.data.stream:
        return open_stream(run, data).window(0, run.recipe.vision.image_size).data
    skipped = Skipped.read(run.skipped_file) if run.skipped_file.is_file() else Skipped()
    return _of_run(run, load_split(data, "train", run.recipe.data), skipped, training_texts(run, data))


def open_stream(run: Run, data: Path) -> Stream:
    """The stream of a run that has begun."""
    settings, inventory = run.recipe.data, Inventory.read(run.stream_file)
    inventory.check(data / settings.stream)
    return Stream(data / settings.stream, inventory, settings.languages, settings.window, run.recipe.seed)


def training_texts(run: Run, data: Path) -> dict[str, list[str]]:
    """Language -> the sentences without pictures that the run learns from."""
    settings = run.recipe.data
    return load_texts(data, settings.texts, settings.languages, run.recipe.seed) if settings.texts else {}


def sentence_tokens(
    tokenizer: Tokenizer,
    texts: Mapping[str, Sequence[str]],
    captions: CaptionedPictures,
    tokens: Sequence[NDArray[np.int32]],
) -> dict[str, list[NDArray[np.int32]]]:
    """Language -> token ids of its sentences without pictures, then of its captions."""
    found = {language: tokenize(tokenizer, sentences) for language, sentences in texts.items()}
    for caption, row in zip(captions.captions, tokens, strict=True):
        found.setdefault(caption.language, []).append(row)
    return found


def _of_scenes(
    sentences: Mapping[str, list[NDArray[np.int32]]], captions: CaptionedPictures
) -> dict[str, list[NDArray[np.int32]]]:
    """`sentences` (of `sentence_tokens`) without the names of drawings, whose words are synonyms."""
    drawn: dict[str, list[bool]] = {language: [] for language in sentences}
    for caption in captions.captions:
        drawn[caption.language].append(is_drawing(captions.pictures[caption.picture]))
    kept = {}
    for language, rows in sentences.items():
        texts = len(rows) - len(drawn[language])  # these come first
        names = [False] * texts + drawn[language]
        kept[language] = [row for row, is_name in zip(rows, names, strict=True) if not is_name]
    return kept


def _of_run(
    run: Run, train: CaptionedPictures, skipped: Skipped, texts: Mapping[str, Sequence[str]]
) -> CaptionedPictures:
    train = train.without(skipped.names)
    if without := sorted(set(run.recipe.data.rotation or run.recipe.data.languages) - set(train.languages)):
        raise DataError(f"no usable training picture has a caption in {', '.join(without)}")
    if run.recipe.data.shuffle_pictures:
        train = shuffled(train, run.recipe.seed)
    run.bind(data_sha256(train, texts))
    return train


def open_pictures(data: Path, recipe: Recipe) -> PictureCollection:
    """All pictures that the recipe may show: the photographs, the drawings, or both."""
    size, settings = recipe.vision.image_size, recipe.data
    photographs = [PictureArchive(data / "photos" / "images.tar", size)] if settings.photographs else []
    return PictureCollection([*photographs, *(open_artists(data, size) if settings.pictograms else ())])


def skipped_pictures(run: Run, pictures: PictureCollection, names: Sequence[str]) -> Skipped:
    """The pictures that this run does without, found when it begins and kept: a run that goes on does without
    the same. TrainingError when they are too many in an archive."""
    if run.skipped_file.is_file():
        return Skipped.read(run.skipped_file)
    found = Skipped()
    for archive, rows in pictures.divided(names):
        own = {names[row]: None for row in rows}
        bad = find_bad_pictures(archive, own)
        bad.check(len(own), run.recipe.data.bad_pictures, archive.file)
        found |= bad
    found.write(run.skipped_file)
    return found


def vocabulary(
    run: Run, train: CaptionedPictures, texts: Mapping[str, Sequence[str]], own: Tokenizer | None = None
) -> Tokenizer:
    """The run's tokenizer: the text encoder's `own`, or learned from captions and texts the first time."""
    if run.tokenizer_file.is_file():
        return run.tokenizer()
    recipe = run.recipe
    tokenizer = own or train_tokenizer(
        balanced(_by_language(train, texts), recipe.tokenizer.language_temperature),
        recipe.tokenizer,
        sequence_token=recipe.text.encoder == "transformer",
        max_tokens=recipe.text.max_tokens,
    )
    replace_text(run.tokenizer_file, tokenizer.to_str(pretty=True))
    return tokenizer


def _by_language(train: CaptionedPictures, texts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Language -> its captions, then its sentences without pictures."""
    found: dict[str, list[str]] = {}
    for caption in train.captions:
        found.setdefault(caption.language, []).append(caption.text)
    for language, sentences in texts.items():
        found.setdefault(language, []).extend(sentences)
    return found


def picture_sources(
    run: Run,
    pictures: PictureCollection,
    backbone: Backbone,
    train: CaptionedPictures,
    dev: CaptionedPictures,
) -> tuple[PictureSource, PictureSource]:
    """Where training and dev pictures come from; a whitened space is fitted on the training pictures."""
    vision, threads = run.recipe.vision, torch.get_num_threads()
    if vision.training == "tuned":
        train_source, dev_source = (
            AugmentedPictures(
                pictures, names, backbone.scale, vision.views, device=pick_device(), threads=threads
            )
            for names in (train.pictures, dev.pictures)
        )
        return train_source, dev_source
    names = train.pictures + dev.pictures
    features = features_of_collection(backbone, pictures, names, vision.views, threads)
    move_onto_photographs(features, names, len(train.pictures))
    return fixed_sources(run.recipe, features[:, : len(train.pictures)], features[:, len(train.pictures) :])


def fixed_sources(
    recipe: Recipe, train: NDArray[np.float32], dev: NDArray[np.float32]
) -> tuple[FixedFeatures, FixedFeatures]:
    """Sources of (V, N, F) features, whitened where the recipe says so."""
    whitening = None
    if recipe.vision.space == "whitened":
        rows = train.reshape(-1, train.shape[-1])
        whitening = fit_whitening(rows, recipe.head.dimension, recipe.vision.whitening, recipe.seed)
    count = 2 if recipe.vision.gives_two_views else 1  # whichever objectives an ablation leaves
    average = recipe.vision.average_views
    return (
        FixedFeatures(train, count=count, average=average, whitening=whitening),
        FixedFeatures(dev, count=count, average=average, whitening=whitening),
    )


def visual_space(
    recipe: Recipe, fitted: PictureSource, shown: PictureSource | None = None
) -> NDArray[np.float32] | None:
    """(N, D) unit rows: the pictures of `shown` (the training pictures unless given) in the fixed whitened
    space of the training pictures, `fitted`, where an objective needs one."""
    if "whitened" not in recipe.needs:
        return None
    shown = shown or fitted
    assert isinstance(fitted, FixedFeatures), "the recipe's validation demands frozen features"
    assert isinstance(shown, FixedFeatures)
    rows = fitted.features.reshape(-1, fitted.features.shape[-1])
    whitening = fit_whitening(rows, recipe.head.dimension, recipe.vision.whitening, recipe.seed)
    return unit(whitening(shown.features).mean(axis=0))
