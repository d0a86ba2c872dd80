"""Memory of a service under varied hostile load: after it at most MAX_GROWTH times what it was in calm use.

    python -m benchmarks.endurance --minutes 30

Starts a service of the shipped scenes in two languages. Calm use comes first: questions until the cache is
full, as any service's is after some days; then as many clients as will be hostile use each feature that the
hostile load uses, in ordinary sizes. The memory after that is the calm value; those before are told, too.
After that clients send, over and over: the costliest requests of each route, texts that nobody asked before,
all explained, files to be filled, damaged requests, and half of a request before they leave. A fault (5xx but
503), a service that ends, and memory above MAX_GROWTH times the calm value end with exit code 1.
"""

import contextlib
import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import click

from benchmarks.chaos.costs import (
    SENTENCE,
    TRANSLATE,
    WORD,
    Costly,
    costly_files,
    costly_requests,
    file_to_fill,
    translation,
)
from benchmarks.chaos.crowding import send
from benchmarks.chaos.queries import Get, costly_queries
from benchmarks.chaos.stage import Server, Stage, expect, scenes, serving

MAX_GROWTH = 1.5  # of the memory in calm use
FIRST_QUESTIONS = 2000
CACHED_QUESTIONS, QUESTIONS_SENT = 20_000, 100  # that fill the cache, and so many of them in a request
ORDINARY_ROUNDS = 25  # of each client in calm use
FILE_TEXTS = 100  # of an ordinary file to be filled
SETTLING_SECONDS = 10.0  # seconds after the load before memory counts
WATCH_INTERVAL = 2.0  # seconds between two looks at the memory
COURSE_VALUES = 10  # values of memory that are told of the hostile load, evenly spaced


@dataclass
class Load:
    """Clients of a server, and what became of their requests."""

    server: Server
    over: threading.Event = field(default_factory=threading.Event)
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, requests: Callable[[random.Random], Iterator[Costly]], seed: int) -> None:
        """Send them one after the other until it is over."""
        dice = random.Random(seed)
        while not self.over.is_set():
            for request in requests(dice):
                if self.over.is_set():
                    return
                with contextlib.suppress(OSError):
                    self._count(request.name, send(self.server, request))

    def leave(self, seed: int) -> None:
        """Send a part of a request and leave, or a damaged one."""
        dice = random.Random(seed)
        body = translation("text", ["A dog runs."] * 50)
        head = f"POST {SENTENCE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
        whole = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
        while not self.over.is_set():
            sent = bytearray(whole)
            if dice.random() < 0.5:
                sent[dice.randrange(len(sent))] = dice.randrange(256)
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.server.port), 5) as peer,
            ):
                peer.sendall(sent[: dice.randrange(len(sent))])
            self._count("left", 0)
            time.sleep(0.01)

    def _count(self, name: str, status: int) -> None:
        with self.lock:
            self.statuses[status] += 1
            if status >= 500 and status != 503:
                self.faults.append(f"{name}: {status}")


def documents(_: random.Random) -> Iterator[Costly]:
    """The costliest of each schema."""
    return costly_requests()


def queries(_: random.Random) -> Iterator[Costly]:
    """The costliest of each path and query."""
    return costly_queries()


def files(_: random.Random) -> Iterator[Costly]:
    """The costliest of each file format."""
    return costly_files()


def new_texts(dice: random.Random) -> Iterator[Costly]:
    """What nobody asked before, so that it fills every cache."""
    for _ in range(20):
        words = [f"{dice.choice(scenes('en'))} {dice.getrandbits(40):x}" for _ in range(60)]
        yield Costly("new texts", SENTENCE, translation("text", words, k=50))


def explained(dice: random.Random) -> Iterator[Costly]:
    """All of it with explanations."""
    for _ in range(20):
        text = f"{dice.choice(scenes('en'))} {dice.getrandbits(40):x}"
        yield Costly("explained", SENTENCE, translation("text", [text], k=50, explain=True))


