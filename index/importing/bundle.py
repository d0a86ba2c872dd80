"""Publishes an imported encoder's graph and tokenizer as a bundle, with a confidence fitted on scenes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from pydantic import ValidationError
from tokenizers import Tokenizer, normalizers

from index.build.encoder_calibration import calibrate_scenes
from index.encoder.bundle import CARD, TOKENIZER, Bundle, BundleManifest, Origin, publish_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import UsageError
from index.languages import language
from index.storage.files import describe

CARD_TEXT = """# {title}

A sentence encoder that was not trained by this project: imported from {source}. What it learned from, and how
well it does, its makers say; most such encoders learned from parallel text.

| | |
|---|---|
| languages | {languages} |
| dimensions | {dimension} |
| longest input | {max_tokens} tokens, the rest is cut off |
| before every text | {prefix} |
| licence of the weights | {licence} |

{calibration}
"""
CALIBRATED_NOTE = """Confidence is not fitted: corpora/everyday has scenes in fewer than two of its
languages. An index of aligned sentences fits it anyway."""
CALIBRATED_NOTE = """Confidence was fitted on {n} answers to the scenes of corpora/everyday, half of them to
questions whose right answer was not there (expected calibration error {ece:.3f})."""
CALIBRATION_SEED = 0
MASK_TEST_TEXTS = (
    "A dog runs.",
    "Two children in red coats are building a snowman in front of the old school.",
)
# Least cosine of a text's vector alone to that beside a longer one; 8-bit graphs differ a little.
MIN_MASK_COSINE = 0.98


@dataclass(frozen=True)
class Description:
    """The manifest values of an imported encoder; `source`, for the card, is where it comes from."""

    name: str
    version: str
    languages: Sequence[str]
    licence: str
    max_tokens: int
    prefix: str
    source: str
    origin: Origin


def plain_bundle_name(name: str) -> str:
    """Turn any name into a valid name of a bundle."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_")[:64] or "imported"


def check_target(out: Path) -> None:
    """Raise UsageError if `out` exists."""
    if out.exists():
        raise UsageError(f"{out} exists: give a new folder")


def write_tokenizer(tokenizer: Tokenizer, pad: int | None, lowercase: bool, staging: Path) -> None:
    """Write tokenizer.json; `pad` is used if the tokenizer does not define a padding token."""
    if tokenizer.padding is None and pad is not None:
        tokenizer.enable_padding(pad_id=pad, pad_token=tokenizer.id_to_token(pad) or "")
    if lowercase:
        steps = [normalizers.Lowercase(), *([tokenizer.normalizer] if tokenizer.normalizer else [])]
        tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.no_truncation()
    (staging / TOKENIZER).write_text(tokenizer.to_str(pretty=False), "utf-8")


def publish_imported(staging: Path, out: Path, description: Description, dimension: int) -> Bundle:
    """Publish the graph and the tokenizer in `staging` as the bundle `out`.

    Raises UsageError for an invalid description, and for an encoder whose vectors depend on padding.
    """
    manifest = _manifest(description, dimension)
    encoder = TextEncoder(Bundle(staging, manifest.model_copy(update={"files": describe(staging)})))
    _check(encoder)
    manifest = manifest.model_copy(update={"calibration": calibrate_scenes(encoder, CALIBRATION_SEED)})
    (staging / CARD).write_text(_card(manifest, description.source), "utf-8")
    return publish_bundle(staging, out, manifest)


def _manifest(description: Description, dimension: int) -> BundleManifest:
    try:
        return BundleManifest(
            name=plain_bundle_name(description.name),
            version=description.version,
            licence=description.licence,
            languages=tuple(description.languages),
            dimension=dimension,
            max_tokens=description.max_tokens,
            words="encoder",
            punctuation=True,
            prefix=description.prefix,
            recipe=description.origin,
            data=None,
            created=datetime.now(UTC).replace(microsecond=0),
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"--{first['loc'][0]}: {first['msg']}") from None


def _check(encoder: TextEncoder) -> None:
    together = encoder.encode(MASK_TEST_TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in MASK_TEST_TEXTS])
    if not np.isfinite(together).all():
        raise UsageError("the encoder gives vectors that are not finite: it cannot be used")
    if (least := float((together * alone).sum(axis=1).min())) < MIN_MASK_COSINE:
        raise UsageError(
            f"a text's vector depends on how much it is padded (cosine {least:.3f}): the graph does not heed "
            "attention_mask; export it again"
        )


def _card(manifest: BundleManifest, source: str) -> str:
    fitted = manifest.calibration.sentence
    return CARD_TEXT.format(
        title=f"{manifest.name}@{manifest.version}",
        source=source,
        languages=", ".join(f"{language(code).name} ({code})" for code in manifest.languages),
        dimension=manifest.dimension,
        max_tokens=manifest.max_tokens,
        prefix=f"`{manifest.prefix}`" if manifest.prefix else "nothing",
        licence=manifest.licence,
        calibration=CALIBRATED_NOTE.format(n=fitted.n, ece=fitted.ece or 0),
    )
