"""No request under the limits holds up the event loop, or takes much memory, whatever it holds."""

import asyncio
import contextlib
import gc
import http.client
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import hypothesis
import pytest
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.testclient import TestClient

from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.formats.registry import Source
from service import limits
from service.app import create_app
from service.settings import Settings
from tests.bundles import LANGUAGES, sentences
from tests.files import jsonl
from tests.service.conftest import ClientFactory, every_route
from tests.service.http.costly import (
    FILE,
    JOBS,
    JSON,
    LONGEST_BODY,
    LONGEST_FILE,
    SENTENCE,
    TRANSLATE,
    Costly,
    costly_files,
    costly_queries,
    costly_requests,
    file_to_fill,
    filled,
    translation,
)
from tests.service.server import serving

HELD = 0.05  # seconds that one turn of the loop may take, of the thread's own time: the machine is shared
CALIBRATION = 0.01  # seconds that `calibrate` takes where those are meant
GROWN = 50_000  # kB
ANSWERED = (200, 201, 202, 204, 400, 401, 403, 404, 413, 422)
CROWD = 200  # sentences of a language that all translate each other
KEY = "a key"
ENTRY = f"someone:{sha256(KEY.encode()).hexdigest()}"


class Turns:
    """The longest turn of any event loop, in seconds of its thread."""

    longest = 0.0


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Iterator[Turns]:
    counted = Turns()
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        begun = time.thread_time()
        run(handle)
        counted.longest = max(counted.longest, time.thread_time() - begun)

    monkeypatch.setattr(asyncio.Handle, "_run", timed)
    gc.collect()
    gc.freeze()  # as a service does: what the tests hold is not looked through
    yield counted
    gc.unfreeze()


def calibrate() -> float:
    """Seconds of this thread for some arithmetic, now: a busy processor is slower."""
    begun = time.thread_time()
    sum(number * number for number in range(200_000))
    return time.thread_time() - begun


def too_long(seconds: float, most: float = HELD) -> bool:
    """Whether a turn took longer than `most`, on a machine as fast as this is now."""
    return seconds > most and seconds > most * calibrate() / CALIBRATION


def kilobytes(name: str, pid: int | str = "self") -> int:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def send(client: TestClient, request: Costly, **headers: str) -> int:
    headers = {"Content-Type": request.content_type, **headers}
    return client.request(request.method, request.path, content=request.body, headers=headers).status_code


def costs(client: TestClient, requests: Iterable[Costly], turns: Turns, **headers: str) -> list[str]:
    """What costs more than it may, each time that it is sent: once, the machine may have been busy."""
    faults = []
    for request in requests:
        assert len(request.body) <= (
            LONGEST_FILE if request.path.startswith((FILE, "/board")) else LONGEST_BODY
        )
        found = (cost(client, request, turns, **headers) for _ in range(3))
        if all(last := fault for fault in found):
            faults.append(last)
    return faults


def cost(client: TestClient, request: Costly, turns: Turns, **headers: str) -> str:
    """What a request costs if that is more than it may."""
    turns.longest, before = 0.0, kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak is counted from here
    status = send(client, request, **headers)
    grown = kilobytes("VmHWM") - before
    if too_long(turns.longest) or grown > GROWN or status not in ANSWERED:
        return f"{request.name}: {status}, {1000 * turns.longest:.0f} ms, {grown} kB"
    return ""


def test_no_document_holds_up_the_loop(client: TestClient, turns: Turns) -> None:
    assert costs(client, costly_requests(), turns) == []


