"""words/LANG.tsv.gz of a bundle: words that its encoder has read, and what mining has found that they mean.

Lines of a word, a tab and how often it occurs, most frequent first; then, of words with translations, another
tab and these, words of the language that all others were mined with: `dog=62 hound=11`. Each has a weight in
hundredths, how much of its vector stands beside the word's own.
"""

import gzip
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from index.errors import DamagedError

TRANSLATION = r"[^\s=]+=[0-9]+"
LINE = re.compile(rf"([^\t]+)\t([0-9]+)(?:\t({TRANSLATION}(?: {TRANSLATION})*))?")
HUNDREDTHS = 100
LEAST_HUNDREDTHS = 5  # that a translation weighs, to be kept

WordMeanings = Mapping[str, Mapping[str, float]]  # word -> what it means -> how much of its vector


@dataclass(frozen=True)
class WordList:
    """How often each word of a language occurs, and the translations of those that have any."""

    counts: Mapping[str, int]
    translations: WordMeanings


def read_word_list(file: Path, content: bytes | None = None) -> WordList:
    """Read what `write_word_list` wrote, or its `content` if that is known. DamagedError if malformed."""
    try:
        lines = gzip.decompress(file.read_bytes() if content is None else content).decode().splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DamagedError(f"{file}: {error}: export the bundle again") from error
    counts: dict[str, int] = {}
    translations: dict[str, dict[str, float]] = {}
    for number, line in enumerate(lines, start=1):
        if not (match := LINE.fullmatch(line)):
            raise DamagedError(
                f"{file}, line {number}: not a word, a tab and a count: export the bundle again"
            )
        word, count, meanings = match.groups()
        counts[word] = int(count)
        if meanings:
            parts = (part.split("=") for part in meanings.split(" "))
            translations[word] = {meaning: int(weight) / HUNDREDTHS for meaning, weight in parts}
    return WordList(counts, translations)


def write_word_list(words: WordList, file: Path) -> None:
    """Write words in their order, with translations that weigh a twentieth at least."""
    content = "".join(
        "\t".join(filter(None, (word, str(count), _written(words.translations.get(word, {}))))) + "\n"
        for word, count in words.counts.items()
    )
    file.write_bytes(gzip.compress(content.encode(), mtime=0))


def _written(meanings: Mapping[str, float]) -> str:
    hundredths = {meaning: round(HUNDREDTHS * weight) for meaning, weight in meanings.items()}
    kept = (f"{meaning}={weight}" for meaning, weight in hundredths.items() if weight >= LEAST_HUNDREDTHS)
    return " ".join(kept)
