"""Checks the sentences of a folder like corpora/everyday: line i of every LANG.txt says the same.

    python corpora/check.py [FOLDER] [--entries 2200] [--sayings 929 1254] [--against TEXTS [--common N]...]

Every language must have equally many lines, each one clean sentence in its language's letters, none the same
in two languages. Scenes end in a full stop, and no two of a language are alike. Of the lines that people say
(`--sayings`, first and last), which are short and differ in a word, no two are the same.
`--against` names a folder of other .txt and .tsv: a scene that is in there is a stray copy, unless it is
named as so common that anybody writes it. A scene nearly like one of a file of its own language (`tr.tsv`,
`train.tr.txt`) is told, for people to judge. What people say is not compared: everybody has said it.
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

MIN_SIMILARITY = 85  # of 100: twice the longest common subsequence over both lengths
MAX_WORDS = 20  # words, or 40 characters where words are not spaced
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
QUESTIONS_AND_CALLS = {"zh": "？！", "ar": "؟!"}  # ends of what people say, beside the full stop
OPENING = {"?": "¿", "!": "¡"}  # Spanish
SAYING_LINES = (929, 1254)  # first and last line of corpora/everyday that people say


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


def form(line: str, language: str, stops: str) -> str | None:
    """What is wrong with one line that must end in one of the stops, or None."""
    if not line:
        return "empty"
    if line != " ".join(line.split()):
        return "spaces at an end, or two in a row"
    if not unicodedata.is_normalized("NFC", line):
        return "not in Unicode's form NFC"
    body, stop = line[:-1], line[-1]
    if language == "es" and stop in OPENING:
        if not body.startswith(OPENING[stop]):
            return f"must begin with {OPENING[stop]!r}"
        body = body[1:]
    allowed = re.compile(f"[{LETTERS[language]}{MARKS.get(language, WORDS_APART)}]")
    if wrong := sorted(set(allowed.sub("", body + stop)) - set(stops)):
        return f"not of {language}: {' '.join(wrong)}"
    if stop not in stops or set(body) & set(stops):
        return f"must end in {' or '.join(map(repr, stops))} and have no other"
    if len(line) > 2 * MAX_WORDS if language == "zh" else len(line.split()) > MAX_WORDS:
        return f"longer than {MAX_WORDS} words"
    return None


def alike(lines: list[str], others: list[str]) -> Iterator[tuple[int, int]]:
    """Pairs (i, j) of folded lines that are at least MIN_SIMILARITY of 100 like one another."""
    if not lines or not others:
        return
    found: NDArray[np.float32] = process.cdist(
        lines, others, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, dtype=np.float32
    )
    yield from ((int(i), int(j)) for i, j in np.argwhere(found > 0))


def check_language(language: str, lines: list[str], sayings: range) -> Iterator[str]:
    full_stop = STOPS.get(language, ".")
    all_stops = full_stop + QUESTIONS_AND_CALLS.get(language, "?!")
    for number, line in enumerate(lines, start=1):
        if fault := form(line, language, all_stops if number in sayings else full_stop):
            yield f"{language}.txt:{number}: {fault}: {line}"
    keys = [folded(line) for line in lines]
    for i, j in alike(keys, keys):
        same = keys[i] == keys[j]
        if i < j and (same or not {i + 1, j + 1} & set(sayings)):
            how = "the same as" if same else "nearly the same as"
            yield f"{language}.txt:{j + 1}: {how} line {i + 1}: {lines[j]}"


def check_folder(texts: dict[str, list[str]], entries: int) -> Iterator[str]:
    """Counts, and lines that were left in another language."""
    counts = {language: len(lines) for language, lines in texts.items()}
    if len(set(counts.values())) > 1:
        yield "not equally many lines: " + ", ".join(f"{k} {n}" for k, n in sorted(counts.items()))
    if (fewest := min(counts.values())) < entries:
        yield f"{fewest} entries, {entries} are wanted"
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


def near_others(texts: dict[str, list[str]], folder: Path, except_for: set[int]) -> Iterator[str]:
    for path, others in other_texts(folder):
        for language in texts.keys() & set(path.name.split(".")):
            mine = [folded(line) for line in texts[language]]
            for i, j in alike(mine, others):
                if mine[i] != others[j] and i + 1 not in except_for:
                    yield f"{language}.txt:{i + 1}: like one in {path}: {texts[language][i]} | {others[j]}"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False)
@click.option("--entries", default=2200, show_default=True, help="How many there must be at least.")
@click.option("--sayings", type=(int, int), default=SAYING_LINES, help="First and last line that people say.")
@click.option(
    "--against", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Other people's text."
)
@click.option("--common", multiple=True, type=int, help="A line that may stand there: anybody writes it.")
def main(
    folder: Path | None,
    entries: int,
    sayings: tuple[int, int],
    against: Path | None,
    common: tuple[int, ...],
) -> None:
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
    said = range(sayings[0], sayings[1] + 1)
    problems += check_folder(texts, entries)
    for language, lines in texts.items():
        problems += check_language(language, lines, said)
    if against:
        problems += check_copies(texts, against, {*common, *said})
        for note in near_others(texts, against, set(said)):
            click.echo(f"(to judge) {note}")
    for problem in problems:
        click.echo(problem)
    click.echo(f"{len(texts)} languages, {min(map(len, texts.values()))} entries, {len(problems)} problems")
    raise SystemExit(bool(problems))


if __name__ == "__main__":
    main()
