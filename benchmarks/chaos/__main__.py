"""Does harm on purpose, and writes what happened into docs/reliability.md.

    make chaos
    python -m benchmarks.chaos [--only PATTERN]... [--small] [--json RAW] [--write docs/reliability.md]

Outcomes that RAW has from before are not tried again.

Some faults need redis-server, nginx, mount (root) or faketime; what is missing is named as not tried.
Exit 0: everything tried went as expected. 1: something did not; the table says what.
"""

import json
import os
import platform
import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path

import click

from benchmarks.chaos import crowding, disk, forgery, hostile, overload, service
from benchmarks.chaos.stage import NotTriedError, Stage, SurpriseError
from index.storage.files import replace_text

BEGIN, END = "<!-- table: make chaos -->\n", "<!-- end of the table -->\n"


OTHERS_ANSWERED = "no answer to others fails"


@dataclass(frozen=True)
class Fault:
    name: str
    what: str
    expected: str
    happen: Callable[[Stage], str]


@dataclass(frozen=True)
class Outcome:
    name: str
    as_expected: bool | None  # None: not tried
    observation: str
    seconds: float


FAULTS = [
    Fault(
        "build-killed",
        "`index build` killed (−9) at random moments, and repeated",
        "what was published verifies; the build ends as if never killed",
        disk.kill_builds,
    ),
    Fault(
        "rebuild-killed",
        "the same beside a service of that index",
        "the service answers on; the next build ends",
        disk.kill_rebuilds_beside_a_server,
    ),
    Fault(
        "disk-full",
        "`index build` on a disk that becomes full (tmpfs)",
        "one line says so, the old version serves on; with space the same command ends",
        disk.full_disk,
    ),
    Fault(
        "index-damaged",
        "every file of an index: a bit flipped; half of it cut off, or all of it removed",
        "`index verify` and `serve` refuse in a line that names the file",
        disk.damaged_index,
    ),
    Fault(
        "encoder-damaged",
        "a bit flipped in every file of an encoder",
        "`index build` refuses in a line that names the file",
        disk.damaged_encoder,
    ),
    Fault(
        "current-broken",
        "`CURRENT` empty, elsewhere, of a version that is not there, or zeros",
        "`serve` refuses in a line",
        disk.broken_current,
    ),
    Fault(
        "version-removed",
        "the version's folder removed while it is served",
        "answers as before; an orderly end on SIGTERM",
        disk.version_removed_while_served,
    ),
    Fault(
        "version-changed",
        "every kind of file of a version that two workers serve: replaced, removed, changed or cut in place",
        "replaced or removed: answers as before. In place: the service lives, and answers as before once the "
        "file is put back; `index verify` names it",
        disk.changed_while_served,
    ),
    Fault(
        "inputs-changed",
        "a corpus file changed while `index build` reads it, and put back after it",
        "one line says so, nothing is published; the next build is like an undisturbed one",
        disk.inputs_changed,
    ),
    Fault(
        "spool-full",
        "an upload to a disk that is full (tmpfs)",
        "507 in a problem document, nothing stays; with space the same upload is kept",
        service.full_spool,
    ),
    Fault(
        "redis-killed",
        "Redis killed (−9), later started again",
        f"no request fails, none takes {service.QUICK} s; used again by itself",
        service.redis_killed,
    ),
    Fault(
        "redis-frozen",
        "Redis frozen (SIGSTOP)",
        f"no request fails, none takes {service.QUICK} s",
        service.redis_frozen,
    ),
    Fault(
        "redis-slow",
        "Redis behind a network 0.5 s late, then cut",
        f"no request fails, none takes {service.QUICK} s",
        service.redis_slow,
    ),
    Fault(
        "redis-forged",
        "every value in Redis exchanged, rewritten, cut, replaced, where a cache secret is set",
        "answers as before, what was forged is rejected",
        forgery.redis_forged,
    ),
    Fault(
        "cache-filled",
        "180,000 long answers that nobody asked before",
        "the memory grows by the cache's bound and little more",
        forgery.cache_filled,
    ),
    Fault(
        "metadata-posing",
        "a corpus whose columns have the names of what the service says",
        "they are metadata and nothing else, no fault",
        forgery.metadata_posing,
    ),
    Fault(
        "worker-killed",
        "one of two workers killed (−9)",
        "at most the request it had fails; a new one takes its place",
        service.worker_killed,
    ),
    Fault("service-killed", "the service killed (−9)", "starts again as before", service.service_killed),
    Fault(
        "service-stopped",
        "SIGTERM while a request runs over a slow network",
        "the request is answered, exit code 0",
        service.stopped_while_asked,
    ),
    Fault(
        "clock-jumps",
        "the clock jumps years ahead and back (faketime)",
        f"no request fails, none takes {service.QUICK} s",
        service.clock_jumps,
    ),
    Fault(
        "clock-wrong",
        "versions built now, 20 years ahead, 20 years back",
        "no version overwrites another; the last one built is served",
        service.builds_at_the_wrong_time,
    ),
    Fault(
        "network-slow",
        "clients 0.2 s away with 20 kB/s (TCP proxy)",
        "the same answers; others do not wait for them",
        service.slow_network,
    ),
    Fault(
        "network-cut",
        "connections cut after so many bytes (TCP proxy)",
        "no effect on others, no traceback",
        service.network_cut,
    ),
    Fault(
        "clients-slow",
        "hundreds of clients that send a body a byte at a time",
        "cut off after the time set; others do not wait for them",
        service.slow_clients,
    ),
    Fault(
        "descriptors",
        "more connections than file descriptors",
        "the service lives, and answers when they are gone",
        service.few_descriptors,
    ),
    Fault(
        "overload",
        f"{10 * overload.ADMITTED} clients, {overload.ADMITTED} requests admitted at a time",
        "200, or 503 with Retry-After; half of the usual throughput or more; no growth; normal after it",
        overload.patient,
    ),
    Fault(
        "overload-impatient",
        "the same with clients that never wait",
        "200, or 503 with Retry-After; no growth; normal after it",
        overload.impatient,
    ),
    Fault(
        "requests-costly",
        "for each schema the requests under the limits that cost most",
        f"others wait less than {crowding.HELD} s, none adds {crowding.GROWN} MB",
        crowding.costly,
    ),
    Fault(
        "hostile-bodies",
        "2 MB bodies without a pause, through the shipped proxy before two replicas",
        OTHERS_ANSWERED,
        hostile.attack(hostile.long_body),
    ),
    Fault(
        "hostile-headers",
        "the same with 101 headers and 0.9 MB",
        OTHERS_ANSWERED,
        hostile.attack(hostile.many_headers),
    ),
    Fault(
        "hostile-methods",
        "the same with method `FOO` and 0.9 MB",
        OTHERS_ANSWERED,
        hostile.attack(hostile.unknown_method),
    ),
    Fault(
        "explain-crowd",
        f"{crowding.EXPLAINING} clients that want all explained, beside {crowding.ASKING} that ask",
        "200, or 503; the 99th percentile of the others at most doubles",
        crowding.explaining,
    ),
]


