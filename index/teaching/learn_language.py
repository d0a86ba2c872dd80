"""Teaches a bundle one more language, as `passepartout learn-language` and the service do."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from index.encoder.bundle import CARD, Bundle, publish_bundle, staging_folder, taught_file
from index.encoder.pictures import Pictures
from index.encoder.taught import TaughtLanguage
from index.encoder.text_encoder import TextEncoder
from index.errors import UsageError
from index.progress import Progress
from index.storage.manifest import CODE
from index.teaching.lesson import Recall, choose_base, held_out, learn, places_of
from index.teaching.material import Material
from index.teaching.mining import known_sentences, mine
from index.teaching.report import Learned, with_card_section
from index.teaching.suggestions import suggestions
from index.text.normalisation import words

CHOSEN_BY, MEASURED_ON = 8, 9  # parts of the topics
CHOOSING_LINES = 3000  # at most
LEAST_LINES = 10
STEPS = 4  # that progress is told in
LONGEST_VERSION = 32


@dataclass(frozen=True)
class Given:
    """What a language is to be taught from: captions and pairs, and sentences to mine in."""

    materials: Sequence[Material]
    sentences: Sequence[str] = ()

    def __len__(self) -> int:
        return sum(map(len, self.materials))


def check_language(bundle: Bundle, code: str) -> None:
    """UsageError for a code that is none, or of a language that the bundle was trained on; one that it was
    taught may be taught anew."""
    if not re.match(CODE, code):
        raise UsageError(f"{code!r} is not a language code (BCP 47) such as sw or zh-Hant")
    if code in bundle.manifest.languages and code not in bundle.taught:
        raise UsageError(f"{bundle.name} knows {code} already: give another code or another bundle")


def learn_language(bundle: Bundle, code: str, given: Given, pictures: Pictures | None, out: Path) -> Learned:
    """Teach the bundle the language `code` and publish the result at `out`.

    What it says of itself was measured on a tenth of the pictures and pairs, by teaching without them; what
    is published has learned from all. Raises UsageError for too few lines, or an `out` that is not to be
    replaced.
    """
    check_language(bundle, code)
    if len(given) < LEAST_LINES:
        raise UsageError(f"{len(given)} lines teach nothing: give {LEAST_LINES} or more, better 300")
    if out.resolve() == bundle.folder.resolve() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out}: give another folder: the bundle that is taught stays as it is")
    started = time.monotonic()
    encoder = TextEncoder(bundle)
    with Progress(STEPS, unit="steps", label="learn") as bar:
        base = _base(encoder, given.materials)
        bar.advance()
        materials = [*given.materials, *_mined(encoder, bundle, given, base)]
        bar.advance()
        recalls = _measured(encoder, materials, base)
        bar.advance()
        taught = learn(encoder, materials, base)
        bar.advance()
    learned = Learned(
        code,
        bundle.name,
        _version(bundle, code),
        {part.kind: len(part) for part in materials},
        recalls,
        suggestions(pictures, given.materials) if pictures else [],
        len(taught.subwords),
        base,
        time.monotonic() - started,
    )
    _publish(bundle, taught, learned, materials, out)
    return learned


def _base(encoder: TextEncoder, materials: Sequence[Material]) -> float:
    """The weight of the encoder's own vectors; chosen on lines that are not measured on."""
    remaining = [held_out(part, MEASURED_ON)[0] for part in materials]
    random = np.random.default_rng(0)
    drawn = [
        part.take(np.sort(random.permutation(len(part))[: CHOOSING_LINES // len(remaining)]))
        for part in remaining
    ]
    return choose_base(encoder, drawn, CHOSEN_BY)


def _measured(encoder: TextEncoder, materials: Sequence[Material], base: float) -> dict[str, Recall]:
    """By kind of material, whether lines that were left out find what they are about."""
    split = [(part, *held_out(part, MEASURED_ON)) for part in materials]
    remaining = [learned for _, learned, _ in split if len(learned)]
    if not remaining:
        return {}
    taught = learn(encoder, remaining, base)
    return {
        whole.kind: Recall.of(places_of(encoder, taught, asked), len(whole.topics.names))
        for whole, _, asked in split
        if len(asked) and whole.kind != "sentences"
    }


def _mined(encoder: TextEncoder, bundle: Bundle, given: Given, base: float) -> list[Material]:
    """What is mined in the sentences, unless lines that are held out find their own worse with it."""
    known = known_sentences(encoder, bundle) if given.sentences else None
    if known is None:
        return []
    remaining = [held_out(part, MEASURED_ON)[0] for part in given.materials]
    learned, asked = zip(*(held_out(part, CHOSEN_BY) for part in remaining), strict=True)
    if not any(map(len, learned)):
        return []
    before = learn(encoder, [part for part in learned if len(part)], base)
    found = mine(encoder, before, given.sentences, known)
    if found is None:
        return []
    after = learn(encoder, [*(part for part in learned if len(part)), found], base)
    return [found] if _mean_rank(encoder, after, asked) >= _mean_rank(encoder, before, asked) else []


def _mean_rank(encoder: TextEncoder, taught: TaughtLanguage, asked: Sequence[Material]) -> float:
    """The mean reciprocal rank of the right answers; 0 where nothing is asked."""
    places = np.concatenate([places_of(encoder, taught, part) for part in asked])
    return float((1 / (1 + places)).mean()) if len(places) else 0.0


def _version(bundle: Bundle, code: str) -> str:
    """That of the bundle with the languages that it was taught; UsageError where that gets too long."""
    version = bundle.manifest.version
    version = version if code in bundle.taught else f"{version}-{code}"
    if len(version) > LONGEST_VERSION:
        raise UsageError(f"{bundle.name} was taught as many languages as its version can name")
    return version


def _publish(
    bundle: Bundle, taught: TaughtLanguage, learned: Learned, materials: Sequence[Material], out: Path
) -> None:
    """The bundle with this language, at `out`."""
    code, manifest = learned.code, bundle.manifest
    staging = staging_folder(out, bundle.folder)
    (staging / taught_file(code)).parent.mkdir(exist_ok=True)
    (staging / taught_file(code)).write_bytes(taught.packed())
    (staging / "words").mkdir(exist_ok=True)
    counts = Counter(word for part in materials for text in part.texts for word in words(text, code))
    ranked = sorted((-count, word) for word, count in counts.items())
    listing = "".join(f"{word}\t{-count}\n" for count, word in ranked)
    (staging / "words" / f"{code}.tsv").write_text(listing, "utf-8")
    page = with_card_section(bundle.card.read_text("utf-8"), learned)
    (staging / CARD).write_text(page, "utf-8")
    update = {
        "version": learned.version,
        "languages": tuple(sorted({*manifest.languages, code})),
        "measures": manifest.measures | learned.measures,
    }
    publish_bundle(staging, out, manifest.model_copy(update=update))
