"""`passepartout serve` as a process: it answers, stops when told to, and fails in one line."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from itertools import islice
from pathlib import Path

import pytest

from tests.damage import truncate
from tests.service.server import SERVE, serving, translate
from tests.waiting import until


def test_it_answers_and_stops_cleanly_by_control_c(index_dir: Path) -> None:
    """By SIGTERM: tests/service/http/test_live.py."""
    with serving(index_dir) as (address, process):
        assert "Hund" in translate(address).title()
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in log


def test_a_worker_that_cannot_open_the_index_leaves_the_others_alone(index_dir: Path, tmp_path: Path) -> None:
    index = shutil.copytree(index_dir, tmp_path / "index")
    (card,) = index.glob("versions/*/encoder/README.md")
    content = card.read_bytes()
    with serving(index, "--workers", "2") as (address, process):
        assert process.stderr is not None
        # It is ready once one of them is.
        list(islice((line for line in process.stderr if "Application startup complete" in line), 2))
        truncate(card)
        os.kill(workers_of(process)[0], signal.SIGKILL)
        (refusal,) = islice((line for line in process.stderr if "cannot open the index" in line), 1)
        assert "README.md" in refusal
        # uvicorn would have stopped them by now: it looks twice a second.
        (died,) = islice((line for line in process.stderr if "died" in line), 1)
        assert died
        assert "Hund" in translate(address).title()
        card.write_bytes(content)
        list(islice((line for line in process.stderr if "Application startup complete" in line), 1))
        assert "Hund" in translate(address).title()
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in log


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [pid for pid in map(int, children) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_workers_do_not_outlive_a_supervisor_that_was_killed(index_dir: Path) -> None:
    with serving(index_dir, "--workers", "2") as (address, process):
        process.kill()
        process.wait()
        until(lambda: not takes_connections(address), "its workers still take connections", 20)


def takes_connections(address: str) -> bool:
    host, _, port = address.removeprefix("http://").partition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=5):
            return True
    except ConnectionRefusedError:
        return False


def failed(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([*SERVE, *arguments], capture_output=True, text=True, timeout=60, env={"PATH": ""})
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_without_an_index_it_fails_in_one_line(tmp_path: Path, workers: str) -> None:
    code, said = failed("--index", str(tmp_path / "none"), "--workers", workers)
    assert (code, said.count("\n")) == (1, 1)
    assert "none is not an index: build one with `passepartout index build`" in said


def test_a_setting_that_is_not_allowed_fails_in_one_line(index_dir: Path) -> None:
    """Of the environment: test_settings.py."""
    code, said = failed("--index", str(index_dir), "--port", "70000")
    assert (code, said.count("\n")) == (2, 1)
    assert "setting port (PASSEPARTOUT_PORT)" in said


def test_a_port_that_is_taken_fails(index_dir: Path, address: str) -> None:
    code, said = failed("--index", str(index_dir), "--port", address.rpartition(":")[2])
    assert (code, said.count("\n")) == (2, 1)
    assert "Address already in use" in said
    assert "--port" in said


@pytest.mark.parametrize("head", ["Content-Length: 1000000000", "Transfer-Encoding: chunked"])
def test_a_long_body_is_refused_and_not_read_to_its_end(address: str, head: str) -> None:
    place = ("127.0.0.1", int(address.rpartition(":")[2]))
    with socket.create_connection(place, timeout=10) as connection:
        lines = ["POST /translate/sentence HTTP/1.1", "Host: x", "Content-Type: application/json", head]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        sent = 0
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 50_000_000:
                connection.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
                sent += 0x10000
        assert sent < 30_000_000, "the proxy would see a reset: so much is read, and what the system buffers"
    assert "Hund" in translate(address).title()
