"""milvus-lite as a server of its own, spoken to as any Milvus is, that can be frozen and killed."""

import socket
import subprocess
import sys
from pathlib import Path

from tests.waiting import Server


class MilvusServer(Server):
    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.address = f"milvus://127.0.0.1:{self.port}"
        self._folder = folder
        self.start()

    def start(self) -> None:
        words = ["--data-dir", str(self._folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", "milvus_lite", "server", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        assert b"listening" in self._process.stdout.readline()
