"""Suggestions: the pictures whose captions would help most."""

import heapq
import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from index.encoder.pictures import PICTOGRAM_SET, Pictograms, Pictures, code_of, emoji, family
from index.teaching.examples import Examples

SUGGESTED_PICTURES = 50
TEACHING_PICTURES = 300  # listed at most
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


def suggestions(pictures: Pictures, examples: Examples, count: int = SUGGESTED_PICTURES) -> list[str]:
    """Suggest pictures to caption, by name: those without a caption that represent the others best.

    By greedy facility location: each picture is the one that covers most of what captioned pictures are not
    near to.
    """
    rows = {name: row for row, name in enumerate(pictures.names)}
    captioned = sorted({rows[examples.pictures.names[row]] for row in examples.rows.tolist()})
    return [pictures.names[row] for row in _uncovered(pictures, captioned, count)]


def teaching_pictures(pictograms: Pictograms) -> list[tuple[str, str]]:
    """List the pictograms to caption first, (SET/NAME, emoji); one variant of each concept, and no signs.

    FIRST_PICTURES, and then those that represent the others best.
    """
    wanted = {family(code_of(sign)): place for place, sign in enumerate(FIRST_PICTURES)}
    by_length = sorted(range(len(pictograms.codes)), key=lambda row: -len(pictograms.codes[row]))
    plainest = {family(pictograms.codes[row]): row for row in by_length}  # the shortest of each concept
    rows = sorted(row for row in plainest.values() if not is_sign(pictograms.codes[row]))
    plain = Pictures(tuple(pictograms.codes[row] for row in rows), pictograms.vectors[rows])
    places = [wanted.get(family(code), len(wanted)) for code in plain.names]
    chosen = sorted((row for row in range(len(rows)) if places[row] < len(wanted)), key=places.__getitem__)
    chosen += _uncovered(plain, chosen, TEACHING_PICTURES - len(chosen))
    return _shown(plain.names[row] for row in chosen)


def pictures_like(pictograms: Pictograms, vector: NDArray[np.float32]) -> list[tuple[str, str]]:
    """List the pictograms nearest to a text's unit vector (d,), (SET/NAME, emoji), best first."""
    nearest = np.argsort(-(pictograms.vectors @ vector), kind="stable")[:TEACHING_PICTURES].tolist()
    return _shown(pictograms.codes[row] for row in nearest)


def _shown(codes: Iterable[str]) -> list[tuple[str, str]]:
    return [(f"{PICTOGRAM_SET}/{code}", emoji(code)) for code in codes]


def is_sign(code: str) -> bool:
    """Whether a pictogram, by its code points, is a sign such as an arrow, a digit or a squared letter."""
    return SIGN_NAMES.search(unicodedata.name(emoji(code)[0], "")) is not None


def _uncovered(pictures: Pictures, captioned: Sequence[int], count: int) -> list[int]:
    cosines = np.maximum(pictures.vectors @ pictures.vectors.T, 0)
    covered: NDArray[np.float32] = (
        cosines[captioned].max(axis=0) if len(captioned) else np.zeros(len(cosines), np.float32)
    )
    # A picture gains less the more is covered, so that only gains that may be the greatest are computed anew.
    taken = set(captioned)
    gains = [(-np.inf, row) for row in range(len(cosines)) if row not in taken]
    chosen: list[int] = []
    while gains and len(chosen) < count:
        picture = heapq.heappop(gains)[1]
        gain = float(np.maximum(cosines[picture] - covered, 0).sum())
        if gains and (-gain, picture) > gains[0]:
            heapq.heappush(gains, (-gain, picture))
            continue
        chosen.append(picture)
        covered = np.maximum(covered, cosines[picture])
    return chosen
