"""Seconds from a posted pair of sentences to the answer that has it, and what it leaves on the disk.

    python -m benchmarks.posted_pair --index var/index [--source en] [--target de] [--pairs 20]

A service and a worker of jobs on a copy of the index. Each pair is posted to /admin/jobs, one after the
other, and its first sentence asked for until the second answers. Needs redis-server.
"""

import hashlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.servers import SENTENCE, redis, serving

KEY = "a key"
PATIENCE = 60  # seconds until a pair counts as lost
PAUSE = 0.02  # seconds between two questions


def asked(port: int, path: str, document: object) -> Any:  # noqa: ANN401
    """The answer to a document that an admin posts."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        headers = {"Content-Type": "application/json", "X-API-Key": KEY}
        connection.request("POST", path, json.dumps(document), headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
    finally:
        connection.close()
    if response.status >= http.client.BAD_REQUEST:
        raise click.ClickException(f"{path}: {answer}")
    return answer


def seconds_until_found(port: int, number: int, source: str, target: str) -> float:
    """Post a pair that is not in the index, and ask until it is found."""
    text, translation = (
        f"The posted sentence of today has {number} words.",
        f"{number} Wörter hat der Satz von heute.",
    )
    pair = [
        {"id": f"{code}:posted-{number}", "text": said, "group": f"posted-{number}"}
        for code, said in ((source, text), (target, translation))
    ]
    began = time.monotonic()
    asked(port, "/admin/jobs", {"action": "add", "sentences": pair})
    question = {"text": text, "source": source, "target": target}
    while time.monotonic() < began + PATIENCE:
        found = asked(port, SENTENCE, question)["results"][0]["translations"][target]
        if found and found[0]["text"] == translation:
            return time.monotonic() - began
        time.sleep(PAUSE)
    raise click.ClickException(f"pair {number} was not found within {PATIENCE} s")


def disk_bytes(folder: Path) -> int:
    """Of the files below a folder; those with several names count once."""
    files = (path.stat() for path in folder.rglob("*") if path.is_file())
    sizes = {status.st_ino: status.st_size for status in files}
    return sum(sizes.values())


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--source", default="en", show_default=True)
@click.option("--target", default="de", show_default=True)
@click.option("--pairs", default=20, show_default=True)
def main(index: Path, source: str, target: str, pairs: int) -> None:
    with tempfile.TemporaryDirectory(prefix="passepartout-posted-") as name:
        copy = Path(shutil.copytree(index, Path(name) / "index"))
        before = disk_bytes(copy)
        with redis(Path(name)) as (url, _):
            settings = {
                "PASSEPARTOUT_ADMIN_KEYS": f"admin:{hashlib.sha256(KEY.encode()).hexdigest()}",
                "PASSEPARTOUT_JOBS_URL": url,
            }
            command = [sys.executable, "-m", "passepartout", "jobs", "--index", str(copy)]
            worker = subprocess.Popen(command, env=os.environ | settings)
            try:
                with serving(copy, 1, **settings) as (port, _):
                    first = seconds_until_found(port, 0, source, target)
                    took = [seconds_until_found(port, number, source, target) for number in range(1, pairs)]
            finally:
                worker.terminate()
                worker.wait()
        figures = {
            "the first pair, seconds": round(first, 2),
            "others, seconds: median, highest": [round(median(took), 2), round(max(took), 2)],
            "on the disk, MB: before, more after": [
                round(before / 1e6, 1),
                round((disk_bytes(copy) - before) / 1e6, 1),
            ],
        }
        click.echo(json.dumps(figures))


if __name__ == "__main__":
    main()
