"""`make chaos` in small: it does harm, says what came of it, and writes the table."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.chaos.__main__ import BEGIN, END, FAULTS, Fault, Outcome, happen, table, write
from benchmarks.chaos.proxy import Network, proxy
from benchmarks.chaos.stage import NotTriedError, Stage, expect, fail_in_a_line

ROOT = Path(__file__).resolve().parents[2]


def test_a_fault_happens(tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    command = [sys.executable, "-m", "benchmarks.chaos", "--small", "--json", str(raw)]
    command += ["--only", "network-*t"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads(raw.read_text("utf-8"))
    assert found["name"] == "network-cut"
    assert found["as_expected"] is True
    assert found["observation"].startswith("4 connections cut")


@pytest.fixture
def echo() -> socket.socket:
    """A listening socket."""
    return socket.create_server(("127.0.0.1", 0))


def through(port: int, data: bytes, listening: socket.socket) -> bytes:
    """What arrives of `data` behind a proxy."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        server, _ = listening.accept()
        with server:
            server.settimeout(10)
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: server.recv(65536), b""))


def arrived(port: int, data: bytes, listening: socket.socket) -> int:
    try:
        return len(through(port, data, listening))
    except OSError:
        return 0


def test_the_proxy_is_late_narrow_and_cuts(echo: socket.socket) -> None:
    network = Network()
    data = bytes(range(256)) * 32
    with echo, proxy(echo.getsockname()[1], network) as port:
        assert through(port, data, echo) == data
        network.delay = 0.2
        begun = time.monotonic()
        assert through(port, b"x", echo) == b"x"
        assert time.monotonic() - begun > 0.2
        network.delay, network.rate = 0, 16_384
        begun = time.monotonic()
        assert through(port, data, echo) == data
        assert time.monotonic() - begun > 0.5
        network.rate, network.cut_after = float("inf"), 3000
        assert arrived(port, data, echo) <= 3000


def outcome_of(failure: Exception | None) -> Outcome:
    def act(_: Stage) -> str:
        if failure:
            raise failure
        return "it went on"

    return happen(Fault("redis-killed", "x", "y", act), None)  # type: ignore[arg-type]


def test_outcomes() -> None:
    assert outcome_of(None).as_expected is True
    assert outcome_of(NotTriedError("no Redis")).as_expected is None
    assert outcome_of(ValueError("a | b")).as_expected is False
    with pytest.raises(Exception, match="so it was") as surprise:
        expect(False, "so it was")
    assert outcome_of(surprise.value).observation == "so it was"
    rows = table([outcome_of(None), outcome_of(ValueError("a | b"))]).splitlines()
    assert rows[2].endswith("| as expected: it went on |")
    assert rows[3].endswith(r"| **not as expected**: ValueError: a \| b |")


@pytest.mark.parametrize(
    ("code", "stderr"), [(0, ""), (-9, "Killed"), (2, "Traceback\nx.npy"), (2, "it broke")]
)
def test_only_a_refusal_that_names_the_file_is_one(code: int, stderr: str) -> None:
    with pytest.raises(Exception, match=r"exit code|traceback|said only"):
        fail_in_a_line(subprocess.CompletedProcess([], code, "", stderr), "x.npy")


def test_the_table_is_replaced_and_the_rest_kept(tmp_path: Path) -> None:
    document = tmp_path / "reliability.md"
    document.write_text(f"Before.\n{BEGIN}old\n{END}After.\n", "utf-8")
    write(document, [outcome_of(None)])
    text = document.read_text("utf-8")
    assert text.startswith(f"Before.\n{BEGIN}| | fault |")
    assert text.endswith(f"{END}After.\n")
    assert "old" not in text
    document.write_text("No place.\n", "utf-8")
    with pytest.raises(Exception, match="no place for the table"):
        write(document, [outcome_of(None)])


def test_the_document_has_a_row_for_every_fault() -> None:
    text = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    missing = [fault.name for fault in FAULTS if f"| `{fault.name}` |" not in text]
    assert missing == []
