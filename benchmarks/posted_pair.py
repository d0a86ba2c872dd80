"""Seconds from a posted pair of sentences to the answer that has it, and what it leaves on the disk.

    python -m benchmarks.posted_pair --index var/index [--pairs 20]

A service and a worker of jobs on a copy of the index, which has English and German. Each pair is posted to
/admin/jobs, one after the other, and its first sentence asked for until the second answers. Needs
redis-server.
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
# What no corpus says: each pair is one of these doing one of those.
SUBJECTS = {
    "A zebra": "Ein Zebra",
    "A pirate": "Ein Pirat",
    "A dentist": "Ein Zahnarzt",
    "A robot": "Ein Roboter",
    "A walrus": "Ein Walross",
    "A wizard": "Ein Zauberer",
    "A beaver": "Ein Biber",
    "A judge": "Ein Richter",
}
DEEDS = {
    "reads a newspaper": "liest eine Zeitung",
    "repairs a submarine": "repariert ein U-Boot",
    "counts copper coins": "zählt Kupfermünzen",
    "paints a lighthouse": "malt einen Leuchtturm",
    "votes for the mayor": "wählt den Bürgermeister",
    "tunes an old piano": "stimmt ein altes Klavier",
    "sells violet carpets": "verkauft violette Teppiche",
    "forgets a password": "vergisst ein Passwort",
}
PAIRS = [
    (f"{subject} {deed}.", f"{SUBJECTS[subject]} {DEEDS[deed]}.") for subject in SUBJECTS for deed in DEEDS
]


def asked(port: int, path: str, document: object = None) -> Any:  # noqa: ANN401
    """The answer to an admin, who posts a document, if there is one."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        headers = {"Content-Type": "application/json", "X-API-Key": KEY}
        method, body = ("GET", None) if document is None else ("POST", json.dumps(document))
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
    finally:
        connection.close()
    if response.status >= http.client.BAD_REQUEST:
        raise click.ClickException(f"{path}: {answer}")
    return answer


def seconds_until_found(port: int, number: int) -> float:
    """Post a pair that is not in the index, and ask until it is found."""
    text, translation = PAIRS[number]
    pair = [
        {"id": f"{code}:posted-{number}", "text": said, "group": f"posted-{number}"}
        for code, said in (("en", text), ("de", translation))
    ]
    began = time.monotonic()
    asked(port, "/admin/jobs", {"action": "add", "sentences": pair})
    question = {"text": text, "source": "en", "target": "de"}
    while time.monotonic() < began + PATIENCE:
        found = asked(port, SENTENCE, question)["results"][0]["translations"]["de"]
        if found and found[0]["text"] == translation:
            return time.monotonic() - began
        time.sleep(PAUSE)
    raise click.ClickException(f"pair {number} was not found within {PATIENCE} s")


def disk_bytes(folder: Path) -> int:
    """Of the files below a folder; those with several names count once."""
    files = (path.stat() for path in folder.rglob("*") if path.is_file())
    sizes = {status.st_ino: status.st_size for status in files}
    return sum(sizes.values())


def processor_seconds(process: int) -> float:
    """Of a process and of its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--pairs", type=click.IntRange(2, len(PAIRS)), default=20, show_default=True)
def main(index: Path, pairs: int) -> None:
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
                with serving(copy, 1, **settings) as (port, service):
                    while not asked(port, "/admin/jobs")["workers"]:
                        time.sleep(PAUSE)
                    processes = worker.pid, service.pid
                    begun = list(map(processor_seconds, processes))
                    took = [seconds_until_found(port, number) for number in range(pairs)]
                    spent = [
                        processor_seconds(process) - earlier
                        for process, earlier in zip(processes, begun, strict=True)
                    ]
            finally:
                worker.terminate()
                worker.wait()
        figures = {
            "pairs": pairs,
            "seconds until found: first, median, highest": [
                round(seconds, 2) for seconds in (took[0], median(took), max(took))
            ],
            "processor seconds a pair: worker, service": [round(seconds / pairs, 2) for seconds in spent],
            "on the disk, MB: before, more after": [
                round(before / 1e6, 1),
                round((disk_bytes(copy) - before) / 1e6, 1),
            ],
        }
        click.echo(json.dumps(figures))


if __name__ == "__main__":
    main()
