"""Breaks things on purpose, with the real commands and a real service, and says what came of it.

    python -m benchmarks.faults [--only PATTERN]... [--seconds 20] [--minutes 3]

Prints the table of docs/reliability.md, a row a fault. It kills builds and workers, fills a small disk,
changes files that are served, stops Redis, changes versions under load, overloads and attacks the service,
and measures its memory under hostile load for --minutes. What a test covers as well is not repeated here.
Needs redis-server, nginx, wrk, and root for the small disk; what is missing fails its row. Exit 1 if a row
failed.
"""

import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.servers import SENTENCE, is_ready, kill, memory, redis, serving
from benchmarks.service_load import drive
from tests.docker.nginx import reverse_proxy
from tests.service.http.costly import Costly, costly_files, costly_queries, costly_requests, translation

ROOT = Path(__file__).resolve().parents[1]
PASSEPARTOUT = [sys.executable, "-m", "passepartout"]
QUICK = 1.5  # seconds an answer may take when something beside the service is broken
MAX_GROWTH = 1.5  # of the memory in calm use


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


@dataclass(frozen=True)
class Stage:
    """A scratch folder, an index of the shipped sentences in two languages, and the answers it gives."""

    folder: Path
    index: Path
    answers: dict[str, str]
    seconds: float
    minutes: float
    dice: random.Random

    def copy(self, name: str) -> Path:
        """A copy of the index, to be changed."""
        return Path(shutil.copytree(self.index, self.folder / name))


class Replayed(NamedTuple):
    """What became of questions with known answers."""

    wrong: int
    failed: int
    slowest: float

    def check(self, most: float = QUICK) -> str:
        expect(not self.wrong and not self.failed, f"{self.wrong} other answers, {self.failed} failures")
        expect(self.slowest < most, f"an answer took {self.slowest:.1f} s")
        return f"all answers as before, the slowest in {1000 * self.slowest:.0f} ms"


def lines(language: str) -> list[str]:
    return (ROOT / "corpora" / "everyday" / f"{language}.txt").read_text("utf-8").splitlines()


def corpora(folder: Path, copies: int = 1) -> Path:
    """Write en.txt and de.txt: the shipped sentences, and `copies` - 1 times each joined to another."""
    folder.mkdir(exist_ok=True)
    for language in ("en", "de"):
        told = lines(language)
        more = [f"{a} {told[(7 * i + n) % len(told)]}" for n in range(copies - 1) for i, a in enumerate(told)]
        (folder / f"{language}.txt").write_text("".join(f"{line}\n" for line in told + more), "utf-8")
    return folder


def build(index: Path, texts: Path) -> list[str]:
    named = [f"--corpus={language}={texts / language}.txt" for language in ("en", "de")]
    return [*PASSEPARTOUT, "index", "build", "--encoder", "models/open", *named, "--out", str(index)]


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def succeed(command: Sequence[str]) -> None:
    done = run(command)
    assert done.returncode == 0, (
        f"{' '.join(command[2:5])} ended with {done.returncode}: {done.stderr[-300:]}"
    )


def refused(done: subprocess.CompletedProcess[str], named: str) -> None:
    """Check that a command refused in one line with this in it."""
    last = done.stderr.strip().splitlines()[-1:]
    expect(done.returncode in (1, 2) and "Traceback" not in done.stderr, f"{done.returncode}: {last}")
    expect(named in "".join(last), f"said only {last}")


def best(port: int, text: str) -> str:
    """The best German answer, asked over a new connection. OSError if the connection is cut."""
    body = json.dumps({"text": text, "source": "en", "target": "de", "min_confidence": 0})
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", SENTENCE, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        document = json.loads(response.read())
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise OSError(f"status {response.status}")
    return str(document["results"][0]["translations"]["de"][0]["text"])


def ask(stage: Stage, port: int, until: Callable[[], bool] | None = None) -> Replayed:
    """Ask all known questions once, or again and again until something holds."""
    wrong = failed = 0
    slowest = 0.0
    while True:
        for text, answer in stage.answers.items():
            began = time.monotonic()
            try:
                wrong += best(port, text) != answer
            except OSError:
                failed += 1
            slowest = max(slowest, time.monotonic() - began)
        if until is None or until():
            return Replayed(wrong, failed, slowest)


def wait_for(condition: Callable[[], object], seconds: float, what: str) -> float:
    """Seconds until a condition holds."""
    began = time.monotonic()
    while not condition():
        expect(time.monotonic() - began < seconds, f"{what}: not within {seconds:.0f} s")
        time.sleep(0.05)
    return time.monotonic() - began


