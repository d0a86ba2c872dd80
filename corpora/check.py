"""Checks the sentences of a folder like corpora/everyday: line i of every LANG.txt is the same scene.

    python corpora/check.py [FOLDER] [--scenes 300] [--against TEXTS [--common SCENE]...]

Every language must have equally many lines, each one clean sentence in its language's letters, no two of them
alike within a language, none the same in two languages. `--against` names a folder of other .txt and .tsv:
a line that is in there is a stray copy, unless its scene is named as so common that anybody writes it. A line
nearly like one of a file of its own language (`tr.tsv`, `train.tr.txt`) is told, for people to judge.
Exit 0: no problem. 1: one a line, as FILE:LINE. 2: wrong use.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

LIKE = 85  # of 100: twice the longest common subsequence over both lengths
LONGEST = 20  # words, or 40 characters where words are not spaced
ASCII = "A-Za-z"
LETTERS = {
    "en": ASCII,
    "de": ASCII + "ÄÖÜäöüßé",
    "pt": ASCII + "ÁÂÃÀÇÉÊÍÓÔÕÚáâãàçéêíóôõú",
    "fr": ASCII + "ÀÂÆÇÈÉÊËÎÏÔŒÙÛÜàâæçèéêëîïôœùûü",
    "es": ASCII + "ÁÉÍÑÓÚÜáéíñóúü",
    "tr": ASCII + "ÇĞİÖŞÜÂÎÛçğıöşüâîû",
    "cs": ASCII + "ÁČĎÉĚÍŇÓŘŠŤÚŮÝŽáčďéěíňóřšťúůýž",
    "uk": "АБВГҐДЕЄЖЗИІЇЙКЛМНОПРСТУФХЦЧШЩЬЮЯабвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "ar": "\u0621-\u063a\u0641-\u064a",  # letters alone: no tatweel, no vowel marks
    "hi": "\u0901-\u0903\u0905-\u0939\u093c\u093e-\u094d",  # no digits, no rare signs
    "zh": "\u4e00-\u9fff",
}
MARKS = {"zh": "，、", "ar": " ،"}  # between words
WORDS_APART = " ,'-"  # the same in all other languages
STOPS = {"zh": "。", "hi": "।"}


def folded(line: str) -> str:
    """What two lines are compared by: letters, digits and combining marks, in lower case."""
    kept = (c if unicodedata.category(c)[0] in "LMN" else " " for c in line.casefold())
    return " ".join("".join(kept).split())


def read(path: Path) -> tuple[list[str], list[str]]:
    """The lines of a file, and what is wrong with the file as a whole."""
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        return [], [f"{path.name}: not UTF-8 at byte {error.start}"]
    problems = [] if text.endswith("\n") else [f"{path.name}: the last line does not end"]
    return text.removesuffix("\n").split("\n"), problems


def form(line: str, language: str) -> str | None:
    """What is wrong with one line, or None."""
    stop = STOPS.get(language, ".")
    if not line:
        return "empty"
    if line != " ".join(line.split()):
        return "spaces at an end, or two in a row"
    if not unicodedata.is_normalized("NFC", line):
        return "not in Unicode's form NFC"
    allowed = re.compile(f"[{LETTERS[language]}{MARKS.get(language, WORDS_APART)}]")
    if wrong := sorted(set(allowed.sub("", line)) - {stop}):
        return f"not of {language}: {' '.join(wrong)}"
    if line.count(stop) != 1 or not line.endswith(stop):
        return f"must end in {stop!r} and have no other"
    if len(line) > 2 * LONGEST if language == "zh" else len(line.split()) > LONGEST:
        return f"longer than {LONGEST} words"
    return None


def alike(lines: list[str], others: list[str]) -> Iterator[tuple[int, int]]:
    """Pairs (i, j) of folded lines that are at least LIKE of 100 like one another."""
    if not lines or not others:
        return
    found: NDArray[np.float32] = process.cdist(
        lines, others, scorer=fuzz.ratio, score_cutoff=LIKE, dtype=np.float32
    )
    yield from ((int(i), int(j)) for i, j in np.argwhere(found > 0))


def check_language(language: str, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if fault := form(line, language):
            yield f"{language}.txt:{number}: {fault}: {line}"
    keys = [folded(line) for line in lines]
    for i, j in alike(keys, keys):
        if i < j:
            how = "the same as" if keys[i] == keys[j] else "nearly the same as"
            yield f"{language}.txt:{j + 1}: {how} line {i + 1}: {lines[j]}"


def check_folder(texts: dict[str, list[str]], scenes: int) -> Iterator[str]:
    """Counts, and lines that were left in another language."""
    counts = {language: len(lines) for language, lines in texts.items()}
    if len(set(counts.values())) > 1:
        yield "not equally many lines: " + ", ".join(f"{k} {n}" for k, n in sorted(counts.items()))
    if (fewest := min(counts.values())) < scenes:
        yield f"{fewest} scenes, {scenes} are wanted"
    seen: dict[str, str] = {}
    for language, lines in sorted(texts.items()):
        for number, line in enumerate(lines, start=1):
            place = f"{language}.txt:{number}"
            other = seen.setdefault(folded(line), place)
            if not other.startswith(f"{language}."):
                yield f"{place}: the same as {other}: {line}"


def other_texts(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """The cells of every .txt and .tsv below a folder, folded, each once."""
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".txt", ".tsv")):
        cells = re.split(r"[\t\n]", path.read_text("utf-8", errors="replace"))
        yield path, sorted({folded(cell) for cell in cells} - {""})


def check_copies(texts: dict[str, list[str]], folder: Path, common: set[int]) -> Iterator[str]:
    keys = {language: [folded(line) for line in lines] for language, lines in texts.items()}
    for path, others in other_texts(folder):
        exact = set(others)
        for language, mine in keys.items():
            for number, key in enumerate(mine, start=1):
                if key in exact and number not in common:
                    yield f"{language}.txt:{number}: a copy from {path}: {texts[language][number - 1]}"


def near_others(texts: dict[str, list[str]], folder: Path) -> Iterator[str]:
    for path, others in other_texts(folder):
        for language in texts.keys() & set(path.name.split(".")):
            mine = [folded(line) for line in texts[language]]
            for i, j in alike(mine, others):
                if mine[i] != others[j]:
                    yield f"{language}.txt:{i + 1}: like one in {path}: {texts[language][i]} | {others[j]}"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False)
@click.option("--scenes", default=300, show_default=True, help="How many there must be at least.")
@click.option(
    "--against", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Other people's text."
)
@click.option("--common", multiple=True, type=int, help="A scene that may stand there: anybody writes it.")
def main(folder: Path | None, scenes: int, against: Path | None, common: tuple[int, ...]) -> None:
    """Check the sentences in FOLDER (this repository's corpora/everyday)."""
    folder = folder or Path(__file__).parent / "everyday"
    texts: dict[str, list[str]] = {}
    problems: list[str] = []
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in LETTERS:
            problems.append(f"{path.name}: no letters are known for {path.stem}: add them to LETTERS")
            continue
        texts[path.stem], wrong = read(path)
        problems += wrong
    if not texts:
        raise click.UsageError(f"{folder} has no LANG.txt")
    problems += check_folder(texts, scenes)
    for language, lines in texts.items():
        problems += check_language(language, lines)
    if against:
        problems += check_copies(texts, against, set(common))
        for note in near_others(texts, against):
            click.echo(f"(to judge) {note}")
    for problem in problems:
        click.echo(problem)
    click.echo(f"{len(texts)} languages, {min(map(len, texts.values()))} scenes, {len(problems)} problems")
    raise SystemExit(bool(problems))


if __name__ == "__main__":
    main()
