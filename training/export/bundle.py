"""Turns a finished run into an encoder bundle, after checking that ONNX gives what torch gives."""

import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import torch
from pydantic import ValidationError

from evaluation.measures.scores import ALL_PAIRS, score_translation
from evaluation.suites.pictograms import held_out_names
from evaluation.suites.sets import (
    TRANSLATION_KIND,
    CaptionLine,
    line_up,
    read_captions,
    read_split,
    shared_images,
)
from index.arrays import Vectors
from index.build.encoder_calibration import fit_models
from index.encoder.bundle import (
    CARD,
    ENCODER_GRAPHS,
    PICTURE_SPACE,
    PICTURES,
    TOKENIZER,
    Bundle,
    BundleManifest,
    Origin,
    Precision,
    publish_bundle,
    staging_folder,
)
from index.encoder.pictures import packed
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError, TrainingError, UsageError
from index.frozen import first_error
from index.storage.files import entries_of
from training.data.settings import PICTOGRAM_SET, DataSettings
from training.data.tokens import tokenize
from training.encoders.two_branch import TwoBranch
from training.export.card import model_card
from training.export.onnx import export_text_branch, quantise, quantise_tables
from training.export.pictures import pictures_of
from training.export.word_lists import word_translations, write_word_lists
from training.loop.model import load_model
from training.loop.prepare import note_lineage, training_captions, training_texts
from training.loop.run import Run, lineage_of, open_run
from training.loop.validation import embed_texts
from training.recipes.recipe import Recipe

MAX_PARITY_DISTANCE = 1e-4  # largest cosine distance between torch and ONNX
PARITY_SENTENCES = 1000
MOST_LOSS = 1.0  # points of mean R@1 that fewer bits may cost
FULL: Precision = "fp32"

Aligned = dict[str, list[str]]  # language -> sentences, row i about the same picture in each


def export_run(
    folder: Path,
    data: Path,
    out: Path,
    *,
    name: str | None,
    version: str,
    licence: str,
    without: Sequence[str] = (),
) -> Bundle:
    """Publish the best checkpoint of a finished run as a bundle at `out`.

    ONNX must equal torch within 1e-4 cosine on up to 1,000 validation sentences (TrainingError otherwise).
    The bundle has the graph with the fewest bits that costs less than one point of mean R@1 between the
    languages of the validation captions, and the openly licensed pictures that the run learned from.
    The bundle is for the run's languages but those of `without`, which are not good enough to offer.
    `data` is the folder that the run was trained on.
    """
    run = open_run(folder)
    result = run.result()
    note_lineage(run, data)
    manifest = _manifest(run, _offered(run, without), str(result["data_sha256"]), name, version, licence)
    captions = training_captions(run, data)
    model = load_model(run, data)
    with staging_folder(out) as staging:
        _write_parts(run, model, staging)
        translated = word_translations(run, data, manifest.languages)
        write_word_lists(captions, training_texts(run, data), manifest.languages, staging, translated)
        manifest = _measure(run, data, model, staging, manifest)
        encoder = TextEncoder(Bundle(staging, manifest.model_copy(update={"files": entries_of(staging)})))
        if pictures := pictures_of(encoder, run.recipe, data):
            (staging / PICTURES).write_bytes(packed(pictures.names, pictures.vectors))
        (staging / CARD).write_text(model_card(run.recipe, manifest, result, pictures), encoding="utf-8")
        return publish_bundle(staging, out, manifest)


def _offered(run: Run, without: Sequence[str]) -> tuple[str, ...]:
    """The run's languages but `without`, sorted. UsageError if one is unknown or under two remain."""
    known = run.recipe.data.languages
    if unknown := [code for code in without if code not in known]:
        raise UsageError(f"--without {unknown[0]}: {run.folder} knows {', '.join(known)}")
    kept = tuple(sorted(set(known) - set(without)))
    if len(kept) < 2:
        have = f"knows {'one language' if len(kept) else 'no other language'}"
        raise UsageError(f"{run.folder} {have}; a bundle needs two to translate between")
    return kept


def _manifest(
    run: Run, languages: tuple[str, ...], data_sha256: str, name: str | None, version: str, licence: str
) -> BundleManifest:
    recipe = run.recipe
    try:
        return BundleManifest(
            name=name or recipe.name,
            version=version,
            licence=licence,
            languages=languages,
            dimension=recipe.head.dimension,
            max_tokens=recipe.text.max_tokens,
            recipe=Origin(name=recipe.name, sha256=recipe.sha256),
            data=Origin(name=_data_name(recipe), sha256=data_sha256),
            lineage=lineage_of(run.folder),
            created=datetime.now(UTC).replace(microsecond=0),
        )
    except ValidationError as error:
        raise UsageError(f"--{first_error(error)}") from None


def _write_parts(run: Run, model: TwoBranch, staging: Path) -> None:
    full = staging / ENCODER_GRAPHS["fp32"]
    export_text_branch(model, full)
    for precision in _fewer_bits(run.recipe):
        write = quantise_tables if precision == "int4" else quantise
        write(full, staging / ENCODER_GRAPHS[precision])
    (staging / TOKENIZER).write_text(run.tokenizer().to_str(pretty=False), encoding="utf-8")
    if (run.folder / PICTURE_SPACE).is_file():
        shutil.copyfile(run.folder / PICTURE_SPACE, staging / PICTURE_SPACE)


