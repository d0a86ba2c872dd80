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
        if isinstance(element, BadUnit):
            yield element
            continue
        if element.name == "identity":
            named = {
                child.name: child.get("type") or ""
                for child in element.elements("language", "script", "territory")
            }
            code = "-".join(named.values())
            continue
        character, text = element.get("cp"), element.text
        if character is None or not code:
            yield BadUnit(element.line, "no `cp`, or no <identity> before it: add it")
            continue
        if element.get("type") != "tts":
            # A character's keywords stand before its name: only the latest are kept.
            keywords = {character: [word.strip() for word in text.split("|")]}
            continue
        # Once: a name that is repeated does not repeat them.
        metadata = {"cp": character, "keywords": keywords.pop(character, [])}
        yield Sentence(character, text, code, element.line, metadata, group=f"cldr#{character}")
