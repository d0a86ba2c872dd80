"""What every fault needs: sentences, the real commands, a real server, questions with known answers."""

import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PASSEPARTOUT = [sys.executable, "-m", "passepartout"]
TIMEOUT = 120  # seconds after which a command or server counts as hung
QUESTIONS = 10


class SurpriseError(Exception):
    """Something did not go as expected; the message goes into the table."""


class NotTriedError(Exception):
    """This machine can't have the fault; the message says what it lacks."""


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SurpriseError(otherwise)


@dataclass
class Stage:
    """A scratch folder, an index of the shipped scenes, and the answers it gives undisturbed."""

    folder: Path
    small: bool
    dice: random.Random = field(default_factory=lambda: random.Random(20261121))
    index: Path = field(init=False)
    answers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        os.environ |= {"XDG_CACHE_HOME": str(self.folder / "cache"), "OMP_NUM_THREADS": "1"}
        self.index = self.folder / "index"
        succeed(build(self.index, self.corpora("sentences")))
        with serving(self.index) as server:
            self.answers = {text: server.best(text) for text in self.questions()}

    def corpora(self, name: str, copies: int = 1) -> Path:
        """A folder of en.txt and de.txt: the scenes, and `copies` - 1 times each one joined to another."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for language in ("en", "de"):
            lines = scenes(language)
            more = [
                f"{a} {lines[(i * 7 + n) % len(lines)]}"
                for n in range(copies - 1)
                for i, a in enumerate(lines)
            ]
            (folder / f"{language}.txt").write_text("".join(f"{line}\n" for line in lines + more), "utf-8")
        return folder

    def questions(self) -> list[str]:
        lines = scenes("en")
        return lines[:: len(lines) // QUESTIONS][:QUESTIONS]

    def copy(self, name: str) -> Path:
        """A copy of the index, to be damaged."""
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.index, target)
        return target

    def new(self, name: str) -> Path:
        """A folder that is not there yet."""
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        return target


def scenes(language: str) -> list[str]:
    return (ROOT / "corpora" / "everyday" / f"{language}.txt").read_text("utf-8").splitlines()


def build(index: Path, corpora: Path) -> list[str]:
    """The command that builds an index of a folder of LANG.txt."""
    named = [f"--corpus={path.stem}={path}" for path in sorted(corpora.glob("*.txt"))]
    return [*PASSEPARTOUT, "index", "build", "--encoder", "models/small", *named, "--out", str(index)]


def run(command: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def succeed(command: Sequence[str], **environment: str) -> str:
    """What a command that must succeed prints."""
    done = run(command, **environment)
    expect(done.returncode == 0, f"{' '.join(command[2:5])} ended with {done.returncode}: {said(done)}")
    return done.stdout


def said(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else "nothing said"


def fail_in_a_line(done: subprocess.CompletedProcess[str], *named: str) -> None:
    """Check that a command refused in one clear line that has one of the names in it."""
    expect(done.returncode in (1, 2), f"exit code {done.returncode}: {said(done)}")
    expect("Traceback" not in done.stderr, f"a traceback: {said(done)}")
    expect(any(name in said(done) for name in named), f"said only: {said(done)}")


def start(command: Sequence[str], log: Path | None = None, **environment: str) -> subprocess.Popen[bytes]:
    """A process in a group of its own."""
    output = log.open("ab") if log else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    finally:
        if log:
            output.close()  # type: ignore[union-attr]


def kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@dataclass
class Server:
    """A running `passepartout serve`."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def ask(self, text: str, timeout: float = 30.0, port: int | None = None) -> tuple[int, Any, float]:
        """Status, document and seconds of one request for a German translation on a new connection."""
        body = json.dumps({"text": text, "source": "en", "target": "de", "min_confidence": 0})
        begun = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=timeout)
        try:
            connection.request("POST", "/translate/sentence", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            document = json.loads(response.read())
            return response.status, document, time.monotonic() - begun
        finally:
            connection.close()

    def best(self, text: str, port: int | None = None) -> str:
        status, document, _ = self.ask(text, port=port)
        expect(status == http.client.OK, f"status {status}: {document}")
        return str(document["results"][0]["translations"]["de"][0]["text"])

    def check(self, stage: Stage) -> float:
        """All known questions have their known answers; the slowest took so many seconds."""
        slowest = 0.0
        for text, answer in stage.answers.items():
            begun = time.monotonic()
            best_answer = self.best(text)
            slowest = max(slowest, time.monotonic() - begun)
            expect(best_answer == answer, f"answered {best_answer!r} in place of {answer!r}")
        return slowest

    def ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def resident(self) -> float:
        """Megabytes of the process and its children."""
        return sum(_resident(pid) for pid in [self.process.pid, *children(self.process.pid)])


def children(parent: int) -> list[int]:
    pids = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
    return [int(pid) for pid in pids]


def _resident(pid: int) -> float:
    with contextlib.suppress(FileNotFoundError):
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> float:
    """Seconds until a condition holds."""
    begun = time.monotonic()
    while not condition():
        expect(time.monotonic() - begun < seconds, f"{what}: not within {seconds:.0f} s")
        time.sleep(0.05)
    return time.monotonic() - begun


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_server(index: Path, *options: str, prefix: Sequence[str] = (), **environment: str) -> Server:
    port = free_port()
    command = [*prefix, *PASSEPARTOUT, "serve", "--index", str(index), "--port", str(port), *options]
    log = index.parent / f"serve-{port}.log"
    return Server(start(command, log, **environment), port, log)


@contextlib.contextmanager
def serving(index: Path, *options: str, prefix: Sequence[str] = (), **environment: str) -> Iterator[Server]:
    """A server once it is ready; its whole process group is gone afterwards."""
    server = start_server(index, *options, prefix=prefix, **environment)
    try:
        wait_for(
            lambda: server.ready() or server.process.poll() is not None, TIMEOUT, "the server is not ready"
        )
        ended = server.process.poll()
        expect(ended is None, f"the server ended with {ended}: {server.log.read_text('utf-8')[-300:]}")
        yield server
    finally:
        kill_group(server.process)


def running(program: str) -> str:
    """The path of a program that a fault needs."""
    path = shutil.which(program)
    if path is None:
        raise NotTriedError(f"{program} is not installed")
    return path
