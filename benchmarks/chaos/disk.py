"""Faults of processes and disks: kill -9 while building, a full disk, damaged files."""

import contextlib
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.chaos.stage import (
    PASSEPARTOUT,
    NotTriedError,
    Server,
    Stage,
    SurpriseError,
    build,
    expect,
    fail_in_a_line,
    kill_group,
    run,
    serving,
    start,
    succeed,
    wait_for,
)

BACK = 150  # seconds until workers that died are back: uvicorn waits 120 for one that died while it was asked
WRITABLE = 0o644  # published files are not
COPIES = 4  # times the scenes: a build of some seconds


def kill_builds(stage: Stage) -> str:
    corpora = stage.corpora("larger", COPIES)
    begun = time.monotonic()
    undisturbed = stage.new("undisturbed")
    succeed(build(undisturbed, corpora))
    takes = time.monotonic() - begun
    killed, folders = 0, 0
    while killed < (3 if stage.small else 20):
        folders += 1
        index = stage.new("killed")
        while not _killed_or_done(build(index, corpora), stage.dice.uniform(0, takes)):
            killed += 1
            if (index / "CURRENT").exists():
                succeed([*PASSEPARTOUT, "index", "verify", str(index)])
        expect(_data(index) == _data(undisturbed), "the index differs from one that was never killed")
    return f"{killed} kills within builds of {takes:.0f} s, {folders} indices, all like undisturbed ones"


def _killed_or_done(command: list[str], seconds: float) -> bool:
    """True if the command finished by itself before it was killed."""
    process = start(command)
    try:
        expect(process.wait(seconds) == 0, f"the build ended with {process.returncode}")
        return True
    except subprocess.TimeoutExpired:
        kill_group(process)
        return False


def _data(index: Path) -> dict[str, bytes]:
    """Content of the version served, but for the manifest, which has dates."""
    folder = index / "versions" / (index / "CURRENT").read_text("utf-8").strip()
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }


def kill_rebuilds_beside_a_server(stage: Stage) -> str:
    index = stage.copy("rebuilt")
    corpora = stage.corpora("larger", COPIES)
    kills = 2 if stage.small else 10
    with serving(index) as server:
        for _ in range(kills):
            _killed_or_done(build(index, corpora), stage.dice.uniform(0.5, 6))
            expect(server.ready(), "the server is not ready any more")
            server.best(next(iter(stage.answers)))
    succeed(build(index, corpora))
    succeed([*PASSEPARTOUT, "index", "verify", str(index)])
    return f"{kills} rebuilds killed, no request failed, the last build finished"


@contextlib.contextmanager
def small_disk(stage: Stage, megabytes: int) -> Iterator[Path]:
    folder = stage.folder / "disk"
    folder.mkdir(exist_ok=True)
    mounted = run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)])
    if mounted.returncode != 0:
        raise NotTriedError("no small disk can be mounted: needs root")
    try:
        yield folder
    finally:
        run(["umount", "--lazy", str(folder)])


def full_disk(stage: Stage) -> str:
    used = sum(path.stat().st_size for path in stage.index.rglob("*") if path.is_file()) / 1e6
    with small_disk(stage, int(1.5 * used) + 1) as disk:
        index = disk / "index"
        succeed(build(index, stage.corpora("sentences")))
        first = (index / "CURRENT").read_text("utf-8")
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(int(0.2 * used * 1e6)))
        corpora = stage.corpora("larger", COPIES)
        with serving(index) as server:
            done = run(build(index, corpora))
            fail_in_a_line(done, "No space left")
            server.check(stage)
        expect((index / "CURRENT").read_text("utf-8") == first, "CURRENT changed")
        succeed([*PASSEPARTOUT, "index", "verify", str(index)])
        ballast.unlink()
        run(["mount", "-o", "remount,size=200m", str(disk)])
        succeed(build(index, corpora))
        expect((index / "CURRENT").read_text("utf-8") != first, "the build did not go on with space there")
    return "refused in a line, the old version served on, the same command finished with space"


def inputs_changed(stage: Stage) -> str:
    corpora = stage.corpora("changing", COPIES)
    undisturbed = stage.new("undisturbed")
    succeed(build(undisturbed, corpora))
    german = corpora / "de.txt"
    content = german.read_bytes()
    times = 1 if stage.small else 3
    for _ in range(times):
        index = stage.new("changing-index")
        process = start(build(index, corpora), log := stage.folder / "changing.log")
        wait_for(partial(_begun, index), 60, "the build reads")
        german.write_bytes(content.swapcase())
        process.wait(60)
        german.write_bytes(content)
        message = log.read_text("utf-8").strip().splitlines()[-1]
        expect("de.txt: changed while it was read" in message, f"said only: {message}")
        expect(not (index / "CURRENT").exists(), "something was published")
    succeed(build(index, corpora))
    expect(_data(index) == _data(undisturbed), "the index differs from one that was never disturbed")
    return f"{times} builds refused in a line, nothing published; then an index like the undisturbed one"


def _begun(index: Path) -> bool:
    """Whether a build has encoded some of the English corpus."""
    return any(index.glob("work/*.parts/en.journal"))