def after(seconds: float) -> Callable[[], bool]:
    """Whether so many seconds have passed since now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def killed_or_done(command: Sequence[str], seconds: float) -> bool:
    """Run a command for so long at most; whether it ended by itself."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        expect(process.wait(seconds) == 0, f"the build ended with {process.returncode}")
        return True
    except subprocess.TimeoutExpired:
        kill(process)
        return False


def content(index: Path) -> dict[str, bytes]:
    """The files of the version served, but for the manifest, which has dates."""
    folder = index / "versions" / (index / "CURRENT").read_text("utf-8").strip()
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def builds_killed(stage: Stage) -> str:
    """`index build` killed (-9) at random moments beside a service of the same index"""
    texts, undisturbed = corpora(stage.folder / "larger", copies=4), stage.folder / "undisturbed"
    began = time.monotonic()
    succeed(build(undisturbed, texts))
    takes, kills = time.monotonic() - began, 0
    index = stage.copy("killed")
    with serving(index) as (port, _):
        while kills < 10 and not killed_or_done(build(index, texts), stage.dice.uniform(0, takes)):
            kills += 1
            expect(is_ready(port), "the service is not ready any more")
            best(port, next(iter(stage.answers)))
    succeed(build(index, texts))
    succeed([*PASSEPARTOUT, "index", "verify", str(index)])
    expect(content(index) == content(undisturbed), "the index differs from one that was never killed")
    return (
        f"{kills} kills within builds of {takes:.0f} s, no request failed, the end like an undisturbed build"
    )


def disk_full(stage: Stage) -> str:
    """`index build` on a disk (tmpfs) that becomes full"""
    used = sum(path.stat().st_size for path in stage.index.rglob("*") if path.is_file())
    disk = stage.folder / "disk"
    disk.mkdir()
    succeed(["mount", "-t", "tmpfs", "-o", f"size={int(1.4 * used) + (1 << 20)}", "tmpfs", str(disk)])
    try:
        index = Path(shutil.copytree(stage.index, disk / "index"))
        before = (index / "CURRENT").read_text("utf-8")
        texts = corpora(stage.folder / "larger", copies=4)
        with serving(index) as (port, _):
            refused(run(build(index, texts)), "No space left")
            told = ask(stage, port).check()
        expect((index / "CURRENT").read_text("utf-8") == before, "CURRENT changed")
        succeed(["mount", "-o", "remount,size=400m", str(disk)])
        succeed(build(index, texts))
    finally:
        run(["umount", "--lazy", str(disk)])
    return f"refused in a line; {told}; with space the same command ended"


def files_changed(stage: Stage) -> str:
    """each kind of file that two workers serve: a bit changed, cut, replaced, removed"""
    index = stage.copy("changed")
    (version,) = (index / "versions").iterdir()
    files = [path for path in sorted(version.rglob("*")) if path.is_file() and path.name[:3] != "en."]
    seen: Counter[str] = Counter()
    with serving(index, workers=2) as (port, process):
        for path in files:
            for harm in (flip, cut, replace, remove):
                before = path.read_bytes()
                harm(path, stage.dice)
                asked = ask(stage, port)
                outcome = "a worker died" if asked.failed else "other answers" if asked.wrong else "as before"
                assert outcome == "as before" or harm in (flip, cut), (
                    f"{path.name} {harm.__name__}: {outcome}"
                )
                seen[f"{harm.__name__}: {outcome}"] += 1
                path.unlink(missing_ok=True)
                path.write_bytes(before)
                wait_for(lambda: ask(stage, port)[:2] == (0, 0), 150, f"{path.name} put back")
                expect(process.poll() is None, f"{path.name}: the service ended")
    return "; ".join(f"{what} {count} times" for what, count in sorted(seen.items()))


def flip(path: Path, dice: random.Random) -> None:
    path.chmod(0o644)
    with path.open("r+b") as file:
        place = dice.randrange(max(1, path.stat().st_size))
        file.seek(place)
        byte = file.read(1)
        file.seek(place)
        file.write(bytes([(byte[0] if byte else 0) ^ 1]))


