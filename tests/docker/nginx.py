"""The reverse proxy that Compose puts before the service, on this machine: nginx with docker/nginx.conf."""

import contextlib
import os
import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.service.conftest import tool
from tests.service.server import free_port
from tests.waiting import until

CONFIGURATION = Path(__file__).parents[2] / "docker" / "nginx.conf"
UPSTREAM = re.compile(r"^( *)server service:8000 resolve (.*;)$", re.M)


def local_configuration(port: int, services: Sequence[int], folder: Path) -> str:
    """The shipped configuration with addresses and folders of this machine; all else as it is.

    `services` are ports, each of one replica, which Compose finds by the name `service`.
    """
    text = CONFIGURATION.read_text("utf-8")
    for pattern in (UPSTREAM, r"\blisten 8000;", r" /tmp/"):
        assert re.search(pattern, text), f"docker/nginx.conf has nothing like {pattern}"
    text = UPSTREAM.sub(
        lambda line: "\n".join(f"{line[1]}server 127.0.0.1:{service} {line[2]}" for service in services), text
    )
    return re.sub(r"\blisten 8000;", f"listen 127.0.0.1:{port};", text).replace(" /tmp/", f" {folder}/")


@contextlib.contextmanager
def reverse_proxy(
    folder: Path, *services: int, patience: int = 20, limits_rates: bool = False
) -> Iterator[int]:
    """The port of the reverse proxy before services at these ports; its log is FOLDER/nginx.log.

    `patience`: seconds that a service may take to answer. `limits_rates`: 2 requests a second and 20 at
    once, a fiftieth of what the configuration has; else as many as are sent.
    """
    folder.mkdir(exist_ok=True)
    configuration, port, log = folder / "nginx.conf", free_port(), folder / "nginx.log"
    text = local_configuration(port, services, folder)
    assert "proxy_read_timeout 20s;" in text
    assert "rate=100r/s;" in text
    assert "limit_req zone=rates burst=1000 nodelay;" in text
    if limits_rates:
        text = text.replace("rate=100r/s", "rate=2r/s").replace("burst=1000", "burst=20")
    else:
        text = text.replace("limit_req zone", "# limit_req zone")
    configuration.write_text(text.replace("read_timeout 20s;", f"read_timeout {patience}s;"), "utf-8")
    user = ["-g", "user root;"] if os.geteuid() == 0 else []  # else its workers could not read the folder
    command = [tool("nginx"), "-c", str(configuration), *user]
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)

    def takes_connections() -> bool:
        assert process.poll() is None, f"nginx ended: {log.read_text('utf-8')[-300:]}"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        return False

    try:
        until(takes_connections, "nginx took no connection", 30)
        yield port
    finally:
        process.terminate()  # and its workers with it; killed, it would leave them behind
        process.wait()
