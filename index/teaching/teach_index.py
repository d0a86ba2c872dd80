"""Teaches the encoder of an index one more language, in a new version of the index.

The new version differs from the previous one in its encoder only, since the vectors of the other languages do
not change. It translates from the new language; sentences can be added in it as in any other.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from index.encoder.bundle import open_index_encoder
from index.encoder.pictures import Pictures
from index.errors import UsageError
from index.storage.index_manifest import IndexManifest
from index.storage.versions import ENCODER, building, made_by, next_version, open_version, publish
from index.teaching.examples import read_captions
from index.teaching.learn_language import Given, check_language, learn_language
from index.teaching.report import Learned


def teach_index(
    index: Path,
    code: str,
    captions: Sequence[tuple[str, str]],
    *,
    base: str | None = None,
    job: str | None = None,
) -> tuple[IndexManifest, Learned | None]:
    """Teach the language `code` from captions, (picture, text); return the new version and what was learned.

    `base`: the version to change. `job`: who asks; if a version was made for it, the result is that and None.
    Raises UsageError for invalid captions, BusyError while another build runs.
    """
    folder, manifest = open_version(index, base)
    bundle = open_index_encoder(folder, manifest)
    check_language(bundle, code)
    pictures = Pictures.open(bundle)
    if pictures is None:
        raise UsageError(f"the index's encoder {bundle.name} carries no pictures to teach with")
    lines = ["\t".join(" ".join(cell.split()) for cell in pair) for pair in captions]
    given = Given([read_captions(lines, "captions", pictures)])
    with building(index) as work:
        if job and (made := made_by(index, job)):
            return made, None
        learned = learn_language(bundle, code, given, pictures, work / ENCODER)
        for name in manifest.files:
            if not name.startswith(f"{ENCODER}/"):
                os.link(folder / name, work / name)
        update = {
            "version": next_version(index),
            "base": manifest.version,
            "created": datetime.now(UTC),
            "model": f"{bundle.manifest.name}@{learned.version}",
            "job": job,
        }
        return publish(index, work, manifest.model_copy(update=update)), learned
