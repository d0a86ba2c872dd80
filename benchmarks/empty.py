"""Endpoints that do nothing, for the benchmarks to compare the service with: `benchmarks.empty:app`.

The file named by the environment's ANSWER holds what the service answered to the same request.
"""

import json
import os
from pathlib import Path

from fastapi import FastAPI, Request, Response

from index.answers.answer import SentenceResponse
from index.answers.request import SentenceRequest

answer = Path(os.environ["ANSWER"]).read_bytes()
document = SentenceResponse.model_validate_json(answer)
app = FastAPI()


@app.post("/translate/sentence")
async def validated(body: SentenceRequest) -> SentenceResponse:
    """Takes and gives what the service does, through the same pydantic models."""
    return document


@app.post("/bare")
async def bare(request: Request) -> Response:
    """Reads JSON and gives the same bytes, without models."""
    json.loads(await request.body())
    return Response(answer, media_type="application/json")


@app.get("/health/ready")
async def ready() -> Response:
    return Response()
