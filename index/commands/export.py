"""Exports the sentences of an index as a corpus (TMX or TSV)."""

from collections.abc import Iterator, Mapping
from heapq import merge
from itertools import groupby
from pathlib import Path

from index.answers.sentence_index import sentence_of
from index.errors import UsageError
from index.formats.sentence import Sentence
from index.formats.tsv import write_tsv
from index.storage.files import output_file
from index.storage.groups import Groups
from index.storage.index_manifest import LanguageEntry
from index.storage.tables import SENTENCE_COLUMNS, read_table
from index.storage.versions import open_version

Group = list[Sentence]


def export_index(index: Path, out: Path) -> int:
    """Write the version served to `out`, .tmx or .tsv; returns how many sentences.

    A sentence of several groups is written in each, one of none by itself. Raises UsageError for another
    extension or a file that cannot be written, BundleError.
    """
    if out.suffix.lower() not in (".tmx", ".tsv"):
        raise UsageError(f"{out}: an index is exported as .tmx or .tsv: give such a name")
    folder, manifest = open_version(index)
    sentences = 0

    def counted() -> Iterator[Group]:
        nonlocal sentences
        for unit in units(folder, manifest.languages):
            sentences += len(unit)
            yield unit

    with output_file(out) as draft, draft.open("w", encoding="utf-8") as file:
        if out.suffix.lower() == ".tmx":
            from index.formats.markup.tmx import write

            write(file, counted(), next(iter(manifest.languages)))
        else:
            write_tsv(file, counted())
    return sentences


def units(folder: Path, languages: Mapping[str, LanguageEntry]) -> Iterator[Group]:
    """Yield the groups of a version by ascending number, then each sentence that has no group."""
    tables, groups = {}, {}
    for code, entry in languages.items():
        tables[code] = read_table(folder / f"{code}.arrow", SENTENCE_COLUMNS, entry.sentences)
        groups[code] = Groups.open(folder / f"{code}.groups.arrow", entry.links)

    def sentence(code: str, row: int) -> Sentence:
        row_sentence = sentence_of(tables[code], row)
        return row_sentence._replace(language=code, id=row_sentence.id.removeprefix(f"{code}:"))

    streams = [_links(code, group_rows) for code, group_rows in groups.items()]
    for number, members in groupby(merge(*streams), key=lambda link: link[0]):
        yield [sentence(code, row)._replace(group=f"{number:x}") for _, code, row in members]
    for code, entry in languages.items():
        for row in range(entry.sentences):
            if not len(groups[code].of(row)):
                yield [sentence(code, row)]


def _links(code: str, groups: Groups) -> Iterator[tuple[int, str, int]]:
    return ((group, code, row) for group, row in groups)
