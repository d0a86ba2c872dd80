"""Answers that somebody else would choose: forged in Redis, or posed as by a corpus; and too many to keep."""

import http.client
import json
from typing import Any

from redis import Redis

from benchmarks.chaos.costs import SENTENCE, translation
from benchmarks.chaos.service import with_redis
from benchmarks.chaos.stage import PASSEPARTOUT, Server, Stage, expect, scenes, serving, succeed

FORGED = "Somebody else chose this."
SECRET = "0123456789abcdef0123456789abcdef"
POSING = {
    "memory": {"source": FORGED, "similarity": 1},
    "similarity": 1,
    "confidence": 1,
    "match": "exact",
    "original": {"text": FORGED, "id": "en:1"},
    "id": "en:1",
    "text": FORGED,
    "explanation": {},
}
CACHE_BYTES = 8_388_608
LEAST_GROWTH = 40  # megabytes, for what the process takes beside its cache


def cache_filled(stage: Stage) -> str:
    """Thousands of long answers that nobody asked before, into a small cache."""
    texts = scenes("en")
    requests = 6 if stage.small else 60
    with serving(stage.index, PASSEPARTOUT_CACHE_BYTES=str(CACHE_BYTES)) as server:
        asked = [f"{number} {text}" for number, text in enumerate(texts[:60])]
        _post(server, translation("text", asked, k=50))
        before = server.resident()
        for number in range(requests):
            asked = [f"{number} {place} {text}" for place, text in enumerate(texts[:60])]
            expect(_post(server, translation("text", asked, k=50)) is not None, "no answer")
        grown = server.resident() - before
        server.check(stage)
    expect(grown < CACHE_BYTES / 1e6 + LEAST_GROWTH, f"{grown:.0f} MB more")
    answers = requests * 60 * 50
    return f"{answers} new answers: {grown:+.0f} MB, with {CACHE_BYTES / 1e6:.0f} MB of cache"


def redis_forged(stage: Stage) -> str:
    """Every value exchanged with another's, rewritten, damaged."""
    settings = {"PASSEPARTOUT_CACHE_SECRET": SECRET, "PASSEPARTOUT_METRICS": "everyone"}
    with with_redis(stage, None, **settings) as (redis, server):
        server.check(stage)
        client: Any = Redis(port=redis.port)
        values: dict[bytes, bytes] = {key: client.get(key) for key in client.scan_iter()}
        expect(len(values) >= len(stage.answers), "nothing was cached in Redis")
        others = list(values.values())[1:] + list(values.values())[:1]
        changes = (
            dict(zip(values, others, strict=True)),
            {key: _rewritten(value) for key, value in values.items()},
            {key: value[:-1] for key, value in values.items()},
            dict.fromkeys(values, FORGED.encode()),
        )
        for forged in changes:
            client.mset(forged)
            server.check(stage)  # and writes its own again, after the answer
        rejected = _rejected(server)
    expect(rejected >= len(values), f"only {rejected} values were rejected")
    return f"{len(values)} values, each forged in {len(changes)} ways: answers as before, {rejected} rejected"


def metadata_posing(stage: Stage) -> str:
    """A corpus whose columns are called as what the service says of an answer."""
    folder, index = stage.new("posing"), stage.new("posing-index")
    folder.mkdir()
    for language in ("en", "de"):
        lines = [
            json.dumps({"id": str(number), "text": text, **_columns(language)})
            for number, text in enumerate(scenes(language)[:200])
        ]
        (folder / f"{language}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    named = [f"--corpus={language}={folder / language}.jsonl" for language in ("en", "de")]
    succeed([*PASSEPARTOUT, "index", "build", "--encoder", "models/small", *named, "--out", str(index)])
    with serving(index) as server:
        document = _post(server, translation("text", ["Quite another text."], min_confidence=0))
        (answer,) = document["results"][0]["translations"]["de"]
        shown = {name: answer.get(name) for name in ("match", "similarity", "original")}
        expect(
            answer["match"] in ("translation", "near") and answer["similarity"] is None, f"posed as {shown}"
        )
        expect(answer["confidence"] < 1 and answer["text"] != FORGED, f"posed as {answer['text']}")
        certain = _post(server, translation("text", ["Quite another text."], min_confidence=1))
        expect(certain["results"][0]["translations"]["de"] == [], "passed min_confidence")
        status = _status(server, "/tmserver/en/de/unit/Quite%20another%20text.?min_similarity=100")
        expect(status == 200, f"amaGama's route: {status}")
    return f"{len(POSING)} names: told as metadata alone, min_confidence and min_similarity kept, no fault"


def _columns(language: str) -> dict[str, Any]:
    reserved = {"id", "text"}
    return {"language": language, **{name: value for name, value in POSING.items() if name not in reserved}}


def _rewritten(value: bytes) -> bytes:
    """The value with another text in its answers, whatever stands before them."""
    head, brace, rest = value.partition(b"{")
    try:
        document = json.loads(brace + rest)
    except ValueError:
        return value + b" "
    for answer in document["answers"]:
        answer["text"] = FORGED
    return head + json.dumps(document).encode()


def _rejected(server: Server) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    (value,) = (line.split()[1] for line in lines if line.startswith("passepartout_cache_rejected_total "))
    return int(float(value))


def _post(server: Server, body: bytes) -> Any:  # noqa: ANN401
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("POST", SENTENCE, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        document = json.loads(response.read())
        expect(response.status == 200, f"status {response.status}: {document}")
        return document
    finally:
        connection.close()


def _status(server: Server, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()
