"""Speakers: what a man and a woman say of themselves, or to each other, in other forms of the same words.

"Я заблукала" says what "Я заблукав" says: of which sex somebody is who is there, all can see. speakers.toml
lists for each language the words of who speaks (`i`), of the hearer (`you`) and of `others`; pairs of endings
(`forms`, "a o": cansada, cansado); and, where nouns end alike, the words that the form comes right `after`.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Speakers(NamedTuple):
    """How the speakers of a language tell of which sex they are; `after` is empty if in any word."""

    i: re.Pattern[str]
    you: re.Pattern[str]
    others: frozenset[str]
    after: frozenset[str]
    forms: Sequence[Sequence[str]]

    def alike(self, asked: Sequence[str], answered: Sequence[str]) -> bool:
        """Whether the words of two texts are of the same speaker or hearer, and of nobody else."""
        if not self.others.isdisjoint([*asked, *answered]):
            return False
        return any(
            all(any(map(person.fullmatch, words)) for words in (asked, answered))
            for person in (self.i, self.you)
        )


@cache
def speakers_of(language: str) -> Speakers | None:
    """The speakers of a language; None if they tell no sex, or it is not known how."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    if (table := tables.get(language)) is None:
        return None
    i, you = (
        re.compile("|".join(re.escape(word).replace(r"\*", r"\w+") for word in table[name]))
        for name in ("i", "you")
    )
    others, after = (frozenset(table.get(name, ())) for name in ("others", "after"))
    return Speakers(i, you, others, after, [forms.split(" ") for forms in table["forms"]])
