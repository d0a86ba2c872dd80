"""From a finished run to an encoder bundle, with the checks that make it fit to ship."""

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError

from evaluation.scores import ALL, score_translation
from evaluation.sets import TRANSLATION, line_up, read_captions, read_split
from index.bundle import (
    CARD,
    EMBEDDINGS,
    ENCODER,
    ENCODER_INT8,
    TOKENIZER,
    Bundle,
    BundleManifest,
    Origin,
    publish_bundle,
)
from index.encoder import Precision, TextEncoder
from index.errors import TrainingError, UsageError
from index.files import describe
from training.calibration import calibrate
from training.card import model_card
from training.checkpoint import load_best
from training.data.captions import CaptionedPictures
from training.data.tokens import tokenize
from training.encoders.pretrained import load_text
from training.encoders.vision import load_backbone
from training.model import TwoBranch
from training.onnx_export import export_text_branch, quantise
from training.prepare import training_captions, training_texts
from training.recipe import Recipe
from training.run import Run, open_run
from training.validation import embed_texts
from training.vocabulary import write_word_embeddings, write_word_lists

PARITY = 1e-4  # largest cosine distance between torch and ONNX
PARITY_SENTENCES = 1000
INT8_LOSS = 1.0  # points of mean R@1 that 8 bits may cost
Vectors = NDArray[np.float32]


def export_run(
    folder: Path, data: Path, out: Path, *, name: str | None, version: str, licence: str
) -> Bundle:
    """Publish the best checkpoint of a finished run as a bundle at `out`.

    ONNX must equal torch within 1e-4 cosine on up to 1,000 validation sentences (TrainingError otherwise);
    the 8-bit graph is kept, and made the default, when it costs less than one point of mean R@1 between the
    languages of the validation captions. `data` is the folder that the run was trained on.
    """
    run = open_run(folder)
    result = run.result()
    manifest = _manifest(run, str(result["data_sha256"]), name or run.recipe.name, version, licence)
    captions = training_captions(run, data)
    model = best_model(run, data)
    staging = out.parent / f".{out.name}.staging"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    _write_parts(run, captions, training_texts(run, data), model, staging)
    measured = _measure(run, data, model, staging, manifest)
    measures = measured.measures | {"sum_of_recalls": float(result["sum_of_recalls"])}
    manifest = measured.model_copy(update={"measures": measures})
    (staging / CARD).write_text(model_card(run.recipe, manifest, result), encoding="utf-8")
    return publish_bundle(staging, out, manifest)


def _manifest(run: Run, data_sha256: str, name: str, version: str, licence: str) -> BundleManifest:
    recipe = run.recipe
    if len(recipe.data.languages) < 2:
        raise UsageError(f"{run.folder} knows one language; a bundle needs two to translate between")
    try:
        return BundleManifest(
            name=name,
            version=version,
            licence=licence,
            languages=tuple(sorted(recipe.data.languages)),
            dimension=recipe.head.dimension,
            max_tokens=recipe.text.max_tokens,
            recipe=Origin(name=recipe.name, sha256=recipe.sha256),
            data=Origin(name=_data_name(recipe), sha256=data_sha256),
            created=datetime.now(UTC).replace(microsecond=0),
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"--{first['loc'][0]}: {first['msg']}") from None


def best_model(run: Run, data: Path) -> TwoBranch:
    """The model of the best checkpoint, on the CPU, not training."""
    backbone = load_backbone(run.recipe.vision.backbone, data)
    width = backbone.width(run.recipe.vision.image_size)
    tuned = backbone if run.recipe.vision.training == "tuned" else None
    text = load_text(run.recipe.text, data)
    model = TwoBranch(run.recipe, run.tokenizer().get_vocab_size(), width, tuned, text)
    load_best(run.best_file, model)
    return model.eval()


def _write_parts(
    run: Run,
    captions: CaptionedPictures,
    texts: Mapping[str, list[str]],
    model: TwoBranch,
    staging: Path,
) -> None:
    export_text_branch(model, staging / ENCODER)
    quantise(staging / ENCODER, staging / ENCODER_INT8)
    shutil.copyfile(run.tokenizer_file, staging / TOKENIZER)
    tokens = model.text.word_table().detach().numpy()
    if tokens.ndim == 3:  # languages in the manifest's order
        tokens = tokens[np.argsort(run.recipe.data.languages)]
    write_word_embeddings(tokens, run.recipe.head.dimension, staging / EMBEDDINGS)
    write_word_lists(captions, texts, staging / "words")


