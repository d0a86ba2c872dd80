"""Writes constraints.txt: the exact version of every package that this environment has for Passepartout.

    python -m scripts.pins        (make pins)

Those of the extras cpu, train and dev with all that these need, as installed here. Versions alone, no
addresses: the same file holds whatever package index is used. What the image installs (the extras cpu and
formats) has hashes, too, in docker/requirements.txt: those of the files that pip takes for each of PLATFORMS.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
FILE, IMAGE_FILE = ROOT / "constraints.txt", ROOT / "docker" / "requirements.txt"
EXTRAS, IMAGE_EXTRAS = ("cpu", "train", "dev"), ("cpu", "formats")
PLATFORMS = ("x86_64", "aarch64")
HEADER = "# The versions that Passepartout is tested with, for pip's --constraint. Written by `make pins`.\n"
IMAGE_HEADER = "# What the image installs, for pip's --require-hashes. Written by `make pins`.\n"


def main() -> None:
    pins = dict(sorted(installed("passepartout", EXTRAS)))
    FILE.write_text(HEADER + "".join(f"{name}=={version}\n" for name, version in pins.items()), "utf-8")
    image = dict(sorted(installed("passepartout", IMAGE_EXTRAS)))
    found = [hashes(image, platform) for platform in PLATFORMS]
    lines = []
    for name, version in image.items():
        own = dict.fromkeys(rows[name] for rows in found)
        lines.append(
            " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{one}" for one in own)]) + "\n"
        )
    IMAGE_FILE.write_text(IMAGE_HEADER + "".join(lines), "utf-8")


def hashes(pins: Mapping[str, str], platform: str) -> dict[str, str]:
    """The SHA-256 of the file of each package that pip would install on Linux."""
    tags = [f"--platform=manylinux_2_{minor}_{platform}" for minor in range(17, 37)]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--report=-", "--no-deps"]
    command += ["--ignore-installed", "--only-binary=:all:", "--target=.", "--python-version=3.11", *tags]
    command += [f"--platform=manylinux2014_{platform}"]
    command += [f"{name}=={version}" for name, version in pins.items()]
    report = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    return {
        canonicalize_name(one["metadata"]["name"]): one["download_info"]["archive_info"]["hashes"]["sha256"]
        for one in report["install"]
    }


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
