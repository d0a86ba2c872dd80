"""Suggestions: the pictograms whose captions would help most, and those that a text asks for."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from index.encoder.pictures import LEAST_COSINE, PICTOGRAM_SET, Pictograms, Pictures, code_of, emoji, family
from index.teaching.examples import Examples

SUGGESTED_PICTURES = 50
TEACHING_PICTURES = 300  # listed at most
# Of the nearest pictogram, below which a text is like none (tests/index/teaching/test_suggestions.py).
NEAR_COSINE = 0.4
# In the Unicode names of signs that stand for themselves, which are no words of everyday speech.
SIGN_NAMES = re.compile(
    r"\b(SQUARED|CLOCK FACE|DIGIT|INPUT SYMBOL|ARROWS?|TRIANGLE|MODIFIER|CIRCLE|SQUARE|DIAMOND|SUIT|CIRCLED"
    r"|SIGN|SYMBOL|MARK|BUTTON|ASTERISK|STAR OF DAVID|IDEOGRAPH|ARIES|TAURUS|GEMINI|CANCER|LEO|VIRGO|LIBRA"
    r"|SCORPIUS|SAGITTARIUS|CAPRICORN|AQUARIUS|PISCES|OPHIUCHUS)\b"
)
# What every language has words for and people ask for first: people, the body, what one does, animals, food,
# things of the house, the weather, places, feelings.
FIRST_PICTURES = (
    "🧑👩👨👶👧👦👵👴👪💧🐕🐈✋🍽🏠🛏🚪🔥☀🌙⭐🌧❄🌳🌸🍃⛰🌊🏖🐄🐎🐐🐑🐖🐔🐦🐟🐍🐁🐝"
    "🐜🥚🥛🍞🍚🥩🍎🍌🍅🌽🥔🧅🥕🧂🍬☕🍵👁👂👃👄🦷👅🦵🦶❤🩸🚶🏃💃🏊😴🛌🤰🤱👮👕👖👗👞"
    "🧢🪑🔪🥄🪣🧹🧺🔑💡📖✏🎵🥁⚽💰🎁☎🚗🚌🚲⛵✈🌉🏫🏥🏪⛪🕌😀😢😡😨🤒🤕💊"
)


def suggestions(pictures: Pictures, examples: Examples) -> list[str]:
    """Suggest pictograms to caption, by name: those without a caption that represent the others best.

    By greedy facility location: each picture is the one that covers most of what captioned pictures are not
    near to. One variant of each concept, and no signs; nobody can look at a bundle's other pictures.
    """
    plain = _plainest(pictures.of_set(PICTOGRAM_SET))
    named = (examples.pictures.names[row] for row in examples.rows.tolist())
    known = {family(name.removeprefix(f"{PICTOGRAM_SET}/")) for name in named}
    captioned = [row for row, code in enumerate(plain.names) if family(code) in known]
    return [f"{PICTOGRAM_SET}/{plain.names[row]}" for row in _uncovered(plain, captioned, SUGGESTED_PICTURES)]


def teaching_pictures(pictograms: Pictograms) -> list[tuple[str, str]]:
    """List the pictograms to caption first, (SET/NAME, emoji); one variant of each concept, and no signs.

    FIRST_PICTURES, and then those that represent the others best.
    """
    wanted = {family(code_of(sign)): place for place, sign in enumerate(FIRST_PICTURES)}
    plain = _plainest(Pictures(pictograms.codes, pictograms.vectors))
    places = {row: wanted[key] for row, code in enumerate(plain.names) if (key := family(code)) in wanted}
    chosen = sorted(places, key=places.__getitem__)
    chosen += _uncovered(plain, chosen, TEACHING_PICTURES - len(chosen))
    return _shown(plain.names[row] for row in chosen)


def pictures_like(pictograms: Pictograms, text: str, vector: NDArray[np.float32]) -> list[tuple[str, str]]:
    """List the pictograms that a text asks for, (SET/NAME, emoji), best first.

    Those that are it or are called it, and the nearest to its unit vector (d,) if one is near.
    """
    cosines = pictograms.vectors @ vector
    least = LEAST_COSINE if cosines.max() >= NEAR_COSINE else np.inf
    called = np.array([_called(code, text) for code in pictograms.codes])
    order = np.lexsort((-cosines, ~called))[:TEACHING_PICTURES].tolist()
    return _shown(pictograms.codes[row] for row in order if called[row] or cosines[row] >= least)


def _called(code: str, text: str) -> bool:
    """Whether a text is an emoji, or words of its English name, or the end of one (honeyBEE)."""
    name = unicodedata.name(chr(int(code, 16)), "") if "-" not in code else ""
    is_name = re.search(rf"{re.escape(text)}\b", name, re.IGNORECASE) is not None
    return is_name or family(code) == family(code_of(text))


def _shown(codes: Iterable[str]) -> list[tuple[str, str]]:
    return [(f"{PICTOGRAM_SET}/{code}", emoji(code)) for code in codes]


def is_sign(code: str) -> bool:
    """Whether a pictogram, by its code points, is a sign such as an arrow, a digit or a squared letter."""
    return SIGN_NAMES.search(unicodedata.name(emoji(code)[0], "")) is not None


def _plainest(pictograms: Pictures) -> Pictures:
    """Of pictograms by code the one of each concept with the fewest code points; no signs."""
    by_length = sorted(range(len(pictograms.names)), key=lambda row: -len(pictograms.names[row]))
    plainest = {family(pictograms.names[row]): row for row in by_length}
    rows = sorted(row for row in plainest.values() if not is_sign(pictograms.names[row]))
    return Pictures(tuple(pictograms.names[row] for row in rows), pictograms.vectors[rows])


def _uncovered(pictures: Pictures, captioned: Sequence[int], count: int) -> list[int]:
    cosines = np.maximum(pictures.vectors @ pictures.vectors.T, 0)
    covered, chosen = cosines[captioned].max(axis=0, initial=0), list[int]()
    while len(chosen) < min(count, len(cosines) - len(captioned)):
        gains = np.maximum(cosines - covered, 0).sum(axis=1)
        gains[[*captioned, *chosen]] = -np.inf
        chosen.append(int(gains.argmax()))
        covered = np.maximum(covered, cosines[chosen[-1]])
    return chosen
