"""Command: `passepartout index concordance`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from index.commands.options import INDEX_ARGUMENT, JSON_OPTION
from index.errors import UnknownLanguageError, UsageError

if TYPE_CHECKING:
    from index.answers.concordance import Occurrence


@click.command()
@INDEX_ARGUMENT
@click.argument("phrase", metavar="TEXT")
@click.option("--in", "source", required=True, help="Language of the sentences to look into.")
@click.option(
    "--to", "targets", multiple=True, help="Show translations into this language alone; repeatable."
)
@click.option(
    "-n", "count", type=click.IntRange(1, 1000), default=20, show_default=True, help="Most sentences."
)
@click.option("--begin", type=click.IntRange(0), default=0, help="Go on from here, as the last page says.")
@JSON_OPTION
def concordance(
    folder: Path, phrase: str, source: str, targets: tuple[str, ...], count: int, begin: int, as_json: bool
) -> None:
    """Show where a word or phrase stands in the index, with its translations."""
    from index.answers.concordance import concordance
    from index.answers.translator import Translator
    from index.text.normalisation import clean

    if not clean(phrase):
        raise UsageError("TEXT is empty: give a word or phrase")
    indexes = Translator.open(folder).sentence_indexes
    for code in (source, *targets):
        if code not in indexes:
            raise UnknownLanguageError(f"no sentences in {code!r} here; there are: {', '.join(indexes)}")
    others = targets or tuple(code for code in indexes if code != source)
    page = concordance(indexes, phrase, source, others, begin=begin, count=count)
    if as_json:
        results = [_document(occurrence) for occurrence in page.occurrences]
        click.echo(json.dumps({"results": results, "next": page.next}, ensure_ascii=False))
        return
    for occurrence in page.occurrences:
        click.echo(f"{occurrence.sentence.id}  {occurrence.sentence.text}")
        for code, sentences in occurrence.translations.items():
            for sentence in sentences:
                click.echo(f"    {code}  {sentence.text}")
    if not page.occurrences:
        click.echo("not in the sentences looked at" if page.next else f"no sentence of {source} has it")
    if page.next is not None:
        click.echo(f"more: --begin {page.next}")


def _document(occurrence: Occurrence) -> dict[str, Any]:
    return {
        "id": occurrence.sentence.id,
        "text": occurrence.sentence.text,
        "places": occurrence.places,
        "translations": {
            code: [{"id": sentence.id, "text": sentence.text} for sentence in sentences]
            for code, sentences in occurrence.translations.items()
        },
    }
