"""The dev captions that an export measures and calibrates on: sentences that say the same, by language."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluation.suites.pictograms import held_out_names
from evaluation.suites.sets import (
    TRANSLATION_KIND,
    CaptionLine,
    line_up,
    read_captions,
    read_split,
    shared_images,
)
from index.errors import DataError
from training.data.settings import PICTOGRAM_SET, DataSettings

Lines = dict[str, list[str]]  # language -> sentences, row i about the same picture in each


def validation_texts(data: Path, settings: DataSettings) -> list[Lines]:
    """Read the dev captions of each set that has them in two languages, the first set first.

    They are never used for training. Where two languages or more of a set have human translations, only those
    are read: captions that two people wrote of one picture are often no translations of each other.
    Of pictograms: the names. Raises DataError if no set has any.
    """
    sets = [lines for name in settings.sets if (lines := _lines(data, name, settings.languages))]
    if not sets:
        raise DataError(f"{data}: no dev picture of {', '.join(settings.sets)} has captions in two languages")
    return sets


def _lines(data: Path, name: str, languages: Sequence[str]) -> Lines:
    if name == PICTOGRAM_SET:
        return held_out_names(data, languages, "dev")[1]
    files = {code: data / name / "captions" / f"{code}.tsv" for code in languages}
    captions = {code: read_captions(file) for code, file in files.items() if file.is_file()}
    translated = {
        code: [row for row in rows if row.source == TRANSLATION_KIND] for code, rows in captions.items()
    }
    some = {code: rows for code, rows in translated.items() if rows}
    return most_lines(some if len(some) > 1 else captions, read_split(data / name / "splits.tsv", "dev"))


def most_lines(captions: Mapping[str, Sequence[CaptionLine]], images: set[str]) -> Lines:
    """Line up the languages that give most sentences, the better a language covers `images` the sooner.

    Empty if no two languages share an image.
    """
    covered = {code: len(images & {row.image for row in rows}) for code, rows in captions.items()}
    order = sorted(captions, key=lambda code: -covered[code])
    choices = [{code: captions[code] for code in order[:count]} for count in range(2, len(order) + 1)]
    sizes = [len(choice) * len(shared_images(choice, images)) for choice in choices]
    if not any(sizes):
        return {}
    chosen = line_up(choices[sizes.index(max(sizes))], images)
    return {code: chosen[code] for code in captions if code in chosen}