def cut(path: Path, _: random.Random) -> None:
    path.chmod(0o644)
    os.truncate(path, path.stat().st_size // 2)


def replace(path: Path, dice: random.Random) -> None:
    draft = path.with_name(".draft")
    draft.write_bytes(path.read_bytes())
    flip(draft, dice)
    draft.replace(path)


def remove(path: Path, _: random.Random) -> None:
    path.unlink()


def redis_lost(stage: Stage) -> str:
    """Redis frozen (SIGSTOP), then killed (-9)"""
    told = []
    with redis(stage.folder) as (url, process), serving(stage.index, PASSEPARTOUT_REDIS_URL=url) as (port, _):
        ask(stage, port).check()
        process.send_signal(signal.SIGSTOP)
        told.append(f"frozen: {ask(stage, port).check()}")
        kill(process)
        told.append(f"killed: {ask(stage, port).check()}")
    return "; ".join(told)


def worker_killed(stage: Stage) -> str:
    """one of two workers killed (-9) while it is asked"""
    with serving(stage.index, workers=2) as (port, process):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        workers = [int(pid) for pid in children.read_text().split() if is_worker(int(pid))]
        os.kill(workers[0], signal.SIGKILL)
        asked = ask(stage, port, after(stage.seconds))
        expect(asked.failed <= 1 and not asked.wrong, f"{asked.failed} requests failed")
        back = wait_for(
            lambda: sum(map(is_worker, map(int, children.read_text().split()))) == len(workers),
            60,
            "a worker",
        )
    return f"{asked.failed} requests failed; another worker within {stage.seconds + back:.0f} s"


def is_worker(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def versions_changed(stage: Stage) -> str:
    """another version named every two seconds, under load"""
    index = stage.copy("swapped")
    succeed(build(index, corpora(stage.folder / "other", copies=2)))
    names = sorted(path.name for path in (index / "versions").iterdir())
    bodies = [body_of(f"{text} {number}") for number, text in enumerate(lines("en"))]
    swaps, stop = 0, threading.Event()

    def swap() -> None:
        nonlocal swaps
        while not stop.wait(2):  # the service looks oftener
            (index / ".CURRENT").write_text(f"{names[swaps % 2]}\n")
            (index / ".CURRENT").replace(index / "CURRENT")
            swaps += 1

    with serving(index) as (port, _):
        swapper = threading.Thread(target=swap)
        swapper.start()
        try:
            load = drive(port, bodies, 8, stage.seconds)
        finally:
            stop.set()
            swapper.join()
    expect(load.refused == 0, f"{load.refused} answers refused")
    return f"{swaps} changes, {load.rate * stage.seconds:.0f} answers, none lost"


def body_of(text: str) -> bytes:
    return json.dumps({"text": text, "source": "en", "target": "de", "min_confidence": 0}).encode()


def overload(stage: Stage) -> str:
    """ten times as many clients as requests are admitted"""
    bodies = [body_of(f"{text} {number}") for number, text in enumerate(lines("en"))]
    with serving(stage.index, PASSEPARTOUT_MAX_REQUESTS="32") as (port, process):
        calm, before = drive(port, bodies, 16, stage.seconds), memory(process.pid)[0]
        crowd = drive(port, bodies, 320, stage.seconds)
        grown = memory(process.pid)[0] - before
        told = ask(stage, port).check()
    expect(grown < 100, f"memory grew by {grown:.0f} MB")
    return (
        f"{crowd.rate:.0f} answers/s ({calm.rate:.0f}/s with 16 clients), "
        f"{crowd.refused / stage.seconds:.0f} refused/s, {grown:+.0f} MB; after it {told}"
    )


def hostile(stage: Stage) -> str:
    """2 MB bodies, 101 headers, an unknown method, without a pause, through the shipped proxy"""
    head = b"POST /translate/sentence HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    body = b"Content-Length: 2000000\r\n\r\n" + b" " * 2_000_000
    many = b"".join(b"X-Header-%d: a\r\n" % number for number in range(101))
    requests = (head + body, head + many + body, (head + body).replace(b"POST", b"FOO", 1))
    stop, sent = threading.Event(), Counter[str]()

    def attack(port: int, request: bytes) -> None:
        while not stop.is_set():
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
            ):
                with contextlib.suppress(OSError):  # refused before its end
                    connection.sendall(request)
                sent[connection.recv(12)[9:].decode() or "nothing"] += 1

    with contextlib.ExitStack() as stack:
        replicas = [stack.enter_context(serving(stage.index))[0] for _ in range(2)]
        port = stack.enter_context(reverse_proxy(stage.folder / "nginx", *replicas))
        attackers = [threading.Thread(target=attack, args=(port, request)) for request in requests]
        for attacker in attackers:
            attacker.start()
        try:
            told = ask(stage, port, after(stage.seconds)).check()
        finally:
            stop.set()
            for attacker in attackers:
                attacker.join()
    answers = ", ".join(f"{count} × {status}" for status, count in sorted(sent.items()))
    return f"{told}; the attackers got {answers}"


def memory_kept(stage: Stage) -> str:
    """the costliest requests of every route, new texts, and requests broken off, side by side"""
    with serving(stage.index, PASSEPARTOUT_CACHE_BYTES="64000000") as (port, process):
        told = lines("en")
        for begin in range(0, 20_000, 100):  # until the cache is full, as any service's is after some days
            texts = [f"{told[row % len(told)]} {row}" for row in range(begin, begin + 100)]
            send(port, Costly("calm", SENTENCE, translation("text", texts)))
        for request in costly_files():  # ordinary use of what the load uses
            send(port, request)
        calm = memory(process.pid)[0]
        stop, statuses = threading.Event(), Counter[int]()
        sources = (costly_requests, costly_queries, costly_files, partial(new_texts, stage.dice))
        clients = [threading.Thread(target=load, args=(port, source, stop, statuses)) for source in sources]
        for client in clients:
            client.start()
        time.sleep(60 * stage.minutes)
        stop.set()
        for client in clients:
            client.join()
        time.sleep(10)
        kept, peak = memory(process.pid)
        ask(stage, port).check()
    faults = {status: count for status, count in statuses.items() if status >= 500 and status != 503}
    told_of = f"{statuses.total()} requests: {calm:.0f} MB before, {peak:.0f} at most, {kept:.0f} after"
    expect(not faults and kept < MAX_GROWTH * calm, f"{told_of}; faults {faults}")
    return f"{told_of}, {kept / calm:.2f} times; no fault"


def new_texts(dice: random.Random) -> Iterator[Costly]:
    """What nobody asked before, so that it fills every cache."""
    for _ in range(20):
        texts = [f"{dice.choice(lines('en'))} {dice.getrandbits(40):x}" for _ in range(60)]
        yield Costly("new texts", SENTENCE, translation("text", texts, k=50))


def load(
    port: int, source: Callable[[], Iterator[Costly]], stop: threading.Event, statuses: "Counter[int]"
) -> None:
    """Send what a source gives, again and again; after each request leave another in its middle."""
    while not stop.is_set():
        for request in source():
            if stop.is_set():
                return
            with contextlib.suppress(OSError, http.client.HTTPException):
                statuses[send(port, request)] += 1
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as peer:
                peer.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")


def send(port: int, request: Costly) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"Content-Type": request.content_type}
        connection.request(request.method, request.path, request.body, headers)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


