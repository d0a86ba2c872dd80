"""Teaches a bundle, or the encoder of an index, one more language, as `learn-language` and the service do."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from index.build.build_index import made_before
from index.encoder.bundle import (
    CARD,
    Bundle,
    open_index_encoder,
    publish_bundle,
    staging_folder,
    taught_file,
    with_section,
    words_file,
)
from index.encoder.pictures import Pictures
from index.encoder.taught import TaughtLanguage
from index.encoder.text_encoder import TextEncoder
from index.encoder.word_list import WordList, write_word_list
from index.errors import UsageError
from index.languages import is_language, lookup, standard_code
from index.progress import Progress
from index.storage.index_manifest import IndexManifest
from index.storage.versions import ENCODER_FOLDER, building, open_version, publish_change
from index.teaching.examples import Examples, read_captions
from index.teaching.report import Learned, facts
from index.teaching.subword_regression import Recall, choose_base, held_out, learn, places_of
from index.teaching.suggestions import suggestions
from index.text.normalisation import words
from index.words.vocabulary import by_frequency

CHOOSING_PART, MEASURING_PART = 8, 9  # of the pictures
CHOOSING_LINES = 3000  # at most
LEAST_LINES = 10
PROGRESS_STEPS = 3  # of the progress bar
LONGEST_VERSION = 32


def check_language(bundle: Bundle, tag: str) -> str:
    """The code, in any spelling, of a language to teach, as BCP 47 writes it.

    Raises UsageError for what is no code, or a language that the bundle was trained on in this script,
    whatever the territory. A language that it was taught may be taught again.
    """
    if not is_language(code := standard_code(tag)):
        raise UsageError(f"{tag!r} is not a language code (BCP 47) such as sw; qaa to qtz are free for one")
    known = lookup(code, set(bundle.manifest.languages) - set(bundle.taught))
    if known and code not in bundle.taught and not re.match("-[A-Z][a-z]{3}", code.removeprefix(known)):
        raise UsageError(f"{bundle.name} knows {known} already: give another code or another bundle")
    return code


def learn_language(bundle: Bundle, code: str, examples: Examples, pictures: Pictures, out: Path) -> Learned:
    """Teach the bundle the language `code` and publish the result at `out`.

    The published bundle has learned from all lines. Its quality is estimated on a tenth of the pictures, by
    teaching without these. Raises UsageError for too few lines, or an `out` that must not be replaced.
    """
    code = check_language(bundle, code)
    if len(examples) < LEAST_LINES:
        raise UsageError(f"{len(examples)} lines are too few: give {LEAST_LINES} or more, ideally 300")
    if out.resolve() == bundle.folder.resolve() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out}: give another folder: the original bundle is never changed")
    started = time.monotonic()
    with staging_folder(out, bundle.folder) as staging:  # before it learns, which a full disk would undo
        encoder = TextEncoder(bundle)
        with Progress(PROGRESS_STEPS, unit="steps", label="learn") as bar:
            remaining, asked = held_out(examples, MEASURING_PART)
            base = _base(encoder, remaining)
            bar.advance()
            recall = _measured(encoder, remaining, asked, base)
            bar.advance()
            taught = learn(encoder, examples, base)
            bar.advance()
        learned = Learned(
            code=code,
            bundle=bundle.name,
            version=_version(bundle, code),
            lines=len(examples),
            recall=recall,
            next_pictures=suggestions(pictures, examples),
            subwords=len(taught.subwords),
            base=base,
            seconds=time.monotonic() - started,
        )
        _publish(bundle, taught, learned, examples, staging, out)
    return learned


def teach_index(
    index: Path,
    code: str,
    captions: Sequence[tuple[str, str]],
    *,
    base: str | None = None,
    job: str | None = None,
) -> tuple[IndexManifest, Learned | None]:
    """Teach the language `code` from captions, (picture, text); return the new version and what was learned.

    The new version differs from the previous one in its encoder only, since the vectors of the other
    languages do not change. It translates from the new language; sentences can be added in it.
    `base`: the version to change. `job`: who asks; if a version was made for it, the result is that and None.
    Raises UsageError for invalid captions, BusyError while another build runs, OutdatedError if `base` is no
    longer served.
    """
    folder, manifest = open_version(index, base)
    bundle = open_index_encoder(folder, manifest)
    pictures = Pictures.open(bundle)
    if pictures is None:
        raise UsageError(f"the index's encoder {bundle.name} has no pictures to teach with")
    lines = ["\t".join(" ".join(cell.split()) for cell in pair) for pair in captions]
    examples = read_captions(lines, "captions", pictures)
    with building(index) as work:
        if made := made_before(index, manifest.version, job):
            return made, None
        learned = learn_language(bundle, code, examples, pictures, work / ENCODER_FOLDER)
        model = f"{bundle.manifest.name}@{learned.version}"
        return publish_change(index, work, manifest, model=model, job=job), learned


def _base(encoder: TextEncoder, remaining: Examples) -> float:
    """Choose the weight of the encoder's own vectors, without the lines that are measured on."""
    drawn = np.random.default_rng(0).permutation(len(remaining))[:CHOOSING_LINES]
    return choose_base(encoder, remaining.take(np.sort(drawn)), CHOOSING_PART)


def _measured(encoder: TextEncoder, remaining: Examples, asked: Examples, base: float) -> Recall | None:
    """Measure whether held-out lines find their pictures; None if there are too few to hold some out."""
    if not len(remaining) or not len(asked):
        return None
    places = places_of(encoder, learn(encoder, remaining, base), asked)
    return Recall.of(places, len(asked.pictures.names))


def _version(bundle: Bundle, code: str) -> str:
    """The bundle's version with the taught language appended; UsageError if that is too long."""
    version = bundle.manifest.version
    version = version if code in bundle.taught else f"{version}-{code}"
    if len(version) > LONGEST_VERSION:
        raise UsageError(f"{bundle.name} has been taught as many languages as its version can name")
    return version


def _publish(
    bundle: Bundle, taught: TaughtLanguage, learned: Learned, examples: Examples, staging: Path, out: Path
) -> None:
    """Publish the bundle, whose files are in `staging`, with the taught language at `out`."""
    code, manifest = learned.code, bundle.manifest
    (staging / taught_file(code)).parent.mkdir(exist_ok=True)
    (staging / taught_file(code)).write_bytes(taught.packed())
    (staging / "words").mkdir(exist_ok=True)
    counts = Counter(word for text in examples.texts for word in words(text, code))
    write_word_list(WordList(by_frequency(counts), {}), staging / words_file(code))
    title = f"Taught afterwards: {learned.name} ({code})"
    card = with_section(bundle.card.read_text("utf-8"), title, facts(learned))
    (staging / CARD).write_text(card, "utf-8")
    update = {
        "version": learned.version,
        "languages": tuple(sorted({*manifest.languages, code})),
        "measures": manifest.measures | learned.measures,
    }
    publish_bundle(staging, out, manifest.model_copy(update=update))