def _measure(
    run: Run, data: Path, model: TwoBranch, staging: Path, manifest: BundleManifest
) -> BundleManifest:
    """Check parity, decide on 8 bits, fit the confidence; the manifest with what came out."""
    texts = validation_texts(data, run.recipe)
    bundle = Bundle(staging, manifest.model_copy(update={"files": describe(staging)}))
    distance = _parity(run, model, bundle, texts)
    full, small = (_encode(bundle, texts, precision) for precision in ("fp32", "int8"))
    measures = {
        "onnx_cosine_distance": distance,
        "validation_r1": _r1(full),
        "validation_r1_int8": _r1(small),
    }
    keep = measures["validation_r1"] - measures["validation_r1_int8"] < INT8_LOSS
    if not keep:
        (staging / ENCODER_INT8).unlink()
    return manifest.model_copy(
        update={
            "measures": {name: round(value, 6) for name, value in measures.items()},
            "precision": "int8" if keep else "fp32",
            "calibration": calibrate(small if keep else full, run.recipe.seed),
        }
    )


def validation_texts(data: Path, recipe: Recipe) -> dict[str, list[str]]:
    """Language -> dev captions, row i about the same picture: for the checks here, never for training.

    Where two languages or more have human translations, only those: one speaker's caption is often no
    translation of another's.
    """
    photos = data / "photos"
    files = {language: photos / "captions" / f"{language}.tsv" for language in recipe.data.languages}
    if recipe.data.pictograms:  # a language may have names of drawings alone
        files = {language: file for language, file in files.items() if file.is_file()}
    captions = {language: read_captions(file) for language, file in files.items()}
    translated = {
        language: [row for row in rows if row.source == TRANSLATION] for language, rows in captions.items()
    }
    some = {language: rows for language, rows in translated.items() if rows}
    return line_up(some if len(some) > 1 else captions, read_split(photos / "splits.tsv", "dev"))


def _parity(run: Run, model: TwoBranch, bundle: Bundle, texts: Mapping[str, list[str]]) -> float:
    """Largest cosine distance between torch and ONNX over up to PARITY_SENTENCES validation sentences."""
    each = -(-PARITY_SENTENCES // len(texts))
    sentences = [text for rows in texts.values() for text in rows[:each]][:PARITY_SENTENCES]
    # Where pads are attended to, a sentence depends on its neighbours in the batch: then each by itself.
    batches = (
        [sentences] if getattr(run.recipe.text, "attention_mask", True) else [[one] for one in sentences]
    )
    tokenizer, encoder = run.tokenizer(), TextEncoder(bundle, precision="fp32")
    with torch.inference_mode():
        found = [embed_texts(model, tokenize(tokenizer, batch), torch.device("cpu")) for batch in batches]
    onnx = [encoder.encode(batch) for batch in batches]
    distance = float(1 - (np.concatenate(found) * np.concatenate(onnx)).sum(axis=1).min())
    if not distance <= PARITY:
        raise TrainingError(f"the ONNX encoder differs from torch's by a cosine distance of {distance:.2g}")
    return distance


def _encode(bundle: Bundle, texts: Mapping[str, list[str]], precision: Precision) -> dict[str, Vectors]:
    encoder = TextEncoder(bundle, precision=precision)
    return {language: encoder.encode(rows) for language, rows in texts.items()}


def _r1(vectors: Mapping[str, Vectors]) -> float:
    """Mean R@1 by CSLS over all ordered pairs of languages."""
    return score_translation("validation", "", vectors).means[ALL]["csls_r1"]


def _data_name(recipe: Recipe) -> str:
    kinds = "+".join(recipe.data.caption_kinds) or "all captions"
    shuffled = ", pictures shuffled" if recipe.data.shuffle_pictures else ""
    texts = f", texts {recipe.data.texts}" if recipe.data.texts else ""
    photos = "photos and pictograms" if recipe.data.pictograms else "photos"
    return f"{photos} {recipe.data.pictures} {' '.join(recipe.data.languages)} ({kinds}{shuffled}){texts}"
