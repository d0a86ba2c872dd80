"""Apple's string catalogues (.xcstrings): JSON with every text in all its languages.

Filled, a text gets the target language with the state `translated`, or `needs_review` if it is fuzzy. Texts
that vary (plurals, devices) are left to translators.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from index.errors import CorpusError
from index.formats.document import Document, Edit, Filling, Unit, decoded
from index.formats.json_strings import objects
from index.formats.sentence import LONGEST_ID, BadUnit, Sentence, as_written, is_text, local_group, parse_json
from index.formats.streams import read_whole
from index.languages import lookup


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield every text in every language. Raises CorpusError."""
    catalogue = _parsed(str(path), decoded(str(path), read_whole(path))[0])
    source = str(catalogue.get("sourceLanguage", "en"))
    for number, (key, entry) in enumerate(_entries(catalogue), start=1):
        texts = {source: (key, "translated")} | _texts(entry)
        name, group = key if len(key) <= LONGEST_ID else str(number), local_group(path, key)
        for code, (text, state) in texts.items():
            metadata = as_written(texts[source][0], text) if code != source else {}
            confirmed = state == "translated"
            yield Sentence(name, text, code, number, metadata, group, confirmed, is_string=True)


def open_document(content: bytes, label: str, target: str) -> Document:
    """Read a catalogue to be filled. Raises CorpusError."""
    text, charset = decoded(label, content)
    catalogue = _parsed(label, text)
    source = str(catalogue.get("sourceLanguage", "en"))
    document = Document(text, charset, source, marks_fuzzy=True)
    places = objects(text)
    for key, entry in _entries(catalogue):
        texts, localizations = _texts(entry), entry.get("localizations")
        stated = lookup(target, list(localizations)) if isinstance(localizations, dict) else None
        if stated is not None:
            document.kept += 1
            continue
        original = texts.get(source, (key, ""))[0]
        if original.strip():
            keys = ("strings", key) + (("localizations",) if isinstance(localizations, dict) else ())
            place, is_empty = places[keys], not (localizations if isinstance(localizations, dict) else entry)
            document.units.append(
                Unit(original, partial(_filled, place + 1, len(keys) == 2, is_empty, target))
            )
    return document


def _filled(place: int, is_first: bool, is_empty: bool, target: str, filling: Filling) -> Iterator[Edit]:
    state = "needs_review" if filling.fuzzy else "translated"
    written: dict[str, Any] = {target: {"stringUnit": {"state": state, "value": filling.text}}}
    written = {"localizations": written} if is_first else written
    members = json.dumps(written, ensure_ascii=False, separators=(", ", " : "))[1:-1]
    yield Edit(place, place, members if is_empty else f"{members},")


def _parsed(label: str, text: str) -> dict[str, Any]:
    try:
        catalogue = parse_json(text)
    except ValueError as error:
        raise CorpusError(f"{label}: not JSON ({error}): correct it") from error
    if not isinstance(catalogue, dict) or not isinstance(catalogue.get("strings"), dict):
        raise CorpusError(f"{label}: no `strings` in it: give a string catalogue")
    return catalogue


def _entries(catalogue: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, entry in catalogue["strings"].items():
        if isinstance(entry, dict) and entry.get("shouldTranslate") is not False:
            yield key, entry


def _texts(entry: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The text and its state in each language."""
    found = {}
    localizations = entry.get("localizations")
    for code, localization in localizations.items() if isinstance(localizations, dict) else ():
        unit = localization.get("stringUnit") if isinstance(localization, dict) else None
        if isinstance(unit, dict) and isinstance(unit.get("value"), str) and is_text(unit["value"]):
            found[code] = unit["value"], str(unit.get("state", ""))
    return found
