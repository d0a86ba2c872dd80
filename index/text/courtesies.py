"""Courtesies: a greeting before what is asked, a "please" or thanks after it, an article, are not asked."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path


def without_courtesies(text: str, language: str) -> str:
    """A text without the courtesies around what it says in one sentence."""
    if language not in _tables():
        return text
    greeting, closing = _patterns(language)
    text = closing.sub("", text)  # first, since "excuse me, please" is more than "please"
    return text[greeted.end() :] if (greeted := greeting.match(text)) else text


def without_article(word: str, language: str) -> str:
    """A lower-cased word without the article before it, or "to"."""
    article, _, rest = word.partition(" ")
    return rest if article in _tables().get(language, {}).get("article", ()) else word


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What finds a greeting at the beginning, and what finds a closing at the end."""
    table = _tables()[language]
    greeting, closing = ("|".join(map(re.escape, table[name])) for name in ("greeting", "closing"))
    return (
        re.compile(rf"(?:{greeting})(?!\w)[\s,،，]*(?=[\w¿])", re.IGNORECASE),
        re.compile(rf"(?<=[^\s,،，])[\s,،，]+(?:{closing})(?=\W*$)", re.IGNORECASE),
    )


@cache
def _tables() -> dict[str, dict[str, Sequence[str]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
