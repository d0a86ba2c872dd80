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
from index.text.normalisation import clean

PHRASES = Path(__file__).parents[1] / "corpora" / "phrases" / "phrases.tsv"
GREETINGS = {
    "en": ("Hello, ", " Thank you."),
    "de": ("Hallo, ", " Danke."),
    "pt": ("Olá, ", " Obrigado."),
    "zh": ("你好，", "谢谢。"),
    "ar": ("مرحبا، ", " شكرا."),
    "tr": ("Merhaba, ", " Teşekkürler."),
    "fr": ("Bonjour, ", " Merci."),
    "cs": ("Dobrý den, ", " Děkuji."),
    "es": ("Hola, ", " Gracias."),
    "uk": ("Вітаю, ", " Дякую."),
    "hi": ("नमस्ते, ", " धन्यवाद।"),
}
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


WRITTEN: dict[str, Callable[[str, str], str]] = {
    "as it is": lambda text, _: text,
    "lower case": lambda text, _: text.lower(),
    "without punctuation": lambda text, _: clean(text.translate(NO_MARKS)),
    "without accents": without_accents,
    "by another keyboard": by_keyboard,
    "shortened": shortened,
    "after a greeting": lambda text, code: GREETINGS[code][0] + text[0].lower() + text[1:],
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
