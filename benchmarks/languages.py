"""Which language is it? What the index's detector gets right beside libraries that are installed.

    python -m benchmarks.languages --index INDEX [--data DIR] [--detector NAME ...]

On the lines of corpora/elsewhere that nothing is chosen by and on the words of corpora/dictionary; with the
data folder also on captions, on sentences of at most PHRASE_WORDS words and on single words. Each language of
the index weighs the same. first: per cent named first; two: per cent among the first two. `index` is what
users get, `tokens` and `fasttext` are its two parts; the others are py3langid, lingua-language-detector and
eldc, over all languages that they know, and have to be installed.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from index.answers.request import Kind
from index.answers.translator import Translator
from index.answers.word_index import fold
from index.storage.tables import read_array
from index.storage.versions import DETECTOR, open_version
from index.text.identification import Detector, fasttext_chances, fasttext_name

CORPORA = Path(__file__).resolve().parents[1] / "corpora"
PHRASE_WORDS = 5
MAX_TEXTS = 400  # texts of each language and kind
DETECTORS = ("index", "tokens", "fasttext", "py3langid", "lingua", "eldc")
Chances = Callable[[str, Kind], Mapping[str, float]]


class Item(NamedTuple):
    """A text of a set in a language; `kind` says how the service is asked."""

    set_name: str
    language: str
    text: str
    kind: Kind


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--detector", "names", multiple=True, type=click.Choice(DETECTORS), default=DETECTORS[:3])
def main(index: Path, data: Path | None, names: tuple[str, ...]) -> None:
    """Print one JSON object: detector -> set -> its figures."""
    translator = Translator.open(index)
    languages = [language.code for language in translator.languages if language.sentences]
    items = [item for code in languages for item in items_of(code, data)]
    click.echo(
        json.dumps({name: figures(detector_of(name, translator, index), items) for name in names}, indent=1)
    )


def figures(chances: Chances, items: Iterable[Item]) -> dict[str, dict[str, float]]:
    """Of each set its figures, and the time a text."""
    hits: dict[str, dict[str, list[tuple[bool, bool]]]] = {}
    count, start = 0, time.perf_counter()
    for item in items:
        likely = chances(item.text, item.kind)
        names = sorted(likely, key=lambda name: -likely[name])[:2]
        right = fasttext_name(item.language)
        first = [fasttext_name(name) == right for name in names]
        row = hits.setdefault(item.set_name, {}).setdefault(item.language, [])
        row.append((any(first[:1]), any(first)))
        count += 1
    spent = time.perf_counter() - start
    rates = {
        name: np.mean([np.mean(row, axis=0) for row in rows.values()], axis=0) for name, rows in hits.items()
    }
    results = {
        name: {"first": round(100 * float(first), 1), "two": round(100 * float(two), 1)}
        for name, (first, two) in rates.items()
    }
    return results | {"time": {"microseconds_a_text": round(1e6 * spent / max(count, 1))}}


def items_of(code: str, data: Path | None) -> Iterator[Item]:
    """The texts in a language, set by set."""
    for set_name, kind, texts in _sets(code, data):
        for text in list(dict.fromkeys(text for text in texts if text))[:MAX_TEXTS]:
            yield Item(set_name, code, text, kind)


def _sets(code: str, data: Path | None) -> Iterator[tuple[str, Kind, Iterable[str]]]:
    lines = enumerate(_column(CORPORA / "elsewhere" / f"{code}.tsv", 1))
    yield "phrases: elsewhere", "sentence", (text for number, text in lines if number % 3 == 2)
    words = _column(
        CORPORA / "dictionary" / ("en-de.tsv" if code == "en" else f"en-{code}.tsv"), code != "en"
    )
    yield "words: dictionary", "word", words
    if data is None:
        return
    splits = dict(line.split("\t") for line in _lines(data / "photos" / "splits.tsv"))
    captions = (line.split("\t") for line in _lines(data / "photos" / "captions" / f"{code}.tsv"))
    yield "sentences: captions", "sentence", (row[1] for row in captions if splits[row[0]] == "test")
    test = data / "benchmark" / "multi30k_test_2016" / f"{code}.txt"
    yield "sentences: multi30k", "sentence", _lines(test)
    folder = data / "benchmark" / ("everyday_de" if code == "en" else f"everyday_{code}")
    short = (text for text in _lines(folder / f"{code}.txt") if len(text.split()) <= PHRASE_WORDS)
    yield "phrases: everyday", "sentence", short
    cards = _column(data / "flashcards" / "captions" / f"{code}.tsv", 1)
    yield "words: flashcards", "word", (text for text in cards if len(text.split()) == 1)


def _column(path: Path, number: int) -> Iterator[str]:
    return (line.split("\t")[number] for line in _lines(path))


def _lines(path: Path) -> list[str]:
    """The lines of a file, none where there is no such file."""
    return path.read_text("utf-8").splitlines() if path.exists() else []


def detector_of(name: str, translator: Translator, index: Path) -> Chances:
    """What gives the chance of each language for a text; those of a library are over all that it knows."""
    if name == "index":
        return lambda text, kind: translator.language_chances([text], kind)[0]
    if name == "tokens":
        folder, manifest = open_version(index)
        tokens, size = translator.encoder.tokens, (len(manifest.detects), translator.encoder.vocabulary)
        detector = Detector(manifest.detects, read_array(folder / DETECTOR, size), tuple(manifest.languages))
        return lambda text, kind: detector.chances(tokens([fold(text) if kind == "word" else text])[0])
    if name == "fasttext":
        return lambda text, _: fasttext_chances(text)
    return {"py3langid": _py3langid, "lingua": _lingua, "eldc": _eldc}[name]()


def _py3langid() -> Chances:
    langid: Any = import_module("py3langid.langid")
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    return lambda text, _: dict(identifier.rank(text))


def _lingua() -> Chances:
    lingua: Any = import_module("lingua")
    detector = lingua.LanguageDetectorBuilder.from_all_languages().build()
    return lambda text, _: {
        row.language.iso_code_639_1.name.lower(): row.value
        for row in detector.compute_language_confidence_values(fold(text))
    }


def _eldc() -> Chances:
    eldc: Any = import_module("eldc")
    eldc.init()
    return lambda text, _: dict(eldc.detect_details(text).scores)


if __name__ == "__main__":
    main()
