"""`passepartout translate`: ask a service, or an index in this process."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from index.confidence import MIN_CONFIDENCE
from index.errors import UsageError
from service.limits import MAX_K

if TYPE_CHECKING:
    from index.answers.answer import Answer, SentenceResponse, WordResponse
    from index.answers.request import Request

KEY_VARIABLE = "PASSEPARTOUT_KEY"


@click.command()
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@click.option(
    "--to",
    "targets",
    multiple=True,
    required=True,
    help="Language to translate into, such as de or de,pt; repeatable.",
)
@click.option("--from", "source", help="Language of the text. [default: detected]")
@click.option("--word", is_flag=True, help="TEXT is a word, not a sentence.")
@click.option(
    "-k",
    "count",
    type=click.IntRange(1, MAX_K),
    default=1,
    show_default=True,
    help="Answers per text and language.",
)
@click.option(
    "--min-confidence",
    "least",
    type=click.FloatRange(0, 1),
    default=MIN_CONFIDENCE,
    show_default=True,
    help="Hide answers with a lower confidence.",
)
@click.option("--near", is_flag=True, help="Also show the nearest sentences, which are not translations.")
@click.option(
    "--index", "folder", type=click.Path(path_type=Path), help="The index to search.  [default: var/index]"
)
@click.option("--url", help=f"The service to ask, such as http://127.0.0.1:8000 (API key: {KEY_VARIABLE}).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as the API returns it.")
def translate(
    texts: tuple[str, ...],
    targets: tuple[str, ...],
    source: str | None,
    word: bool,
    count: int,
    least: float,
    near: bool,
    folder: Path | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Translate each TEXT by finding the closest match in the index; - reads lines from standard input."""
    from index.answers.request import SentenceRequest, WordRequest

    if folder is not None and url is not None:
        raise UsageError("give --index FOLDER or --url ADDRESS, not both")
    codes = list(dict.fromkeys(code.strip() for given in targets for code in given.split(",")))
    # In its own language, a text itself is left out of what is shown.
    k = count if as_json or source not in codes else min(count + 1, MAX_K)
    choices: Any = {"source": source, "target": codes, "k": k, "min_confidence": least}
    choices["include"] = ["near"] if near else []
    read = _read(texts)
    request = WordRequest(word=read, **choices) if word else SentenceRequest(text=read, **choices)
    response = _ask(url, request) if url is not None else _search(folder, request)
    if as_json:
        click.echo(response.model_dump_json())
        return
    for line in _lines(response, several=len(codes) > 1, count=count):
        click.echo(line)


def _read(texts: Sequence[str]) -> list[str]:
    """The texts, with the lines of standard input in place of `-`."""
    from index.text.normalisation import clean

    lines = chain.from_iterable(sys.stdin.read().splitlines() if text == "-" else [text] for text in texts)
    cleaned = [text for line in lines if (text := clean(line))]
    if not cleaned:
        raise UsageError("TEXT is empty: give a sentence or a word")
    return cleaned


def _ask(url: str, request: "Request") -> "SentenceResponse | WordResponse":
    from service.client import Client

    with Client(url, key=os.environ.get(KEY_VARIABLE) or None) as client:
        return client.ask(request)


def _search(folder: Path | None, request: "Request") -> "SentenceResponse | WordResponse":
    """Search an index in this process; without `folder`, the one that `serve` would serve."""
    from index.answers.respond import answer
    from index.answers.translator import Translator
    from service.settings import load_settings

    return answer(Translator.open(load_settings(index=folder).index), request)


def _lines(response: "SentenceResponse | WordResponse", several: bool, count: int) -> Iterable[str]:
    """A line for each of `count` answers, with its target if there are `several`, below one of more texts.

    What a whole text has no answer in is said after those to its sentences.
    """
    from index.answers.answer import SentenceResult

    for result in response.results:
        if len(response.results) > 1:
            yield result.text if isinstance(result, SentenceResult) else result.word
        parts = (isinstance(result, SentenceResult) and result.sentences) or ()
        known = {target: row for target, row in result.translations.items() if row or not parts}
        yield from _answers(known, result.source, several, count)
        for part in parts:
            yield f"“{part.text}”"
            yield from _answers(part.translations, result.source, several, count)
        if refused := [target for target in result.translations if target not in known]:
            yield f"-     {', '.join(refused)}: nothing is likely enough for the whole text"


def _answers(rows: "Mapping[str, Sequence[Answer]]", source: str, several: bool, count: int) -> Iterable[str]:
    for target, found in rows.items():
        answers = [one for one in found if target != source or one.match != "exact"][:count]
        for answer in answers:
            where = f"{target}  " if several else ""
            mark = "  (near)" if answer.match == "near" else ""
            yield f"{answer.confidence:.2f}  {where}{answer.text}{mark}"
            yield from _reasons(answer)
        if not answers:
            yield f"-     {target}: nothing is likely enough"


def _reasons(answer: "Answer") -> Iterable[str]:
    if answer.original is not None:
        alike = "" if answer.similarity is None else f" ({100 * answer.similarity:.0f}% match)"
        yield f"      from the corpus, for {answer.original.text!r}{alike}"
    elif answer.gloss is not None:
        yield f"      says {answer.gloss!r}"
