"""Writes constraints.txt: the exact version of every package that this environment has for Passepartout.

    python -m scripts.pins        (make pins)

Those of the extras cpu, train and dev with all that these need, as installed here. Versions alone, no
addresses and no hashes: the same file holds whatever package index is used.
"""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FILE = Path(__file__).resolve().parents[1] / "constraints.txt"
EXTRAS = ("cpu", "train", "dev")
HEADER = "# The versions that Passepartout is tested with, for pip's --constraint. Written by `make pins`.\n"


def main() -> None:
    pins = dict(sorted(installed("passepartout", EXTRAS)))
    FILE.write_text(HEADER + "".join(f"{name}=={version}\n" for name, version in pins.items()), "utf-8")


def installed(package: str, extras: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Name and public version of all that a package needs here, itself left out, each at least once."""
    seen: set[tuple[str, str]] = set()
    waiting = [(package, extra) for extra in ("", *extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            installed = distribution(name)
        except PackageNotFoundError:  # for another system, or another Python
            continue
        if name != package:
            # A local version ("+cpu") says where a package came from.
            yield name, installed.version.partition("+")[0]
        for line in installed.requires or ():
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(need.name), part) for part in ("", *need.extras)]


if __name__ == "__main__":
    main()