def _measure(
    run: Run, data: Path, model: TwoBranch, staging: Path, manifest: BundleManifest
) -> BundleManifest:
    """Check parity, choose the precision and fit the confidence; return the manifest with the results."""
    texts, *more = (
        {code: rows for code, rows in lines.items() if code in manifest.languages}
        for lines in validation_texts(data, run.recipe.data)
    )
    bundle = Bundle(staging, manifest.model_copy(update={"files": entries_of(staging)}))
    distance = _parity(run, model, bundle, texts)
    vectors = {precision: _encode(bundle, texts, precision) for precision in (*_fewer_bits(run.recipe), FULL)}
    scored = {precision: score_translation("validation", "", of) for precision, of in vectors.items()}
    scores = {precision: table.means[ALL_PAIRS]["csls_r1"] for precision, table in scored.items()}
    within = (precision for precision, score in scores.items() if scores[FULL] - score < MOST_LOSS)
    kept = next(within, FULL)
    for precision in scores.keys() - {kept}:
        (staging / ENCODER_GRAPHS[precision]).unlink()
    told = {f"validation_r1_{precision}": score for precision, score in scores.items() if precision != FULL}
    recalls = {"sum_of_recalls": run.result()["sum_of_recalls"]}
    measures = {"onnx_cosine_distance": distance, "validation_r1": scores[FULL], **told, **recalls}
    encoder = TextEncoder(bundle, precision=kept)
    others = [_encode(bundle, lines, kept) for lines in more if len(lines) > 1]
    return manifest.model_copy(
        update={
            "measures": {name: round(value, 6) for name, value in measures.items()},
            "precision": kept,
            "calibration": fit_models(encoder, [vectors[kept], *others], run.recipe.seed),
        }
    )


def _fewer_bits(recipe: Recipe) -> list[Precision]:
    """The precisions to try beside 32 bits, the smallest first: 4 bits where embeddings are all there is."""
    is_mean = recipe.text.averages_words and recipe.head.text == "none"
    return ["int4", "int8"] if is_mean else ["int8"]


def _parity(run: Run, model: TwoBranch, bundle: Bundle, texts: Mapping[str, list[str]]) -> float:
    """Largest cosine distance between torch and ONNX over up to PARITY_SENTENCES validation sentences."""
    each = -(-PARITY_SENTENCES // len(texts))
    sentences = [text for rows in texts.values() for text in rows[:each]][:PARITY_SENTENCES]
    expected = embed_texts(model, tokenize(run.tokenizer(), sentences), torch.device("cpu"))
    onnx = TextEncoder(bundle, precision="fp32").encode(sentences)
    distance = float(1 - (expected * onnx).sum(axis=1).min())
    if not distance <= MAX_PARITY_DISTANCE:
        raise TrainingError(f"the ONNX encoder differs from torch's by a cosine distance of {distance:.2g}")
    return distance


def _encode(bundle: Bundle, texts: Mapping[str, list[str]], precision: Precision) -> dict[str, Vectors]:
    encoder = TextEncoder(bundle, precision=precision)
    return {language: encoder.encode(rows) for language, rows in texts.items()}


def _data_name(recipe: Recipe) -> str:
    kinds = "+".join(recipe.data.caption_kinds) or "all captions"
    shuffled = ", pictures shuffled" if recipe.data.shuffle_pictures else ""
    texts = f", texts {' '.join(recipe.data.texts)}" if recipe.data.texts else ""
    *first, last = recipe.data.sets
    sets = f"{', '.join(first)} and {last}" if first else last
    return f"{sets} {recipe.data.pictures} {' '.join(recipe.data.languages)} ({kinds}{shuffled}){texts}"


def validation_texts(data: Path, settings: DataSettings) -> list[Aligned]:
    """Read the dev captions of each set that has them in two languages, the first set first.

    They are never used for training. Where two languages or more of a set have human translations, only those
    are read: captions that two people wrote of one picture are often no translations of each other.
    Of pictograms: the names. Raises DataError if no set has any.
    """
    sets = [lines for name in settings.sets if (lines := _lines(data, name, settings.languages))]
    if not sets:
        raise DataError(f"{data}: no dev picture of {', '.join(settings.sets)} has captions in two languages")
    return sets


def _lines(data: Path, name: str, languages: Sequence[str]) -> Aligned:
    if name == PICTOGRAM_SET:
        return held_out_names(data, languages, "dev")[1]
    files = {code: data / name / "captions" / f"{code}.tsv" for code in languages}
    captions = {code: read_captions(file) for code, file in files.items() if file.is_file()}
    translated = {
        code: [row for row in rows if row.source == TRANSLATION_KIND] for code, rows in captions.items()
    }
    some = {code: rows for code, rows in translated.items() if rows}
    return most_lines(some if len(some) > 1 else captions, read_split(data / name / "splits.tsv", "dev"))


def most_lines(captions: Mapping[str, Sequence[CaptionLine]], images: set[str]) -> Aligned:
    """Line up the languages that give most sentences, the better a language covers `images` the sooner.

    Empty if no two languages share an image.
    """
    covered = {code: len(images & {row.image for row in rows}) for code, rows in captions.items()}
    order = sorted(captions, key=lambda code: -covered[code])
    choices = [{code: captions[code] for code in order[:count]} for count in range(2, len(order) + 1)]
    sizes = [len(choice) * len(shared_images(choice, images)) for choice in choices]
    if not any(sizes):
        return {}
    chosen = line_up(choices[sizes.index(max(sizes))], images)
    return {code: chosen[code] for code in captions if code in chosen}