def test_no_file_holds_up_the_loop(make_client: ClientFactory, turns: Turns) -> None:
    assert costs(make_client(), costly_files(), turns) == []


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("path", [SENTENCE, "/translate/word", TRANSLATE, "/detect"])
def test_no_document_that_a_grammar_makes_holds_up_the_loop(
    client: TestClient, turns: Turns, path: str, mode: str
) -> None:
    """Documents that fit the schema of a route, or do not; GRAMMAR_EXAMPLES=1000 makes a thousand of each."""
    import schemathesis  # which takes a second

    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    statuses = Counter[int]()

    @hypothesis.settings(
        max_examples=int(os.environ.get("GRAMMAR_EXAMPLES", "20")),
        suppress_health_check=list(hypothesis.HealthCheck),
        database=None,
        derandomize=True,
    )
    @hypothesis.given(schema[path]["POST"].as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
    def ask(case: schemathesis.Case) -> None:
        sent = case.as_transport_kwargs(base_url="http://testserver")
        body = {name: sent[name] for name in ("json", "data", "files") if name in sent}
        if body.get("files"):  # fields of a form with boundaries; the client encodes no numbers
            values = ((name, value) for name, (_, value) in body["files"])
            body["files"] = [
                (name, (None, value if isinstance(value, bytes) else str(value))) for name, value in values
            ]
        if isinstance(body.get("data"), bytes | str):
            body = {"content": body["data"], "headers": {"Content-Type": case.media_type or JSON}}

        def holds() -> bool:
            turns.longest = 0.0
            answer = client.post(path, **body)
            statuses[answer.status_code] += 1
            assert answer.status_code in (*ANSWERED, 405, 415)
            return too_long(turns.longest)

        assert not all(holds() for _ in range(3))  # once, what the grammar left may have been collected

    ask()
    assert statuses.total() >= 20


@pytest.mark.parametrize("path", [SENTENCE, "/translate/word", TRANSLATE, "/detect", JOBS])
def test_without_a_key_nothing_else_is_looked_at(make_client: ClientFactory, turns: Turns, path: str) -> None:
    client = make_client(api_keys=ENTRY, admin_keys=ENTRY)
    few = b'{"api_key": "another", "q": 1, "text": 1, "nonsense": []}'
    assert send(client, Costly("few", path, few)) in (401, 403)
    most = 2 * limits.MAX_BODY_MARKS - 20
    many = filled(b'{"api_key": "another", "q": [', b"1", b"]}", most)
    assert send(client, Costly("many", path, many)) in (401, 403)
    assert not too_long(turns.longest)


@pytest.fixture(scope="module")
def crowded(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client over an index whose sentences have as many translations as a corpus may give them."""
    folder = tmp_path_factory.mktemp("crowded")
    rows = (
        {"language": code, "text": text, "group": "all"}
        for code in LANGUAGES
        for text in sentences(code)[:CROWD]
    )
    build_index(bundle, [Source(jsonl(folder / "crowd.jsonl", rows))], folder / "index")
    with TestClient(create_app(Settings(index=folder / "index"))) as client:
        yield client


def test_no_query_holds_up_the_loop(crowded: TestClient, turns: Turns) -> None:
    assert costs(crowded, costly_queries(), turns) == []


def test_the_concordance_is_written_off_the_loop(crowded: TestClient, turns: Turns) -> None:
    """However many languages there are: a page has up to 2,000 translations in each."""
    crowded.get("/concordance", params={"source": "en"})  # FastAPI makes a route ready for its first request
    turns.longest = 0.0
    page = crowded.get("/concordance", params={"source": "en", "count": 100}).json()
    assert sum(len(row) for result in page["results"] for row in result["translations"].values()) == 8000
    assert not too_long(turns.longest, HELD / 5)


def test_no_route_without_a_choice_holds_up_the_loop(client: TestClient, turns: Turns) -> None:
    paths = sorted(route.path for route in every_route() if not chooses(route))
    assert len(paths) > 10
    requests = [Costly(path, f"{path}?{'a=b&' * 15_000}", method="GET") for path in paths * 2]
    assert costs(client, requests, turns) == []


def test_every_route_with_a_choice_has_its_worst_requests() -> None:
    """A new route needs requests in costly.py, unless it is for admins alone."""
    requests = [*costly_requests(), *costly_queries()]
    asked = {(request.method, request.path.partition("?")[0]) for request in requests}
    asked |= {("POST", FILE), ("POST", "/board")}  # costly_files, which take seconds to make
    without = [
        f"{method} {route.path}"
        for route in every_route()
        if chooses(route) and not route.path.startswith("/admin/")
        for method in (route.methods or set()) - {"HEAD"}
        if not any(method == sent and matches(route, sent, path) for sent, path in asked)
    ]
    assert without == []


def chooses(route: APIRoute) -> bool:
    """Whether anything of a request to a route decides what it does."""
    return "{" in route.path or bool(route.dependant.query_params) or not {"GET", "HEAD"} >= route.methods


def matches(route: APIRoute, method: str, path: str) -> bool:
    return route.matches({"type": "http", "method": method, "path": path})[0] is Match.FULL


def test_a_crowd_with_large_files_takes_no_more_than_three_of_them(remembering_dir: Path) -> None:
    """Those beyond get 503 before their file is read; who asks for a sentence is answered."""
    lines = (b"The dog sleeps%bin house %d.\n" % (b" " * 780, number) for number in range(4_900))
    file = file_to_fill("lines.txt", b"".join(lines))
    with serving(remembering_dir) as (address, process):
        host, port = address.removeprefix("http://").split(":")

        def post(request: Costly) -> int:
            connection = http.client.HTTPConnection(host, int(port), timeout=120)
            with contextlib.closing(connection):
                try:
                    connection.request(
                        "POST", request.path, request.body, {"Content-Type": request.content_type}
                    )
                    return connection.getresponse().status
                except ConnectionError:  # refused while it still sends, without a proxy
                    return 503

        post(file)
        calm = kilobytes("VmHWM", process.pid)
        question = Costly("", SENTENCE, translation("text", ["The dog sleeps."]))
        with ThreadPoolExecutor(12) as clients:
            files = [clients.submit(post, file) for _ in range(12)]
            asked = [post(question) for _ in range(10)]
        assert Counter(sent.result() for sent in files).keys() == {200, 503}
        assert asked == [200] * 10
        assert kilobytes("VmHWM", process.pid) - calm < 3 * GROWN
