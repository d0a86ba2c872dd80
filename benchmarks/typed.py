"""The phrases of an index as people type them: do they still find their own translation?

    python -m benchmarks.typed --index INDEX [--target de]

Every phrase of corpora/phrases in each language of the index is asked of `target`, written as below. Per cent
of those that this changes whose first answer is called more than near, and is the phrase's own (`right`) or
not (`wrong`).
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import click

from index.answers.translator import Translator
from index.languages import has_spaces
from index.text.normalisation import clean, lowered

PHRASES = Path(__file__).parents[1] / "corpora" / "phrases" / "phrases.tsv"
GREETINGS = {
    "en": ("Hello, ", " Thank you.", "Doctor, "),
    "de": ("Hallo, ", " Danke.", "Herr Doktor, "),
    "pt": ("Olá, ", " Obrigado.", "Doutora, "),
    "zh": ("你好，", "谢谢。", "医生，"),
    "ar": ("مرحبا، ", " شكرا.", "يا دكتور، "),
    "tr": ("Merhaba, ", " Teşekkürler.", "Doktor bey, "),
    "fr": ("Bonjour, ", " Merci.", "Docteur, "),
    "cs": ("Dobrý den, ", " Děkuji.", "Pane doktore, "),
    "es": ("Hola, ", " Gracias.", "Doctora, "),
    "uk": ("Вітаю, ", " Дякую.", "Лікарю, "),
    "hi": ("नमस्ते, ", " धन्यवाद।", "डॉक्टर साहब, "),
}
PLEASE = {
    "en": ", please",
    "de": ", bitte",
    "pt": ", por favor",
    "zh": "，谢谢",
    "ar": " من فضلك",
    "tr": " lütfen",
    "fr": ", s'il vous plaît",
    "cs": ", prosím",
    "es": ", por favor",
    "uk": ", будь ласка",
    "hi": " कृपया",
}
LETTERS = 6  # of a word in which two change places
SHORTENED = {
    r"\b(What|Where|Who|How) is\b": r"\1's",
    r"\b(is|are|do|does|have|has|must) not\b": r"\1n't",
    r"\b(You|We|They) are\b": r"\1're",
    r"\b(It|He|She) is\b": r"\1's",
    r"\bI am\b": "I'm",
    r"\bcannot\b": "can't",
}
NO_MARKS = str.maketrans("", "", ".,;:?!¿¡。，？！؟،।")
ARABIC = str.maketrans("أإآةى", "اااهي")
UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}


def without_accents(text: str, _: str) -> str:
    """As on a keyboard without them."""
    marks = unicodedata.normalize("NFD", text.replace("ı", "i").replace("ß", "ss"))
    bare = "".join(sign for sign in marks if not "\u0300" <= sign <= "\u036f")
    return bare if bare.isascii() else text


def shortened(text: str, language: str) -> str:
    """In English, as it is spoken."""
    for long, short in SHORTENED.items() if language == "en" else ():
        text = re.sub(long, short, text)
    return text


def by_keyboard(text: str, language: str) -> str:
    """German without its own letters, Arabic without hamza and the dots of endings."""
    if language == "de":
        return "".join(UMLAUTS.get(letter, letter) for letter in text)
    return text.translate(ARABIC) if language == "ar" else text


def with_please(text: str, language: str) -> str:
    """With "please" at its end."""
    said = text.rstrip(" .!?؟。？！।")
    return said + PLEASE[language] + text[len(said) :]


def in_capitals(text: str, language: str) -> str:
    """Of Turkish, i has a dot of its own."""
    return (text.replace("i", "İ") if language == "tr" else text).upper()


def with_a_mistake(text: str, language: str) -> str:
    """Two letters in the middle of the first long word change places."""
    if not has_spaces(language):
        return text

    def mistyped(match: re.Match[str]) -> str:
        word = match.group()
        middle = len(word) // 2
        return word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]

    return re.sub(rf"[^\W\d_]{{{LETTERS},}}", mistyped, text, count=1)


def in_figures(text: str, language: str) -> str:
    """In English, with figures for numbers that are no articles."""
    numbers = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    for value, number in enumerate(numbers, 2) if language == "en" else ():
        text = re.sub(rf"\b{number}\b", str(value), text)
    return text


WRITTEN: dict[str, Callable[[str, str], str]] = {
    "as it is": lambda text, _: text,
    "lower case": lowered,
    "capitals": in_capitals,
    "without punctuation": lambda text, _: clean(text.translate(NO_MARKS)),
    "without accents": without_accents,
    "by another keyboard": by_keyboard,
    "shortened": shortened,
    "after a greeting": lambda text, code: GREETINGS[code][0] + lowered(text[0], code) + text[1:],
    "to a doctor": lambda text, code: GREETINGS[code][2] + lowered(text[0], code) + text[1:],
    "with please": with_please,
    "with a mistake": with_a_mistake,
    "in figures": in_figures,
    "with thanks": lambda text, code: text + GREETINGS[code][1],
}


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--target", type=click.Choice(sorted(GREETINGS)), default="de", show_default=True)
def main(index: Path, target: str) -> None:
    """Print a line of JSON for each way of writing: language, or all -> right, wrong."""
    translator = Translator.open(index)
    header, *lines = (line.split("\t") for line in PHRASES.read_text("utf-8").splitlines())
    rows = [dict(zip(header, map(clean, line), strict=True)) for line in lines]
    for name, write in WRITTEN.items():
        figures, every = {}, Counter[str]()
        for code in GREETINGS:
            typed = [(write(row[code], code), row) for row in rows]
            changed = [(text, row) for text, row in typed if text != row[code] or name == "as it is"]
            if not changed:
                continue
            to = target if code != target else "en"
            answers = translator.sentences([text for text, _ in changed], code, to)
            counted = Counter(asked=len(changed))
            for (_, row), found in zip(changed, answers, strict=True):
                if found and found[0].match != "near":
                    counted["right" if found[0].text == row[to] else "wrong"] += 1
            figures[code] = shares(counted)
            every += counted
        click.echo(json.dumps({"written": name, **figures, "all": shares(every)}))


def shares(counted: Counter[str]) -> dict[str, float]:
    """Right and wrong, in per cent of what was asked."""
    return {name: round(100 * counted[name] / counted["asked"], 1) for name in ("right", "wrong")}


if __name__ == "__main__":
    main()
