"""The servers that the benchmarks start, each in a process of its own, and requests to them."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import click

Process = subprocess.Popen[bytes]
START_SECONDS = 120
SENTENCE = "/translate/sentence"
BARE = "/bare"  # of the empty server
QUIET = {
    "PASSEPARTOUT_CACHE_BYTES": "0",
    "PASSEPARTOUT_LOG_LEVEL": "warning",
    "OMP_NUM_THREADS": "1",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str], environment: dict[str, str], port: int) -> Iterator[Process]:
    """A server process, once it is ready; stopped afterwards."""
    process = subprocess.Popen(command, env=os.environ | environment)
    try:
        wait_until_ready(process, port)
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_until_ready(process: Process, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise click.ClickException(f"the server ended with exit code {process.returncode}")
        if is_ready(port):
            return
        time.sleep(0.05)
    raise click.ClickException(f"the server was not ready within {START_SECONDS} s")


def is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def serving(index: Path, workers: int = 1, **settings: str) -> Iterator[tuple[int, Process]]:
    """Port and process of `passepartout serve`, without its cache, one thread a worker."""
    port = free_port()
    command = [sys.executable, "-m", "passepartout", "serve", "--index", str(index), "--port", str(port)]
    with running([*command, "--workers", str(workers)], QUIET | settings, port) as process:
        yield port, process


@contextmanager
def empty(answer: bytes, workers: int = 1) -> Iterator[int]:
    """The port of endpoints that give `answer` to everything (empty.py), served as the service is."""
    with TemporaryDirectory() as folder:
        file, port = Path(folder, "answer.json"), free_port()
        file.write_bytes(answer)
        options = [
            "--port",
            str(port),
            "--workers",
            str(workers),
            "--no-access-log",
            "--log-level",
            "warning",
        ]
        command = [sys.executable, "-m", "uvicorn", "benchmarks.empty:app", *options]
        with running(command, {"ANSWER": str(file)}, port):
            yield port


@contextmanager
def redis(folder: Path) -> Iterator[tuple[str, Process]]:
    """A Redis server of one's own, with its files in a folder: its address and process."""
    port = free_port()
    options = ["--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _redis_answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise click.ClickException("Redis does not answer")
            time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}", process
    finally:
        kill(process)


def _redis_answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")
    return False


def kill(process: Process) -> None:
    """Kill a process and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def connected(port: int, path: str = SENTENCE) -> Iterator[Callable[[bytes], bytes]]:
    """A function that posts JSON over one kept-alive connection and returns the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(body: bytes) -> bytes:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        if response.status != http.client.OK:
            raise click.ClickException(f"the server answered {response.status}: {answer[:200]!r}")
        return answer

    try:
        yield ask
    finally:
        connection.close()


def questions(queries: Path, source: str, target: str) -> list[bytes]:
    """Bodies of requests for one sentence, one for each different line of a file."""
    lines = dict.fromkeys(filter(None, map(str.strip, queries.read_text("utf-8").splitlines())))
    return [
        json.dumps({"text": line, "source": source, "target": target, "min_confidence": 0}).encode()
        for line in lines
    ]


def asks_an_index(command: click.Command) -> click.Command:
    """Add the options of a command that starts the service and asks it."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    for option in (
        click.Option(["--target"], required=True, help="Language to translate into."),
        click.Option(["--source"], required=True, help="Language of the queries."),
        click.Option(["--queries"], type=file, required=True, help="A question a line."),
        click.Option(["--index"], type=folder, required=True, help="The index to serve."),
    ):
        command.params.insert(0, option)
    return command


def memory(process: int) -> tuple[float, float]:
    """Resident memory of a process and its peak, in MB (10^6 bytes), from /proc."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    fields = {line.partition(":")[0]: line.partition(":")[2] for line in lines}
    now, peak = (int(fields[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
    return now, peak
