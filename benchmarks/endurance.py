"""Memory of a service under varied hostile load: after it at most MAX_GROWTH times what it was in calm use.

    python -m benchmarks.endurance --minutes 30

Starts a service of the shipped sentences and asks it ordinary questions until its cache is full, as that of
any service is after some days: its memory then is the calm value. (What it was before is told, too.)
After that clients send, over and over: the costliest requests of each schema, texts that nobody asked before,
all explained, files to be filled, damaged requests, and half of a request before they leave. A fault (5xx but
503), a service that ends, and memory above MAX_GROWTH times the calm value end with exit code 1.
"""

import contextlib
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from benchmarks.chaos.costs import SENTENCE, Costly, costly_files, costly_requests, translation
from benchmarks.chaos.crowding import send
from benchmarks.chaos.stage import Server, Stage, expect, scenes, serving

MAX_GROWTH = 1.5  # of the memory in calm use
CALM_QUESTIONS = 2000
CACHED_QUESTIONS, QUESTIONS_SENT = 20_000, 100  # that fill the cache, and so many of them in a request
SETTLING_SECONDS = 10.0  # seconds after the load before memory counts
WATCH_INTERVAL = 2.0  # seconds between two looks at the memory


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


@click.command()
@click.option("--minutes", default=30.0, show_default=True)
def main(minutes: float) -> None:
    """Memory of a service under varied hostile load."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), small=False)
        with serving(stage.index) as server:
            for number in range(CALM_QUESTIONS):
                server.ask(f"{scenes('en')[number % 1000]} {number}")
            before = server.resident()
            fill_cache(server)
            calm = server.resident()
            load = Load(server)
            targets = [(load.send, source) for source in (documents, files, new_texts, explained)]
            threads = [
                threading.Thread(target=act, args=(source, seed))
                for seed, (act, source) in enumerate(targets)
            ]
            threads.append(threading.Thread(target=load.leave, args=(99,)))
            most = hostile(load, threads, minutes * 60)
            time.sleep(SETTLING_SECONDS)
            after = server.resident()
            server.check(stage)
    click.echo(
        f"{minutes:g} minutes, {sum(load.statuses.values())} requests {dict(sorted(load.statuses.items()))}: "
        f"{before:.0f} MB after {CALM_QUESTIONS} questions, {calm:.0f} MB with a full cache, "
        f"{most:.0f} MB at most, {after:.0f} MB after it, "
        f"{after / calm:.2f} times the calm value, {after / before:.2f} times that before the cache was full"
    )
    for fault in sorted(set(load.faults)):
        click.echo(f"fault: {fault}")
    sys.exit(1 if load.faults or after > MAX_GROWTH * calm else 0)


def fill_cache(server: Server) -> None:
    """Ask ordinary questions, all different, until the cache has dropped the first."""
    lines = scenes("en")
    texts = [f"{lines[number % len(lines)]} {number}" for number in range(CACHED_QUESTIONS)]
    for begin in range(0, len(texts), QUESTIONS_SENT):
        body = translation("text", texts[begin : begin + QUESTIONS_SENT])
        expect(send(server, Costly("calm", SENTENCE, body)) == 200, "an ordinary question was refused")


def hostile(load: Load, threads: list[threading.Thread], seconds: float) -> float:
    """Run the clients for so long; the most megabytes meanwhile."""
    most, until = 0.0, time.monotonic() + seconds
    for thread in threads:
        thread.start()
    while time.monotonic() < until:
        time.sleep(min(WATCH_INTERVAL, max(0.0, until - time.monotonic())))
        most = max(most, load.server.resident())
    load.over.set()
    for thread in threads:
        thread.join()
    return most


if __name__ == "__main__":
    main()
