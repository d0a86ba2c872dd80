"""CLDR annotations (Unicode): each emoji's name in a language; the names of one character are a group."""

from collections.abc import Iterator
from pathlib import Path

from index.formats import xml
from index.formats.sentence import BadUnit, Sentence


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield the names (type="tts") as sentences with keywords as metadata, in the file's own language."""
    keywords: dict[str, list[str]] = {}
    code = ""
    for element in xml.records(path, "ldml", ("identity", "annotation")):
        if xml.name(element) == "identity":
            named = {
                xml.name(child): child.get("type", "")
                for child in xml.children(element, "language", "script", "territory")
            }
            code = "-".join(named.values())
            continue
        character, text = element.get("cp"), element.text or ""
        if character is None or not code:
            yield BadUnit(element.sourceline, "no `cp`, or no <identity> before it: add it")
            continue
        if element.get("type") != "tts":
            # A character's keywords stand before its name: only the latest are kept.
            keywords = {character: [word.strip() for word in text.split("|")]}
            continue
        # Once: a name that is repeated does not repeat them.
        metadata = {"cp": character, "keywords": keywords.pop(character, [])}
        yield Sentence(character, text, code, element.sourceline, metadata, group=f"cldr#{character}")
