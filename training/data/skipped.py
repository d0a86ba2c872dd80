"""Unusable pictures: found, counted and skipped, up to a limit."""

import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from index.errors import DamagedError, TrainingError
from index.progress import Progress
from index.storage.files import cache_folder, replace_text
from training.data.pictures import PictureArchive, PictureCollection

NAMED_PICTURES = 5  # skipped pictures in logs and messages


class Skipped(BaseModel):
    """Names of pictures that the archive lacks, and of those that cannot be decoded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    missing: tuple[str, ...] = ()
    undecodable: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.missing + self.undecodable)

    @property
    def first(self) -> list[str]:
        return list(self.missing + self.undecodable)[:NAMED_PICTURES]

    def summary(self) -> dict[str, int | list[str]]:
        """Their number and the first few names, for a log or a result."""
        return {"missing": len(self.missing), "undecodable": len(self.undecodable), "first": self.first}

    def __or__(self, other: "Skipped") -> "Skipped":
        """The pictures of both, by name."""
        missing, undecodable = {*self.missing, *other.missing}, {*self.undecodable, *other.undecodable}
        return Skipped(missing=tuple(sorted(missing)), undecodable=tuple(sorted(undecodable)))

    def check(self, total: int, limit: float, archive: Path) -> None:
        """TrainingError when more than `limit`, a share, of `total` pictures are skipped."""
        if len(self.names) > limit * total:
            raise TrainingError(
                f"{archive}: {len(self.missing)} of {total} pictures are missing and {len(self.undecodable)} "
                f"undecodable, {self.first[0]} first; mend it or raise data.bad_pictures ({limit:g})"
            )

    def write(self, file: Path) -> None:
        replace_text(file, self.model_dump_json() + "\n")

    @classmethod
    def read(cls, file: Path) -> "Skipped":
        """Read what `write` wrote. DamagedError if it cannot be read."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            raise DamagedError(f"{file} can't be read; train into another folder") from None


def check_pictures(pictures: PictureCollection, names: Sequence[str], limit: float) -> Skipped:
    """Find the pictures that cannot be used. TrainingError if one archive has more of them than `limit`."""
    skipped = Skipped()
    for archive, rows in pictures.divided(names):
        checked = {names[row]: None for row in rows}
        bad = find_bad_pictures(archive, checked)
        bad.check(len(checked), limit, archive.file)
        skipped |= bad
    return skipped


def find_bad_pictures(archive: PictureArchive, names: Collection[str]) -> Skipped:
    """Find the pictures that cannot be used. The user's cache remembers the sound ones."""
    file = _cache_file(archive)
    sound = _read_sound(file)
    bad: dict[Literal["missing", "undecodable"], list[str]] = {"missing": [], "undecodable": []}
    new = [name for name in dict.fromkeys(names) if name not in sound]
    if not new:
        return Skipped()
    with Progress(len(new), unit="pictures", label="check pictures") as bar:
        for name in new:
            if fault := archive.fault(name):
                bad[fault].append(name)
            else:
                sound.add(name)
            bar.advance()
    _write_sound(file, sound)
    return Skipped(missing=tuple(bad["missing"]), undecodable=tuple(bad["undecodable"]))


def _cache_file(archive: PictureArchive) -> Path | None:
    folder = cache_folder()
    return folder / "pictures" / f"{archive.state}.json" if folder else None


def _read_sound(file: Path | None) -> set[str]:
    try:
        return set(json.loads(file.read_text("utf-8"))) if file else set()
    except (OSError, ValueError, TypeError):
        return set()


def _write_sound(file: Path | None, sound: Iterable[str]) -> None:
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(file, json.dumps(sorted(sound)))
    except OSError:
        pass  # a full or read-only cache costs time next time, no more
