"""What aligning the words of an encoder's languages takes, in processor time.

    python -m benchmarks.word_alignment --encoder models/small --keep BEFORE.safetensors
    python -m benchmarks.word_alignment --encoder models/small --against BEFORE.safetensors

The words are those of training, which are most of what an index of a small corpus has. `--keep` writes the
rotations, `--against` says how far (root mean square) they turn a unit vector away from where others turn it.
"""

import json
import time
from pathlib import Path

import click
import numpy as np
from safetensors.numpy import load_file, save_file

from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder
from index.words.procrustes import align
from index.words.vocabulary import by_frequency, training_words

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--encoder", type=click.Path(path_type=Path), required=True)
@click.option("--languages", help="Some of the encoder's, with commas; without: all.")
@click.option("--keep", type=FILE, help="Write the rotations to this file (safetensors).")
@click.option("--against", type=FILE, help="Compare with rotations that were kept.")
def main(encoder: Path, languages: str | None, keep: Path | None, against: Path | None) -> None:
    bundle = open_bundle(encoder)
    codes = languages.split(",") if languages else bundle.manifest.languages
    model = TextEncoder(bundle)
    words = {code: by_frequency(training_words(bundle, code)) for code in codes}
    vectors = {code: model.word_vectors(found, code) for code, found in words.items() if found}
    begin = time.process_time()
    found = align(vectors)
    took = time.process_time() - begin
    if keep:
        save_file(found.rotations, keep)
    far = {}
    if against:
        before = load_file(against)
        apart = [np.linalg.norm(r - before[code]) / np.sqrt(len(r)) for code, r in found.rotations.items()]
        far["largest distance"] = float(max(apart))
    result = {
        "encoder": bundle.name,
        "languages": len(vectors),
        "seconds": round(took, 2),
        "rounds": found.iterations,
        "pull": found.pull if np.isfinite(found.pull) else None,
        "anchors": sum(found.anchors.values()),
        "orthogonality": found.orthogonality,
        **far,
    }
    click.echo(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
