"""Image-sentence retrieval: sentences by picture and pictures by sentence, a language at a time.

The pictures' vectors come from a file, which `passepartout bundle pictures` writes: a bundle has no picture
branch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from evaluation.measures.recall import image_sentence_recalls
from evaluation.measures.scores import Table, language_groups
from evaluation.suites.sets import available, encode, read_captions
from index.encoder.text_encoder import TextEncoder
from index.errors import DamagedError, DataError, UsageError

KS = (1, 5, 10)
Vectors = NDArray[np.floating]


@dataclass(frozen=True)
class PictureVectors:
    """Pictures of a split by name, as (n, d) unit rows in a bundle's space.

    `recipe`, `data`: the SHA-256 of what the space was learned with.
    """

    names: tuple[str, ...]
    vectors: NDArray[np.float32]
    split: str
    recipe: str
    data: str

    def write(self, file: Path) -> None:
        """Write the pictures as safetensors."""
        names = np.frombuffer("\n".join(self.names).encode(), np.uint8)
        metadata = {"split": self.split, "recipe": self.recipe, "data": self.data}
        part = file.with_name(f".{file.name}.part")
        part.write_bytes(save({"names": names, "vectors": self.vectors}, metadata=metadata))
        part.replace(file)


def read_pictures(file: Path) -> PictureVectors:
    """Read what `write` wrote. UsageError if there is no file, DamagedError for another kind of file."""
    if not file.is_file():
        raise UsageError(
            f"{file} is missing: passepartout bundle pictures RUN --data DIR --out {file} writes it"
        )
    try:
        with safe_open(file, framework="numpy") as opened:
            metadata = opened.metadata()
            names = opened.get_tensor("names").tobytes().decode().split("\n")
            vectors = opened.get_tensor("vectors")
            origin = (metadata[key] for key in ("split", "recipe", "data"))
            pictures = PictureVectors(tuple(names), vectors, *origin)
    except (OSError, SafetensorError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise DamagedError(f"{file} holds no picture vectors ({error}): write it again") from None
    if vectors.ndim != 2 or len(vectors) != len(names):
        raise DamagedError(f"{file}: {len(names)} names for vectors of shape {vectors.shape}: write it again")
    return pictures


def retrieval(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str], pictures: PictureVectors
) -> list[Table]:
    """Each language's captions of the pictures among these pictures, and these among the captions.

    UsageError if the pictures are not in the encoder's space.
    """
    check_space(encoder, pictures)
    folder = data / "photos" / "captions"
    languages = available(folder, ".tsv", known, chosen)
    rows = {name: row for row, name in enumerate(pictures.names)}
    texts: dict[str, list[str]] = {}
    owners: dict[str, list[int]] = {}
    for code in languages:
        captions_here = [
            caption for caption in read_captions(folder / f"{code}.tsv") if caption.image in rows
        ]
        texts[code] = [caption.text for caption in captions_here]
        owners[code] = [rows[caption.image] for caption in captions_here]
    if bare := [code for code in languages if not texts[code]]:
        raise DataError(f"{folder / bare[0]}.tsv has no caption of these pictures: leave {bare[0]} out")
    vectors = encode(encoder, texts)
    return [score_retrieval(pictures, vectors, owners, chosen)]


def check_space(encoder: TextEncoder, pictures: PictureVectors) -> None:
    """UsageError unless the pictures are in the encoder's space."""
    manifest = encoder.bundle.manifest
    data = manifest.data.sha256 if manifest.data else None
    if (pictures.recipe, pictures.data) != (manifest.recipe.sha256, data):
        raise UsageError(
            f"the pictures were embedded by another run than that of {encoder.name}: write them with the run "
            "that it was exported from"
        )


def score_retrieval(
    pictures: PictureVectors,
    sentences: Mapping[str, Vectors],
    owners: Mapping[str, Sequence[int]],
    chosen: Sequence[str] = (),
) -> Table:
    """Score retrieval in each language, with means over all languages and over the chosen ones.

    `sentences`: (m, d) unit rows by language; `owners`: each sentence's row in `pictures`. Pictures without a
    caption in a language are not candidates in it.
    """
    measures = {code: _measures(pictures.vectors, sentences[code], owners[code]) for code in sentences}
    languages = tuple(measures)
    means = {
        label: {
            key: float(np.mean([measures[code][key] for code in codes])) for key in measures[languages[0]]
        }
        for label, codes in language_groups(languages, chosen)
    }
    note = (
        f"Pictures of split {pictures.split} and all their captions, each language by itself. I→T: a picture "
        "finds one of its captions; T→I: a caption finds its picture; mR: the mean of the six."
    )
    return Table("image-sentence retrieval", note, len(pictures.names), languages, means | measures)


def _measures(pictures: Vectors, sentences: Vectors, owners: Sequence[int]) -> dict[str, float]:
    seen, place = np.unique(np.asarray(owners), return_inverse=True)
    to_sentence, to_image = image_sentence_recalls(pictures[seen], sentences, place, KS)
    recalls = {f"i2t_r{k}": to_sentence[k] for k in KS} | {f"t2i_r{k}": to_image[k] for k in KS}
    total = sum(recalls.values())
    return recalls | {"mr": total / len(recalls), "rsum": total}
