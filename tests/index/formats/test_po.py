"""Gettext catalogues."""

from pathlib import Path

import pytest

from index.errors import CorpusError
from index.formats.document import Filling
from index.formats.registry import Source, open_document, read
from index.formats.sentence import Sentence

HEADER = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n{}\n'
PLURAL = '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n'
CATALOGUE = (
    HEADER.format(PLURAL)
    + """
#. A button
#: main.c:12 menu.c
#, c-format
msgctxt "menu"
msgid "Open %s "
"now"
msgstr "%s jetzt öffnen"

msgid "One dog"
msgid_plural "%d dogs"
msgstr[0] "Ein Hund"
msgstr[1] "%d Hunde"

#, fuzzy
msgid "Close"
msgstr "Öffnen"

msgid "Help"
msgstr ""

#~ msgid "Old"
#~ msgstr "Alt"
"""
)


def found(path: Path, content: str | bytes, language: str | None = None) -> list[Sentence]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read(Source(path, language)))


def test_entries_are_pairs_with_their_context(tmp_path: Path) -> None:
    sentences = found(tmp_path / "de.po", CATALOGUE)
    assert [(sentence.id, sentence.language, sentence.text) for sentence in sentences] == [
        ("1", "en", "Open %s now"),
        ("1", "de", "%s jetzt öffnen"),
        ("2", "en", "One dog"),
        ("2", "de", "Ein Hund"),
        ("2.plural", "en", "%d dogs"),
        ("2.plural", "de", "%d Hunde"),
        ("3", "en", "Close"),
        ("3", "de", "Öffnen"),
        ("4", "en", "Help"),
        ("4", "de", ""),
    ]
    assert sentences[1].metadata == {
        "context": "menu",
        "references": ["main.c:12", "menu.c"],
        "comment": "A button",
    }
    groups = [sentence.group for sentence in sentences]
    assert groups[0::2] == groups[1::2]
    assert len(set(groups)) == 5
    assert [sentence.confirmed for sentence in sentences] == [True] * 7 + [False, True, True]


def test_a_catalogue_of_another_charset(tmp_path: Path) -> None:
    content = CATALOGUE.replace("charset=UTF-8", "charset=ISO-8859-1").encode("iso-8859-1")
    assert found(tmp_path / "de.po", content) == found(tmp_path / "de.po", CATALOGUE)


def test_the_given_language_is_used_if_the_header_has_none(tmp_path: Path) -> None:
    content = 'msgid "A dog"\nmsgstr "Um cão"\n'
    assert [sentence.language for sentence in found(tmp_path / "x.po", content, "pt")] == ["en", "pt"]
    with pytest.raises(CorpusError, match="its header has no `Language:`"):
        found(tmp_path / "x.po", content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello\n", r"x\.po, line 1: not PO"),
        (CATALOGUE[: CATALOGUE.index("jetzt")], r"x\.po, line 14: not PO \(a string that does not end\)"),
        (
            HEADER.format("").replace("UTF-8", "no-such") + 'msgid "a"\nmsgstr "b"\n',
            r"x\.po: charset 'no-such' is not supported",
        ),
        (HEADER.format("") + 'msgid "\xff"\nmsgstr "b"\n', r"x\.po, line 6: not UTF-8"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[9] "c"\n', r"x\.po, line \d: not PO \(msgid, msgid_plural"),
        ('msgid "a"\nmsgwrong "b"\n', r"x\.po, line 2: not PO"),
    ],
)
def test_what_is_malformed_is_refused_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message) as caught:
        found(tmp_path / "x.po", content.encode("iso-8859-1"), "de")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("fuzzy", [False, True])
def test_former_marks_give_way_to_those_of_the_filling(end: str, fuzzy: bool) -> None:
    form = HEADER.format(PLURAL) + '#: a.c\n{}msgid "A"\nmsgid_plural "B"\nmsgstr[0] "{}"\nmsgstr[1] "{}"\n'
    before, after = '#, fuzzy{}\n#| msgid ""\n#| "Old"\n', '#, fuzzy{}\n#| msgid "A"\n#| msgid_plural "B"\n'
    for flags, left in (("", ""), (", c-format", "#, c-format\n"), (", a, b", "#, a, b\n")):
        content = form.format(before.format(flags), "", "").replace("\n", end)
        document = open_document(content.encode(), "x.po", "de")
        for unit in document.units:
            document.fill(unit, Filling("C", fuzzy and unit.text == "B", unit.text))
        wanted = form.format(after.format(flags) if fuzzy else left, "C", "C").replace("\n", end)
        assert document.content().decode() == wanted
