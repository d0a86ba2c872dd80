"""The languages of the index, and a query in them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from index.search.translator import LanguageInfo
from index.text.sentences import sentences


class Languages:
    """The languages of an index, found by code in any case (BCP 47 codes are case-insensitive)."""

    def __init__(self, languages: Iterable[LanguageInfo]) -> None:
        self._by_code = {language.code.lower(): language for language in languages}

    @property
    def codes(self) -> list[str]:
        return sorted(language.code for language in self._by_code.values())

    def find(self, code: str) -> str | None:
        """The code as the index spells it."""
        language = self._by_code.get(code.lower())
        return language.code if language else None

    def match(self, tag: str) -> str | None:
        """The language of a tag in any spelling ("pt_BR"), or of the first part of the tag ("pt")."""
        code = tag.replace("_", "-").replace("@", "-")
        return self.find(code) or self.find(code.partition("-")[0])

    def targets(self, source: str) -> tuple[str, ...]:
        return self._by_code[source.lower()].targets


class Query(NamedTuple):
    """A text to translate from one language into others."""

    text: str
    source: str
    targets: tuple[str, ...]


def divided(queries: Sequence[Query]) -> list[list[Query]]:
    """Divide each query into its sentences; an empty list for a query of a single sentence."""
    rows = [sentences(query.text, query.source) for query in queries]
    return [
        [Query(part, query.source, query.targets) for part in parts] if len(parts) > 1 else []
        for query, parts in zip(queries, rows, strict=True)
    ]
