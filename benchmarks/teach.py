"""What a bundle is taught of a language, against a bundle that was trained with it.

    python -m benchmarks.teach --taught BUNDLE --trained BUNDLE2 --data DIR sw ti cy qu

BUNDLE was trained as BUNDLE2 but for these languages (`passepartout train open --set data.languages=...`).
It is taught each as `passepartout learn-language` does, from the names of pictograms that are learned from,
and up to 300 lines of train pictures of storybooks where it carries those. Asked are lines of test pictures:
the names of pictograms and the pages of storybooks, each for the English text of the same picture, by cosine.
The test texts of English are encoded by the bundle that is asked.
"""

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np

from evaluation.suites.pictograms import is_flag, part_of, read_names
from evaluation.suites.sets import read_captions, read_split
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.pictures import PICTOGRAM_SET, Pictures
from index.encoder.text_encoder import TextEncoder
from index.teaching.examples import read_captions as read_examples
from index.teaching.learn_language import learn_language
from index.teaching.subword_regression import Recall, places_among

STORYBOOKS = "storybooks"
STORYBOOK_LINES = 300  # of storybooks
NEAREST = 10
Texts = Mapping[str, str]  # picture -> text


@click.command()
@click.argument("codes", nargs=-1, required=True)
@click.option("--taught", type=click.Path(path_type=Path), required=True)
@click.option("--trained", type=click.Path(path_type=Path), required=True)
@click.option("--data", type=click.Path(path_type=Path), required=True)
def main(codes: tuple[str, ...], taught: Path, trained: Path, data: Path) -> None:
    bundle, ceiling = open_bundle(taught), open_bundle(trained)
    rows = {code: _measure(bundle, ceiling, data, code) for code in codes}
    click.echo(json.dumps({"taught": bundle.name, "trained": ceiling.name, "languages": rows}, indent=1))


def _measure(bundle: Bundle, ceiling: Bundle, data: Path, code: str) -> dict[str, object]:
    pictures = Pictures.open(bundle)
    if pictures is None:
        raise click.UsageError(f"{bundle.folder} carries no pictures")
    named, told = _names(data, code, "train"), _pages(data, code, "train")
    lines = [*named.items(), *list(told.items())[:STORYBOOK_LINES]]
    known = set(pictures.names)
    table = [f"{picture}\t{' '.join(text.split())}" for picture, text in lines if picture in known]
    examples = read_examples(table, code, pictures)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        learn_language(bundle, code, examples, pictures, Path(folder) / "taught")
        seconds = time.process_time() - begin
        encoders = {
            "taught": TextEncoder(open_bundle(Path(folder) / "taught")),
            "trained": TextEncoder(ceiling),
        }
    found: dict[str, object] = {"lines": len(examples), "seconds_of_a_core": round(seconds, 1)}
    for kind, read in ((PICTOGRAM_SET, _names), (STORYBOOKS, _pages)):
        asked, answers = read(data, code, "test"), read(data, "en", "test")
        shared = sorted(asked.keys() & answers.keys())
        if len(shared) > NEAREST:
            scores = {
                name: _recall(encoder, code, [asked[one] for one in shared], [answers[one] for one in shared])
                for name, encoder in encoders.items()
                if code in encoder.bundle.manifest.languages
            }
            found[kind] = {"n": len(shared), **scores}
    return found


def _names(data: Path, code: str, part: str) -> Texts:
    file = data / PICTOGRAM_SET / "names" / f"{code}.tsv"
    names = read_names(file) if file.is_file() else {}
    return {
        f"{PICTOGRAM_SET}/{sign}": named.name
        for sign, named in names.items()
        if part_of(sign) == part and not is_flag(sign)
    }


def _pages(data: Path, code: str, part: str) -> Texts:
    file = data / STORYBOOKS / "captions" / f"{code}.tsv"
    images = read_split(data / STORYBOOKS / "splits.tsv", part)
    rows = read_captions(file) if file.is_file() else []
    return {f"{STORYBOOKS}/{row.image}": row.text for row in rows if row.image in images}


def _recall(encoder: TextEncoder, code: str, asked: list[str], answers: list[str]) -> dict[str, float]:
    """R@1 and R@10 in percent: line i of what is asked is answered by line i."""
    questions, candidates = encoder.encode(asked, language=code), encoder.encode(answers, language="en")
    recall = Recall.of(places_among(questions, candidates, np.arange(len(asked))), len(answers))
    return {"r1": round(recall.r1, 1), "r10": round(recall.r10, 1)}


if __name__ == "__main__":
    main()