def ordinary(dice: random.Random) -> Iterator[Costly]:
    """What ordinary users send: each feature once, texts and files that nobody sent before."""
    lines = [f"{dice.choice(scenes('en'))} {dice.getrandbits(20)}" for _ in range(FILE_TEXTS)]
    text, document = lines[0], " ".join(lines[:10])
    yield Costly("a text", SENTENCE, translation("text", [text], k=5))
    yield Costly("a text, seen", SENTENCE, translation("text", [text], include=["near", "pictograms"]))
    yield Costly("a text, explained", SENTENCE, translation("text", lines[:5], k=3, explain=True))
    yield Costly("a word", WORD, translation("word", [dice.choice(text.split())], k=10))
    yield Costly("a document", TRANSLATE, translation("q", [document]))
    yield Costly("a page", TRANSLATE, translation("q", [f"<p>{document}</p>"], format="html"))
    yield Costly("detection", "/detect", json.dumps({"q": text}).encode())
    yield Get("a concordance", "/concordance?source=en&text=dog")
    yield Get("a unit", f"/tmserver/en/de/unit/{quote(text)}")
    yield file_to_fill("lines.txt", "\n".join(lines).encode())
    yield file_to_fill("texts.json", json.dumps(lines).encode())
    tus = "".join(f'<tu><tuv xml:lang="en"><seg>{line}</seg></tuv></tu>' for line in lines)
    tmx = f'<tmx version="1.4"><header srclang="en"/><body>{tus}</body></tmx>'
    yield file_to_fill("units.tmx", tmx.encode())
    units = "".join(f"<trans-unit><source>{line}</source></trans-unit>" for line in lines)
    xliff = f'<file source-language="en" target-language="de"><body>{units}</body></file>'
    yield file_to_fill("units.xliff", f'<xliff version="1.2">{xliff}</xliff>'.encode())
    entries = "".join(f'msgid "{line}"\nmsgstr ""\n\n' for line in lines)
    yield file_to_fill("entries.po", entries.encode())


HOSTILE = (documents, queries, files, new_texts, explained)


@click.command()
@click.option("--minutes", default=30.0, show_default=True)
def main(minutes: float) -> None:
    """Memory of a service under varied hostile load."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), small=False)
        with serving(stage.index) as server:
            first = fill_cache(server)
            full = server.resident()
            use(server)
            calm = server.resident()
            load = Load(server)
            threads = [
                threading.Thread(target=load.send, args=(source, seed)) for seed, source in enumerate(HOSTILE)
            ]
            threads.append(threading.Thread(target=load.leave, args=(99,)))
            course = hostile(load, threads, minutes * 60)
            time.sleep(SETTLING_SECONDS)
            after = server.resident()
            server.check(stage)
    click.echo(
        f"{minutes:g} minutes, {sum(load.statuses.values())} requests {dict(sorted(load.statuses.items()))}: "
        f"{first:.0f} MB after {FIRST_QUESTIONS} questions, {full:.0f} MB with a full cache, "
        f"{calm:.0f} MB after ordinary use of each feature, {max(course):.0f} MB at most, "
        f"{after:.0f} MB after it, {after / calm:.2f} times the calm value"
    )
    step = max(1, len(course) // COURSE_VALUES)
    click.echo(f"Meanwhile, evenly spaced: {', '.join(f'{value:.0f}' for value in course[::step])} MB")
    for fault in sorted(set(load.faults)):
        click.echo(f"fault: {fault}")
    sys.exit(1 if load.faults or after > MAX_GROWTH * calm else 0)


def fill_cache(server: Server) -> float:
    """Ask ordinary questions, all different, until the cache is full; the megabytes after the first."""
    lines = scenes("en")
    texts = [f"{lines[number % len(lines)]} {number}" for number in range(CACHED_QUESTIONS)]
    first = 0.0
    for begin in range(0, len(texts), QUESTIONS_SENT):
        if begin == FIRST_QUESTIONS:
            first = server.resident()
        body = translation("text", texts[begin : begin + QUESTIONS_SENT])
        expect(send(server, Costly("calm", SENTENCE, body)) == 200, "an ordinary question was refused")
    return first


def use(server: Server) -> None:
    """As many clients as will be hostile use each feature, side by side."""

    def client(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(ORDINARY_ROUNDS):
            for request in ordinary(dice):
                status = send(server, request)
                expect(status in (200, 503), f"{request.name}: {status} in calm use")

    with ThreadPoolExecutor(len(HOSTILE)) as clients:
        list(clients.map(client, range(len(HOSTILE))))


def hostile(load: Load, threads: list[threading.Thread], seconds: float) -> list[float]:
    """Run the clients for so long; the megabytes meanwhile."""
    course, until = [load.server.resident()], time.monotonic() + seconds
    for thread in threads:
        thread.start()
    while time.monotonic() < until:
        time.sleep(min(WATCH_INTERVAL, max(0.0, until - time.monotonic())))
        course.append(load.server.resident())
    load.over.set()
    for thread in threads:
        thread.join()
    return course


if __name__ == "__main__":
    main()
