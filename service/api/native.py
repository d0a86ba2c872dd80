"""The native API: translate sentences and words, list languages and the pictures to teach one with."""

from typing import Annotated, TypeVar

from fastapi import APIRouter, Query
from starlette.requests import Request

from index.answers.answer import LanguageInfo, SentenceResponse, WordResponse
from index.answers.request import SentenceRequest, WordRequest
from index.answers.respond import TEXT_FIELDS, respond
from service import limits
from service.api.dependencies import get_engine
from service.api.validation import check_texts
from service.http.problems import PROBLEMS
from service.schemas.responses import TeachingPicture, TeachingPictures
from service.settings import Settings

router = APIRouter(responses=PROBLEMS)

MOST_PICTURES = 300
Answered = TypeVar("Answered", SentenceResponse, WordResponse)


@router.post("/translate/sentence", summary="Translate sentences")
async def translate_sentence(request: Request, body: SentenceRequest) -> SentenceResponse:
    """Find the sentences of the index that are most likely translations of each text.

    A text has no translations if none of them reaches `min_confidence`.
    """
    return await _answered(request, body, SentenceResponse)


@router.post("/translate/word", summary="Translate words")
async def translate_word(request: Request, body: WordRequest) -> WordResponse:
    """Find the words of the index that are most likely translations of each word.

    A word has no translations if none of them reaches `min_confidence`. Words of a language that the index
    has no corpus of, or that its encoder was taught, are compared by the pictograms that they look like.
    """
    return await _answered(request, body, WordResponse)


@router.get("/languages", summary="List the languages")
async def languages(request: Request) -> tuple[LanguageInfo, ...]:
    """List the languages: what each can be translated into, how much the index has of it, and how well."""
    return tuple((await get_engine(request)).languages)


@router.get("/teach/pictures", summary="List pictures to teach a language with")
async def teaching_pictures(
    request: Request,
    count: Annotated[
        int, Query(ge=1, le=MOST_PICTURES, description="Highest number of pictures.")
    ] = MOST_PICTURES,
    like: Annotated[
        str | None,
        Query(
            max_length=limits.MAX_WORD_CHARACTERS,
            description="A text in a language that the encoder knows, an emoji, or its English name: only "
            "pictures that are called so or are near to it.",
        ),
    ] = None,
) -> TeachingPictures:
    """List what to caption first to teach the encoder a language (`teach` of POST /admin/jobs).

    The list is empty if the encoder carries no pictograms, or none that `like` asks for.
    """
    engine = await get_engine(request)
    ordered = await engine.teaching_pictures(like)
    return TeachingPictures(
        model=engine.translator.model,
        index=engine.translator.version,
        results=[TeachingPicture(picture=picture, emoji=emoji) for picture, emoji in ordered[:count]],
    )


async def _answered(request: Request, body: SentenceRequest | WordRequest, kind: type[Answered]) -> Answered:
    """Answer a request. What is wrong with it is said first, also while there is no index yet."""
    settings: Settings = request.app.state.settings
    longest = settings.max_characters if body.kind == "sentence" else limits.MAX_WORD_CHARACTERS
    check_texts(TEXT_FIELDS[body.kind], body.texts, body, longest)
    engine = await get_engine(request)
    response = await respond(engine.translator, body, engine, limits.MAX_ANSWERS)
    assert isinstance(response, kind)
    return response
