"""What the corpus holds: where a word or phrase stands, and phrases by topic, with their translations."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from index.answers.answer import Concordance, Phrases
from index.answers.concordance import concordance, phrase_columns, phrases
from index.errors import CorpusError, Fault, RequestError, UsageError, listed
from index.formats.document import decoded
from index.formats.markup.office import check_tags
from index.formats.registry import Source, read, suffix_of
from index.formats.sentence import BadUnits
from index.text.normalisation import clean
from service import limits
from service.api.dependencies import EngineNow
from service.engine.engine import ServiceEngine
from service.http.bodies import A_FILE
from service.http.problems import ProblemError, ProblemType, invalid, unavailable
from service.schemas.responses import Board, BoardPhrase

router = APIRouter()

LONGEST_PHRASE = 200  # characters
MOST_RESULTS = 100
BOARD_SUFFIXES = (".csv", ".tsv", ".xlsx")


@router.get("/concordance", summary="Find a word or phrase in the index", response_model=Concordance)
async def find(
    engine: EngineNow,
    source: Annotated[str, Query(description="Language code of the sentences to search.", examples=["en"])],
    text: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_PHRASE,
            description="The word or phrase; if left out, all sentences are listed.",
            examples=["dog"],
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        Query(
            description="Language codes of the translations to return; all if left out.",
            max_length=128,
            examples=[["de"]],
        ),
    ] = None,
    begin: Annotated[
        int, Query(ge=0, le=2**62, description="Where to begin: 0, or `next` of the page before.")
    ] = 0,
    count: Annotated[
        int, Query(ge=1, le=MOST_RESULTS, description="Highest number of sentences of a page.")
    ] = 20,
) -> Response:
    """Find the sentences of a language that contain the phrase, with their translations in the corpus.

    Case is ignored; in scripts that separate words, only whole words match.
    """
    source, targets = _codes(engine, source, target or ())
    if text is not None and not clean(text):
        raise invalid("text", "text is empty: give a word or phrase")
    every = targets or engine.translator.sentence_indexes
    codes = [code for code in dict.fromkeys(every) if code != source]

    def answer() -> Response:
        page = concordance(engine.translator, text, source, codes, begin=begin, count=count)
        return Response(page.model_dump_json(), media_type="application/json")

    return await asyncio.to_thread(answer)  # all of it: a page may have 2,000 translations in each language


@router.get("/phrases", summary="List the phrases by topic")
async def list_phrases(
    engine: EngineNow,
    source: Annotated[str, Query(description="Language code of who shows the phrases.", examples=["en"])],
    target: Annotated[str, Query(description="Language code of who reads them.", examples=["de"])],
) -> Phrases:
    """List the sentences that have a topic and a translation in the corpus, in the order of the corpus.

    The list is empty where no file of the index has a column `topic`.
    """
    code, (other,) = _codes(engine, source, [target])
    return await asyncio.to_thread(phrases, engine.translator, code, other)  # it reads all metadata


@router.post("/board", summary="Read a table of phrases", response_model=Board, openapi_extra=A_FILE)
async def board(
    request: HttpRequest,
    engine: EngineNow,
    name: Annotated[str, Query(max_length=200, description="The name of the file.", examples=["board.xlsx"])],
) -> Response:
    """Read the phrases of a table (CSV, TSV, XLSX) for the page; nothing of it is kept.

    Its first row names a column for each language by its code, and perhaps `topic`, `pictogram`, `reviewed`.
    """
    if suffix_of(name) not in BOARD_SUFFIXES:
        raise invalid("name", f"name must end in {', '.join(BOARD_SUFFIXES)}: save the table so")
    places: asyncio.Semaphore = request.app.state.file_places
    if places.locked():
        raise unavailable()
    async with places:
        content = await request.body()
        try:
            return await engine.run_slow(partial(_board, content, name))
        except UsageError as error:
            raise invalid("body", str(error)) from None
        except OSError:
            raise ProblemError(ProblemType.DISK_FULL) from None


def _board(content: bytes, name: str) -> Response:
    """The phrases of a table as JSON, in a thread: there may be thousands."""
    found: dict[str, BoardPhrase] = {}
    left = limits.MAX_FILE_BYTES
    with TemporaryDirectory(prefix="passepartout-board-") as folder:
        path = Path(folder) / f"table{suffix_of(name)}"
        path.write_bytes(content)
        if path.suffix == ".xlsx":
            check_tags(content, name, limits.MAX_BOARD_PHRASES)
        try:
            if path.suffix != ".xlsx":
                decoded(name, content)  # lines in another charset would be left out without a word
            for sentence in read(Source(path, bad=BadUnits())):
                left -= len(sentence.text) + sum(len(str(value)) for value in sentence.metadata.values())
                if left < 0:  # cells of an XLSX share texts
                    raise CorpusError(f"{name}: more than {limits.MAX_FILE_BYTES} characters: divide it")
                group = sentence.group or f"#{sentence.line}"
                if group not in found and len(found) == limits.MAX_BOARD_PHRASES:
                    break
                phrase = found.get(group) or found.setdefault(
                    group, BoardPhrase(texts={}, **phrase_columns(sentence))
                )
                phrase.texts[sentence.language] = clean(sentence.text)
        except CorpusError as error:
            hint = " (in Excel: CSV UTF-8), or as .xlsx" if str(error).endswith("UTF-8") else ""
            raise CorpusError(str(error).replace(str(path), name) + hint) from None
    languages = list(dict.fromkeys(code for phrase in found.values() for code in phrase.texts))
    if len(languages) < 2:
        raise CorpusError(f"{name}: its first row must name columns for two languages, such as en and de")
    board = Board(languages=languages, phrases=list(found.values()))
    return Response(board.model_dump_json(), media_type="application/json")


def _codes(engine: ServiceEngine, source: str, target: Sequence[str]) -> tuple[str, list[str]]:
    """The codes of languages as the index spells them; RequestError for those that it has no sentences in."""
    named = [("source", source), *(("target", code) for code in target)]
    codes, indexes = engine.languages.codes_of(named), engine.translator.sentence_indexes
    faults = [
        Fault(field, f"{field} {code!r} has no sentences: use one of {listed(indexes)}", None, [*indexes])
        for (field, _), code in zip(named, codes, strict=True)
        if code not in indexes
    ]
    if faults:
        raise RequestError(faults[0].message, faults)
    return codes[0], codes[1:]
