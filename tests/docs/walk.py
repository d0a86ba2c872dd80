"""Runs the command blocks of a document one after another, as a reader would in a clone of this repository.

The reader's folder is a new one with this clone's encoder, sentences, Makefile and environment. What serves
is started beside the rest and waited for. Ports are free ones in place of those that the document names.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.docs.blocks import ROOT, Block
from tests.service.server import free_port

SERVES = re.compile(r"^((?:[A-Z_]+=\S+ )*(?:make serve|\S*passepartout serve)\b.*)$", re.MULTILINE)
MARK = "@@@ "
LANGUAGES = ("en", "de")  # that documents ask for
PHRASES = "corpora/phrases/phrases.tsv"
PRELUDE = """
set -euo pipefail
stop_server() {
  if [ -n "${server:-}" ]; then kill -- "-$server" 2>/dev/null || true; wait "$server" || true; server=; fi
}
leave() {
  stop_server
  for left in redis.pid jobs.pid; do if [ -f $left ]; then kill "$(cat $left)" || true; fi; done
}
trap leave EXIT
serve() {
  stop_server
  setsid bash -c "$1" >serve.log 2>&1 & server=$!
  for _ in $(seq 600); do
    if curl --noproxy '*' -sf "http://127.0.0.1:$PORT/health/ready" >/dev/null; then return; fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat serve.log >&2
  return 1
}
"""


@dataclass(frozen=True)
class Walk:
    """What the blocks printed, by their line in the document; `error` is empty if all went well."""

    printed: dict[int, str]
    error: str


def to_run(block: Block) -> bool:
    return (
        block.kind == "sh"
        and not block.usage
        and block.mark != "not run"
        and (block.mark != "minutes" or os.environ.get("DOCS") == "all")
    )


def prepare(folder: Path) -> None:
    """Make a folder look like a clone with everything installed."""
    for name in ("models", "docker", "training", "benchmarks"):
        (folder / name).symlink_to(ROOT / name)
    copy_corpora(folder / "corpora")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    (folder / ".venv").mkdir()
    environment = Path(sys.executable).parent.parent
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / ".venv" / name).symlink_to(environment / name)
    for marker in ("base", "dev"):
        (folder / ".venv" / marker).touch()


def copy_corpora(folder: Path) -> None:
    """Copy what `make index` reads, in the languages that documents ask for: more take longer."""
    shutil.copytree(ROOT / "corpora", folder, ignore=shutil.ignore_patterns("everyday", "phrases"))
    for language in LANGUAGES:
        (folder / "everyday").mkdir(exist_ok=True)
        shutil.copy(ROOT / "corpora/everyday" / f"{language}.txt", folder / "everyday")
    rows = [row.split("\t") for row in (ROOT / PHRASES).read_text("utf-8").splitlines()]
    columns = *LANGUAGES, "topic", "pictogram", "reviewed"
    kept = [place for place, name in enumerate(rows[0]) if name in columns]
    (folder / "phrases").mkdir()
    lines = ("\t".join(row[place] for place in kept) + "\n" for row in rows)
    (folder.parent / PHRASES).write_text("".join(lines), "utf-8")


def walk(blocks: list[Block], folder: Path) -> Walk:
    port, redis_port = free_port(), free_port()
    script = PRELUDE
    for block in blocks:
        text = SERVES.sub(lambda match: f"serve {shlex.quote(match[1])}", block.text)
        text = text.replace(":8000", f":{port}").replace("6379", str(redis_port))
        script += f"printf '\\n{MARK}{block.line}\\n'\n{text}\n"
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment(port), capture_output=True, text=True, timeout=900
    )
    parts = re.split(rf"\n{MARK}(\d+)\n", done.stdout)
    printed = {int(line): text for line, text in zip(parts[1::2], parts[2::2], strict=True)}
    return Walk(printed, done.stderr[-2000:] if done.returncode else "")


def environment(port: int) -> dict[str, str]:
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PORT": str(port),
        "PASSEPARTOUT_PORT": str(port),
        "no_proxy": "*",
        "OMP_NUM_THREADS": "1",
    }
