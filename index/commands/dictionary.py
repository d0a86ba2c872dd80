"""Dictionary export: the words of one language with their translations into another, as TSV."""

from collections.abc import Iterator
from pathlib import Path

from index.answers.translator import Translator
from index.errors import UsageError, listed
from index.progress import Progress
from index.storage.files import output_file

DICTIONARY_COLUMNS = ("word", "translation", "confidence", "score", "count")
WORDS_AT_ONCE = 1024


def export_dictionary(index: Path, pair: str, out: Path, k: int = 1) -> int:
    """Write up to `k` translations of every word for a pair such as "en-de"; return the number of lines.

    The most frequent words come first. Raises UsageError for an invalid pair or a file that cannot be
    written, UnknownLanguageError, BundleError.
    """
    translator = Translator.open(index)
    source, target = split_pair(pair, translator)
    written = 0
    with output_file(out) as draft, draft.open("w", encoding="utf-8") as file:
        file.write("\t".join(DICTIONARY_COLUMNS) + "\n")
        for line in entries(translator, source, target, k):
            file.write("\t".join(line) + "\n")
            written += 1
    return written


def split_pair(pair: str, translator: Translator) -> tuple[str, str]:
    """The two codes of a pair such as en-de or zh-Hant-pt. Raises UsageError."""
    targets = {info.code: info.targets for info in translator.languages if info.words}
    for source, others in targets.items():
        if pair.startswith(f"{source}-") and pair.removeprefix(f"{source}-") in others:
            return source, pair.removeprefix(f"{source}-")
    pairs = [f"{source}-{other}" for source, others in targets.items() for other in others]
    raise UsageError(f"no dictionary {pair!r}; there are: {listed(pairs) or 'none'}")


def entries(translator: Translator, source: str, target: str, k: int) -> Iterator[tuple[str, ...]]:
    """Lines of DICTIONARY_COLUMNS."""
    words = translator.vocabulary(source)
    with Progress(len(words), unit="words", label=f"{source}-{target}") as bar:
        for start in range(0, len(words), WORDS_AT_ONCE):
            block = words[start : start + WORDS_AT_ONCE]
            texts = [word for word, _ in block]
            for (word, count), matches in zip(block, translator.words(texts, source, target, k), strict=True):
                for match in matches:
                    yield word, match.text, f"{match.confidence:.3f}", f"{match.score:.3f}", str(count)
            bar.advance(len(block))