def cut(path: Path, _: Stage) -> None:
    path.chmod(WRITABLE)
    os.truncate(path, path.stat().st_size // 2)


def flip_a_bit(path: Path, stage: Stage) -> None:
    path.chmod(WRITABLE)
    with path.open("r+b") as file:
        offset = stage.dice.randrange(path.stat().st_size)
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1 << stage.dice.randrange(8)]))


def remove(path: Path, _: Stage) -> None:
    path.unlink()


Damage = Callable[[Path, Stage], None]
DAMAGE: tuple[Damage, ...] = (flip_a_bit, cut, remove)


def damaged_index(stage: Stage) -> str:
    version = next((stage.index / "versions").iterdir())
    files = sorted(p.relative_to(stage.index) for p in version.rglob("*") if p.is_file() and p.stat().st_size)
    served = 0
    tries: list[tuple[Path, Damage]] = [(file, flip_a_bit) for file in files]
    tries += [(file, DAMAGE[1 + number % 2]) for number, file in enumerate(files[::3])]
    for file, damage in tries[:: len(tries) // 4] if stage.small else tries:
        index = stage.copy("damaged")
        damage(index / file, stage)
        fail_in_a_line(run([*PASSEPARTOUT, "index", "verify", str(index)]), file.name)
        served += 1
        if served % 6 == 1:
            fail_in_a_line(run([*PASSEPARTOUT, "serve", "--index", str(index), "--port", "0"]), file.name)
    return f"{served} damaged copies of {len(files)} files, each refused with the file's name"


def damaged_encoder(stage: Stage) -> str:
    files = sorted(path.name for path in Path("models/small").iterdir() if path.is_file())
    for name in files[:2] if stage.small else files:
        bundle = stage.new("bundle")
        run(["cp", "-r", "models/small", str(bundle)])
        flip_a_bit(bundle / name, stage)
        command = build(stage.new("never"), stage.corpora("sentences"))
        command[command.index("models/small")] = str(bundle)
        fail_in_a_line(run(command), name)
    return f"a bit flipped in each of {len(files)} files: refused with the file's name, nothing built"


def version_removed_while_served(stage: Stage) -> str:
    index = stage.copy("removed")
    with serving(index) as server:
        for path in sorted((index / "versions").rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        slowest = server.check(stage)
        server.process.send_signal(signal.SIGTERM)
        expect(server.process.wait(30) == 0, f"ended with {server.process.returncode}")
    return f"{len(stage.answers)} questions answered as before, the slowest in {slowest * 1000:.0f} ms"


def replace(path: Path, stage: Stage) -> None:
    draft = path.with_name(".draft")
    draft.write_bytes(path.read_bytes())
    flip_a_bit(draft, stage)
    draft.replace(path)


DONE: dict[Damage, str] = {
    replace: "replaced",
    remove: "removed",
    flip_a_bit: "a bit changed",
    cut: "cut",
}


def changed_while_served(stage: Stage) -> str:
    """Every kind of file, changed, cut, replaced or removed beside two workers, and put back."""
    index = stage.copy("changed")
    (version,) = (index / "versions").iterdir()
    files = [path for path in sorted(version.glob("*")) if path.is_file() and path.name[:3] != "en."]
    files += sorted(path for path in (version / "encoder").iterdir() if path.is_file())
    counts: Counter[str] = Counter()
    slowest = 0.0
    # Without the cache every question goes to the files.
    with serving(index, "--workers", "2", PASSEPARTOUT_CACHE_BYTES="0") as server:
        for path in files[:: len(files) // 3] if stage.small else files:
            # In place first: what replaces a file is another one, which nobody has mapped.
            for harm in (flip_a_bit, cut, replace, remove):
                content = path.read_bytes()
                harm(path, stage)
                outcome = _outcome(server, stage)
                expect(
                    outcome == "as before" or harm in (flip_a_bit, cut),
                    f"{path.name} {DONE[harm]}: {outcome}",
                )
                counts[f"{DONE[harm]}: {outcome}"] += 1
                if harm is cut:
                    fail_in_a_line(run([*PASSEPARTOUT, "index", "verify", str(index)]), path.name)
                path.write_bytes(content)
                back = wait_for(lambda: _outcome(server, stage) == "as before", BACK, f"{path.name} put back")
                slowest = max(slowest, back)
                expect(server.process.poll() is None, f"{path.name}: the service ended")
    outcomes = ", ".join(f"{what} {count} times" for what, count in counts.items())
    return f"{outcomes}; with the file put back as before, at most {slowest:.0f} s later"


def _outcome(server: Server, stage: Stage) -> str:
    """What the known questions get: answers as before, others, or none since a worker died."""
    try:
        answers = {text: server.best(text) for text in stage.answers}
    except OSError:
        return "a worker died"
    except SurpriseError:
        return "refused"
    return "as before" if answers == stage.answers else "other answers"


def broken_current(stage: Stage) -> str:
    texts = ["", "../../etc\n", "20990101-1\n", "\x00" * 64]
    for text in texts:
        index = stage.copy("current")
        (index / "CURRENT").write_text(text, "utf-8")
        fail_in_a_line(
            run([*PASSEPARTOUT, "serve", "--index", str(index), "--port", "0"]), "CURRENT", "version"
        )
    return f"{len(texts)} wrong contents, each refused in a line"
