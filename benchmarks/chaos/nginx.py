"""The reverse proxy that Compose puts before the service, on this machine: nginx with docker/nginx.conf."""

import contextlib
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.chaos.stage import ROOT, expect, free_port, kill_group, running, start

CONFIGURATION = ROOT / "docker" / "nginx.conf"
UPSTREAM = re.compile(r"^( *)server service:8000 resolve (.*;)$", re.M)
START_SECONDS = 30.0


def local_configuration(port: int, services: Sequence[int], folder: Path) -> str:
    """The shipped configuration with addresses and folders of this machine; all else as it is.

    `services` are ports, each of one replica, which Compose finds by the name `service`.
    """
    text = CONFIGURATION.read_text("utf-8")
    for pattern in (UPSTREAM, r"\blisten 8000;", r" /tmp/"):
        expect(re.search(pattern, text) is not None, f"docker/nginx.conf has nothing like {pattern}")
    text = UPSTREAM.sub(
        lambda line: "\n".join(f"{line[1]}server 127.0.0.1:{service} {line[2]}" for service in services), text
    )
    return re.sub(r"\blisten 8000;", f"listen {port};", text).replace(" /tmp/", f" {folder}/")


@contextlib.contextmanager
def reverse_proxy(folder: Path, *services: int) -> Iterator[int]:
    """The port of the reverse proxy before services at these ports; its log is FOLDER/nginx.log."""
    program = running("nginx")
    folder.mkdir(exist_ok=True)
    configuration, port = folder / "nginx.conf", free_port()
    configuration.write_text(local_configuration(port, services, folder), "utf-8")
    user = ["-g", "user root;"] if os.geteuid() == 0 else []  # else its workers could not read the folder
    process = start([program, "-c", str(configuration), *user], folder / "nginx.log")
    try:
        _wait_for_port(port, process, folder / "nginx.log")
        yield port
    finally:
        kill_group(process)


def _wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        ended = process.poll()
        expect(ended is None, f"nginx ended with {ended}: {log.read_text('utf-8')[-300:]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    expect(False, f"nginx took no connection within {START_SECONDS:.0f} s")
