"""Deals pictures to languages: to all, to one each, to two, or to all of few."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import PurePosixPath

from training.data.settings import PICTOGRAM_SET, DataSettings

Owners = list[tuple[str, tuple[str, ...]]]  # pictures, and the languages whose captions are seen with them
CaptionTexts = dict[str, dict[str, list[str]]]  # language -> picture -> captions
Deal = Callable[[Sequence[str], CaptionTexts, DataSettings], Owners]  # the pictures, and all their captions


def shared(members: Sequence[str], texts: CaptionTexts, settings: DataSettings) -> Owners:
    """Every picture belongs to all languages."""
    return [(name, tuple(texts)) for name in members]


def disjoint(members: Sequence[str], texts: CaptionTexts, settings: DataSettings) -> Owners:
    """Each picture belongs to one language, of which those of the rotation take turns."""
    turns = [code for code in settings.rotation or texts if code in texts]
    return [(name, (code,)) for name, code in _in_turn(members, texts, turns).items()]


def pivoted(members: Sequence[str], texts: CaptionTexts, settings: DataSettings) -> Owners:
    """Each picture belongs to the first language and to one of the others (Krasner et al. 2025, 3.1)."""
    pivot = settings.languages[0]
    others = [code for code in texts if code != pivot and pivot in texts]
    return [(name, (pivot, code)) for name, code in _in_turn(members, texts, others).items()]


def common(members: Sequence[str], texts: CaptionTexts, settings: DataSettings) -> Owners:
    """As many pictures as one language has of disjoint ones, which belong to all."""
    dealt = _in_turn(members, texts, list(texts))
    return [(name, tuple(texts)) for name in list(dealt)[:: len(texts)]]


def _in_turn(members: Sequence[str], texts: CaptionTexts, turns: Sequence[str]) -> dict[str, str]:
    """Picture with a caption in each language -> its language, the next of `turns`, ordered by a hash."""
    pool = [name for name in members if turns and all(name in captions for captions in texts.values())]
    pool.sort(key=lambda name: _hash(PurePosixPath(name).name))
    return {name: turns[i % len(turns)] for i, name in enumerate(pool)}


def disjoint_drawings(drawings: Sequence[str], texts: CaptionTexts, settings: DataSettings) -> Owners:
    """Assign each drawing to one language.

    Concepts come in the order of a hash; the languages that name a concept take turns at its drawings, those
    with the fewest drawings so far first. So a concept is shown in as many languages as it has drawings, all
    languages get about as many drawings, and which languages share a concept is pseudo-random.
    """
    concepts: dict[str, list[str]] = {}
    for drawing in sorted(drawings, key=lambda name: _hash(name.removeprefix(f"{PICTOGRAM_SET}/"))):
        concepts.setdefault(PurePosixPath(drawing).stem, []).append(drawing)
    drawing_counts: Counter[str] = Counter()
    owners: Owners = []
    for code in sorted(concepts, key=_hash):
        named = [language for language, captions in texts.items() if concepts[code][0] in captions]
        order = sorted(named, key=lambda language: (drawing_counts[language], _hash(f"{language} {code}")))
        for drawing, language in zip(concepts[code], cycle(order), strict=False):
            owners.append((drawing, (language,)))
            drawing_counts[language] += 1
    return owners


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# data.pictures -> how the pictures of a set are dealt.
DEALS: dict[str, Deal] = {"shared": shared, "disjoint": disjoint, "pivoted": pivoted, "common": common}