def happen(fault: Fault, stage: Stage) -> Outcome:
    begun = time.monotonic()
    as_expected: bool | None = True
    try:
        observation = fault.happen(stage)
    except NotTriedError as missing:
        as_expected, observation = None, str(missing)
    except SurpriseError as surprise:
        as_expected, observation = False, str(surprise)
    except subprocess.TimeoutExpired as slow:
        as_expected, observation = False, f"a command did not end within {slow.timeout:.0f} s"
    except Exception as error:  # of whatever kind: it belongs into the table
        as_expected, observation = False, f"{type(error).__name__}: {error}"
    return Outcome(fault.name, as_expected, " ".join(observation.split()), time.monotonic() - begun)


def table(outcomes: list[Outcome]) -> str:
    kinds = {True: "as expected", False: "**not as expected**", None: "not tried"}
    faults = {fault.name: fault for fault in FAULTS}
    rows = [
        f"| `{o.name}` | {faults[o.name].what} | {faults[o.name].expected} "
        f"| {kinds[o.as_expected]}: {_cell(o.observation)} |"
        for o in outcomes
    ]
    return "\n".join(["| | fault | expected | outcome |", "|---|---|---|---|", *rows]) + "\n"


def _cell(text: str) -> str:
    return re.sub(r"/\S*/passepartout-chaos-\w+", "FOLDER", text).replace("|", "\\|")


def write(document: Path, outcomes: list[Outcome]) -> None:
    """Replace the table in a document."""
    head, _, rest = document.read_text("utf-8").partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        raise click.ClickException(
            f"{document} has no place for the table: {BEGIN.strip()} ... {END.strip()}"
        )
    minutes = sum(o.seconds for o in outcomes) / 60
    python = platform.python_version()
    machine = f"{os.cpu_count()} cores, Python {python}"
    note = f"\nFound on {time.strftime('%Y-%m-%d')}, {machine}, in {minutes:.0f} minutes.\n"
    document.write_text(head + BEGIN + table(outcomes) + note + END + tail, "utf-8")


def read(raw: Path | None) -> dict[str, Outcome]:
    """Outcomes from before, by name of the fault."""
    if raw is None or not raw.exists():
        return {}
    names = {fault.name for fault in FAULTS}
    rows = [Outcome(**row) for row in json.loads(raw.read_text("utf-8"))]
    return {row.name: row for row in rows if row.name in names}


@click.command()
@click.option("--only", multiple=True, help="Names of faults, * allowed.")
@click.option("--small", is_flag=True, help="Few repetitions, for a first look.")
@click.option("--write", "document", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--json", "raw", type=click.Path(dir_okay=False, path_type=Path), help="Write the outcomes as JSON."
)
def main(only: tuple[str, ...], small: bool, document: Path | None, raw: Path | None) -> None:
    """Do harm on purpose, and say what happened."""
    chosen = [f for f in FAULTS if not only or any(fnmatch(f.name, pattern) for pattern in only)]
    if not chosen:
        raise click.UsageError(f"--only matches none of {', '.join(f.name for f in FAULTS)}")
    if document and len(chosen) < len(FAULTS):
        raise click.UsageError("--write wants all faults: leave --only out")
    results = read(raw)
    if left := [fault for fault in chosen if fault.name not in results]:
        with tempfile.TemporaryDirectory(prefix="passepartout-chaos-", ignore_cleanup_errors=True) as folder:
            stage = Stage(Path(folder), small)
            for fault in left:
                results[fault.name] = last = happen(fault, stage)
                mark = {True: "ok", False: "NOT AS EXPECTED", None: "not tried"}[last.as_expected]
                click.echo(f"{mark:<10} {last.name} ({last.seconds:.0f} s): {_cell(last.observation)}")
                if raw:
                    replace_text(raw, json.dumps([asdict(o) for o in results.values()], indent=2) + "\n")
    outcomes = [results[fault.name] for fault in chosen]
    if document:
        write(document, outcomes)
    raise SystemExit(any(o.as_expected is False for o in outcomes))


if __name__ == "__main__":
    main()