FAULTS: tuple[Callable[[Stage], str], ...] = (
    *(
        builds_killed,
        disk_full,
        files_changed,
        redis_lost,
        worker_killed,
        versions_changed,
        overload,
        hostile,
    ),
    memory_kept,
)


@contextlib.contextmanager
def staged(seconds: float, minutes: float) -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="passepartout-faults-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        succeed(build(folder / "index", corpora(folder / "sentences")))
        questions = lines("en")[:: len(lines("en")) // 10][:10]
        with serving(folder / "index") as (port, _):
            answers = {text: best(port, text) for text in questions}
        yield Stage(folder, folder / "index", answers, seconds, minutes, random.Random(20261121))


@click.command()
@click.option("--only", multiple=True, metavar="PATTERN", help="Names of faults, such as redis*.")
@click.option("--seconds", default=20.0, show_default=True, help="Of each load.")
@click.option("--minutes", default=3.0, show_default=True, help="Of hostile load while memory is measured.")
def main(only: tuple[str, ...], seconds: float, minutes: float) -> None:
    """Do harm on purpose, and print what happened as a Markdown table."""
    chosen = [one for one in FAULTS if not only or any(fnmatch(one.__name__, part) for part in only)]
    if not chosen:
        raise click.UsageError(f"--only matches none of {', '.join(one.__name__ for one in FAULTS)}")
    failed = 0
    click.echo("| | fault | what came of it |\n|---|---|---|")
    with staged(seconds, minutes) as stage:
        for fault in chosen:
            try:
                told = fault(stage)
            except Exception as error:  # of whatever kind: it belongs into the table
                failed += 1
                told = f"**failed**: {type(error).__name__}: {error}"
            told = re.sub(r"/\S*passepartout-faults-\w+", "FOLDER", " ".join(told.split())).replace(
                "|", "\\|"
            )
            click.echo(f"| `{fault.__name__}` | {(fault.__doc__ or '').strip()} | {told} |")
    raise SystemExit(min(failed, 1))


if __name__ == "__main__":
    main()
