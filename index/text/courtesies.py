"""Courtesies: what stands around a sentence, a greeting, thanks or "can you tell me", is not asked."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from index.languages import has_spaces

TEXTS_CACHED = 1 << 13  # a question is compared with several sentences
COMMA = r"[\s,،，]"
NEVER = r"(?!)"
WORD = r"[^\W\d_]+"
END = re.compile(r"[\s.!?…。！？؟।]*$")


class _Around(NamedTuple):
    """Patterns of what greets before a sentence, makes an indirect question of it, and closes it."""

    greeting: re.Pattern[str]
    indirect: re.Pattern[str]
    closing: re.Pattern[str]


@lru_cache(TEXTS_CACHED)
def without_courtesies(text: str, language: str) -> str:
    """A text without the courtesies around what it says in one sentence.

    An indirect question ("hello, can you tell me where it hurts") becomes a direct one ("where it hurts?").
    """
    if language not in _tables():
        return text
    around = _patterns(language)
    text = around.closing.sub("", text)  # first, since "excuse me, please" is more than "please"
    if greeted := around.greeting.match(text):
        text = text[greeted.end() :]
    if indirect := around.indirect.match(text):
        text = END.sub("?", text[indirect.end() :], count=1)
    return text


def without_article(word: str, language: str) -> str:
    """A lower-cased word without the article before it, or "to"."""
    article, _, rest = word.partition(" ")
    return rest if article in _tables().get(language, {}).get("article", ()) else word


@cache
def _patterns(language: str) -> _Around:
    names = "greeting", "that", "ask", "tell", "sign", "whether", "asked", "asked_later", "closing"
    greeting, that, ask, tell, sign, whether, asked, later, closing = (
        _any_of(_tables()[language].get(name, ())) for name in names
    )
    ended = r"(?!\w)" if has_spaces(language) else ""
    direct = rf"(?:{whether}){ended}\s*|(?=¿?(?:{asked}){ended}|.*(?:{later}))"
    # Possessive, since a phrase may stand in the tables with its comma and without.
    patterns = (
        rf"[¿¡]?(?>(?:{greeting})(?:(?<=\W)|(?!\w)){COMMA}*)++(?=[\w¿])(?!(?:{that}){ended})",
        rf"¿?(?:{ask}|(?:{tell})(?!{COMMA}+(?:{sign}))){ended}{COMMA}*(?:{direct})",
        rf"(?<=[^\s,،，¿])(?>(?:{COMMA}|¿)++(?:{closing})(?!\w))++(?=\W*$)",
    )
    return _Around(*(re.compile(pattern, re.IGNORECASE) for pattern in patterns))


def _any_of(phrases: Iterable[str]) -> str:
    """A pattern of phrases, in which `*` is any word; of one that begins with a comma only after that."""
    parts = (re.split(f"^({COMMA}+¿?)", phrase) for phrase in sorted(phrases, key=len, reverse=True))
    patterns = (
        f"(?<={''.join(before)}){re.escape(phrase)}".replace(r"\*", WORD) for *before, phrase in parts
    )
    return "|".join(patterns) or NEVER


@cache
def _tables() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
