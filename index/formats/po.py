"""Gettext PO and POT: msgid is English (gettext's convention), msgstr the header's Language.

Filled, a fuzzy translation has the flag `fuzzy` and the text it was made for (`#| msgid`).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from index.errors import CorpusError, UsageError
from index.formats.document import Charset, Document, Edit, Filling, Unit, check_target, decoded
from index.formats.sentence import CONTEXT, FORMS, BadUnit, Sentence, as_written, local_group
from index.formats.streams import READ_BYTES, read_whole

SOURCE_LANGUAGE = "en"
LONGEST_ENTRY = 1 << 20  # characters
FAULT_SHOWN = 76  # characters of what is no PO, in its error
MOST_PLURALS = 16  # forms; Arabic has 6
NO_CHARSET = b"CHARSET"  # of a template
_CHARSET = re.compile(rb'charset=([^\s"\\;]+)')
_NEXT_ENTRY = re.compile(r"^(?=#|msgid|msgctxt|domain)", re.MULTILINE)
_TOKEN = re.compile(
    r"""(?P<obsolete>\#~[ \t]*(?!\|))
    |(?:(?P<string>"(?:[^"\\\n]++|\\.)*+")
    |(?P<comment>\#[^\n]*)
    |(?P<keyword>msgctxt|msgid_plural|msgid|msgstr(?:[ \t]*\[\d{1,3}\])?|domain)(?![A-Za-z_])
    |(?P<space>\s))\s*""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPES = str.maketrans(
    {text: f"\\{letter}" for letter, text in _ESCAPED.items()} | {'"': '\\"', "\\": "\\\\"}
)


@dataclass
class Part:
    """A keyword with the strings after it, from `begin` to `end`."""

    begin: int
    end: int = -1
    strings: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the strings."""
        return _ESCAPE.sub(_character, "".join(self.strings))


@dataclass
class Entry:
    """An entry: its comments with their places, its parts by keyword, and what is wrong with it."""

    line: int
    comments: list[tuple[int, str]] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)
    obsolete: bool = False
    bad: BadUnit | None = None

    def text(self, keyword: str) -> str | None:
        """The text of a keyword; None without it."""
        part = self.parts.get(keyword)
        return None if part is None else part.text

    @property
    def is_complete(self) -> bool:
        """Whether another entry may begin."""
        return bool(self.targets or self.bad or "domain" in self.parts)

    @property
    def begin(self) -> int:
        """Where the keywords begin."""
        return min(part.begin for part in self.parts.values())

    @property
    def targets(self) -> list[Part]:
        """The msgstr, or those of all plural forms."""
        return [part for keyword, part in self.parts.items() if keyword.startswith("msgstr")]

    @property
    def is_header(self) -> bool:
        return self.text("msgid") == "" and "msgctxt" not in self.parts

    def flags(self) -> list[str]:
        """What `#,` comments say, such as fuzzy."""
        return [
            flag.strip() for _, text in self.comments if text[1:2] in ",=" for flag in text[2:].split(",")
        ]

    def said(self, mark: str) -> list[str]:
        """The comments with a mark: `.` of programmers, a space of translators, `:` references."""
        return [text[2:].strip() for _, text in self.comments if (text[1:2] or " ") == mark]


def entries(text: str) -> Iterator[Entry]:
    """Yield the entries of a catalogue, malformed ones with the reason; comments at the end are left out."""
    entry, part, obsolete = Entry(1), Part(0), False
    place, line, length = 0, 1, 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        kind = token.lastgroup if token else None
        word = re.sub(r"\s", "", token["keyword"]) if token and kind == "keyword" else ""
        if entry.is_complete and (
            kind == "comment" or (token is None and part.end >= 0) or word in ("msgid", "msgctxt", "domain")
        ):
            yield _checked(entry)
            entry, length = Entry(line), 0
        if token is None:
            shown = text[place : place + FAULT_SHOWN].partition("\n")[0].strip()
            fault = "a string that does not end" if shown.startswith('"') else f"{shown!r} is no keyword"
            entry.bad = entry.bad or BadUnit(line, f"not PO ({fault}): correct it")
            place = end if (end := text.find("\n", place)) >= 0 else len(text)
            continue
        if kind == "comment":
            entry.comments.append((place, token["comment"]))
        elif kind == "keyword":
            if word in entry.parts:
                entry.bad = entry.bad or BadUnit(line, f"not PO ({word} twice): correct it")
            entry.obsolete, obsolete = entry.obsolete or obsolete, False
            entry.line = entry.line if entry.parts else line
            part = entry.parts[word] = Part(place)
        elif kind == "string":
            part.strings.append(token["string"][1:-1])
            part.end, length = token.end("string"), length + len(token[0])
            if length > LONGEST_ENTRY and entry.bad is None:
                entry.bad = BadUnit(line, f"an entry longer than {LONGEST_ENTRY} characters: divide it")
                following = _NEXT_ENTRY.search(text, token.end())
                end = following.start() if following else len(text)
                line += text.count("\n", place, end)
                place = end
                continue
        obsolete = kind == "obsolete" or (obsolete and "\n" not in token[0])
        line += token[0].count("\n")
        place = token.end()
    if entry.parts or entry.bad:
        yield _checked(entry)


def _checked(entry: Entry) -> Entry:
    keywords = [keyword for keyword in entry.parts if keyword != "domain"]
    forms = [keyword for keyword in keywords if keyword.startswith("msgstr[")]
    plural = ["msgid_plural", *(f"msgstr[{number}]" for number in range(len(forms)))] if forms else ["msgstr"]
    wanted = [*(["msgctxt"] if "msgctxt" in entry.parts else []), "msgid", *plural]
    if entry.bad is None and keywords and (sorted(keywords) != sorted(wanted) or len(forms) > MOST_PLURALS):
        entry.bad = BadUnit(entry.line, f"not PO ({', '.join(keywords[:9])}): give msgid and msgstr")
    if entry.bad is None and any(part.end < 0 for part in entry.parts.values()):
        entry.bad = BadUnit(entry.line, "not PO (a keyword without a string): correct it")
    return entry


def _character(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8) & 0xFF) if code[0] in "01234567" else _ESCAPED.get(code, code)


def _decoded(label: str, content: bytes) -> tuple[str, Charset]:
    stated = _CHARSET.search(content[:READ_BYTES])
    charset = stated[1].decode("ascii", "replace") if stated and stated[1] != NO_CHARSET else "utf-8"
    return decoded(label, content, charset)


def _headers(entry: Entry | None) -> dict[str, str]:
    rows = (row.partition(":") for row in (entry.text("msgstr") or "" if entry else "").split("\n"))
    return {name.strip(): value.strip() for name, _, value in rows}


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield msgid and msgstr of every entry; the plural pairs with the last msgstr. Raises CorpusError.

    `language` is that of the msgstr if the header does not say it.
    """
    code = language if language != SOURCE_LANGUAGE else None
    number = 0
    text, _ = _decoded(str(path), read_whole(path))
    has_contexts = "msgctxt" in text
    for entry in entries(text):
        if entry.bad is not None:
            yield entry.bad
        elif entry.is_header:
            code = _headers(entry).get("Language") or code
        elif not entry.obsolete and entry.targets:
            if code is None:
                raise CorpusError(
                    f"{path}: its header has no `Language:`: add it, or give --corpus LANG={path}"
                )
            number += 1
            yield from _sentences(path, entry, number, code, has_contexts)


def _sentences(path: Path, entry: Entry, number: int, code: str, has_contexts: bool) -> Iterator[Sentence]:
    metadata, forms = _metadata(entry), [part.text for part in entry.targets]
    confirmed = "fuzzy" not in entry.flags()
    # In a catalogue with contexts, to have none is one.
    context = {CONTEXT: entry.text("msgctxt") or ""} if has_contexts else {}
    pairs = [(str(number), entry.text("msgid") or "", forms[0])]
    if (plural := entry.text("msgid_plural")) is not None:
        pairs.append((f"{number}.plural", plural, forms[-1]))
    for name, source, target in pairs:
        group = local_group(path, name)
        own = metadata | context | as_written(source, target)
        if len(pairs) > 1 and all(forms):
            own[FORMS] = forms
        yield Sentence(name, source, SOURCE_LANGUAGE, entry.line, metadata, group, is_string=True)
        yield Sentence(name, target, code, entry.line, own, group, confirmed, is_string=True)


def _metadata(entry: Entry) -> dict[str, Any]:
    values = {
        "references": [place for row in entry.said(":") for place in row.split()],
        "comment": " ".join([*entry.said("."), *entry.said(" ")]),
    }
    return {name: value for name, value in values.items() if value}


def open_document(content: bytes, label: str, target: str) -> Document:
    """Read a catalogue to be filled. Raises CorpusError, UsageError for one in another language."""
    text, charset = _decoded(label, content)
    document = Document(text, charset, SOURCE_LANGUAGE, marks_fuzzy=True)
    found = list(entries(text))
    if (bad := next((entry.bad for entry in found if entry.bad), None)) is not None:
        raise CorpusError(f"{label}, line {bad.line}: {bad.reason}")
    header = next((entry for entry in found if entry.is_header), None)
    check_target(label, _headers(header).get("Language"), target)
    end = "\r\n" if "\r\n" in text else "\n"
    document.head += _head(document, label, header, target, end)
    forms = 0
    for entry in found:
        if entry.is_header or entry.obsolete or not entry.targets:
            continue
        if any(part.text for part in entry.targets):
            document.kept += 1
        elif "msgid_plural" in entry.parts:
            forms = forms or _plural_forms(label, header, target)[0]
            document.units += _plural_units(entry, forms, end)
        else:
            edit = partial(_filled, entry, end)
            document.units.append(Unit(entry.text("msgid") or "", edit, entry.text("msgctxt")))
    return document


def _quoted(end: str, keyword: str, text: str, prefix: str = "") -> str:
    """A keyword with a text as strings, one a line; each further line begins with `prefix`."""
    rows = [row.translate(_ESCAPES) for row in re.findall(r"[^\n]*\n|[^\n]+", text)]
    first, others = ("", rows) if len(rows) > 1 else ("".join(rows), [])
    return end.join([f'{keyword} "{first}"', *(f'{prefix}"{row}"' for row in others)])


def _filled(entry: Entry, end: str, filling: Filling) -> Iterator[Edit]:
    part = entry.parts["msgstr"]
    yield Edit(part.begin, part.end, _quoted(end, "msgstr", filling.text))
    yield from _marked(entry, end, [("msgid", filling.original)] if filling.fuzzy else [])


def _marked(entry: Entry, end: str, originals: Iterable[tuple[str, str]]) -> Iterator[Edit]:
    """Yield the edits that mark an entry as fuzzy and say what its translation was made for; without any
    originals they undo it."""
    flags = next((place for place, text in entry.comments if text.startswith("#,")), None)
    lines = [_quoted(end, f"#| {keyword}", text, "#| ") for keyword, text in originals]
    insertion = " fuzzy," if lines else ""
    yield from _without_marks(entry, end, fuzzy=bool(lines))
    if flags is None and insertion:
        lines.insert(0, "#, fuzzy")
    elif flags is not None and "fuzzy" not in entry.flags():
        yield Edit(flags + 2, flags + 2, insertion)
    yield Edit(entry.begin, entry.begin, "".join(line + end for line in lines))


def _without_marks(entry: Entry, end: str, *, fuzzy: bool) -> Iterator[Edit]:
    """Yield the edits that leave out former texts and, unless it stays, the flag `fuzzy`."""
    for place, text in entry.comments:
        flags = [flag for flag in text[2:].split(",") if flag.strip() != "fuzzy"]
        if text.startswith("#|") or (text.startswith("#,") and ",".join(flags) != text[2:]):
            others = f"#,{','.join(flags).rstrip()}{end}" if flags and text[1] == "," else ""
            yield Edit(place, place + len(text) + 1, f"{text}\n" if fuzzy and text[1] == "," else others)


def _plural_units(entry: Entry, forms: int, end: str) -> Iterator[Unit]:
    """Yield the units of msgid and msgid_plural, which fill all forms between them."""
    fillings: dict[str, Filling] = {}

    def edits(keyword: str, filling: Filling) -> Iterator[Edit]:
        fillings[keyword] = filling
        one, many = fillings.get("msgid"), fillings.get("msgid_plural")
        known = next(
            (list(found.forms) for found in (many, one) if found and len(found.forms) == forms), None
        )
        texts = known or [
            found.text if found else "" for found in ([one] * (forms > 1) + [many] * (forms - 1 or 1))
        ]
        rows = [_quoted(end, f"msgstr[{number}]", text) for number, text in enumerate(texts)]
        yield Edit(entry.targets[0].begin, entry.targets[-1].end, end.join(rows))
        unsure = known is None and (forms > 2 or not all(texts))
        unsure = unsure or any(found.fuzzy for found in fillings.values())
        originals = [(name, found.original) for name, found in fillings.items()] if unsure else []
        yield from _marked(entry, end, originals)

    for keyword in ("msgid", "msgid_plural"):
        yield Unit(entry.text(keyword) or "", partial(edits, keyword), entry.text("msgctxt"))


def _plural_forms(label: str, header: Entry | None, target: str) -> tuple[int, str]:
    """The number of plural forms, and the formula: as the header says, else as CLDR has it."""
    stated = re.search(r"nplurals\s*=\s*(\d+)", _headers(header).get("Plural-Forms", ""))
    if stated and 0 < int(stated[1]) <= MOST_PLURALS:
        return int(stated[1]), ""
    try:
        from babel.messages.plurals import get_plural  # an extra; most catalogues say their number
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{label}: its header has no Plural-Forms: pip install 'passepartout[formats]'"
        ) from error
    found = get_plural(target.replace("-", "_"))
    return found.num_plurals, found.plural_expr


def _head(document: Document, label: str, header: Entry | None, target: str, end: str) -> Iterator[Edit]:
    """Yield the edits that complete the header of a template: language, character set and plural forms."""
    language = target.replace("-", "_")
    if header is None:
        rows = f"Language: {language}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
        yield Edit(0, 0, f'msgid ""{end}{_quoted(end, "msgstr", rows)}{end * 2}')
        return
    part = header.parts["msgstr"]
    written = stated = document.text[part.begin : part.end]
    if "Language:" not in stated:
        written += f'{end}"Language: {language}\\n"'
    written = re.sub(r"(\bLanguage:)[ \t]*\\n", rf"\1 {language}\\n", written)
    written = written.replace("charset=CHARSET", "charset=UTF-8")
    if "nplurals=INTEGER" in stated:
        forms, formula = _plural_forms(label, header, target)
        written = written.replace("nplurals=INTEGER", f"nplurals={forms}").replace(
            "plural=EXPRESSION", f"plural={formula}"
        )
    if written != stated:
        yield Edit(part.begin, part.end, written)
    yield from _without_marks(header, end, fuzzy=False)  # of a template
