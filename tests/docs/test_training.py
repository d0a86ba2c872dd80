"""What the documents say to train on one's own pictures runs on the folder that they describe."""

import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.blocks import blocks
from training.data.captions import load_split
from training.data.folder import texts_by_name
from training.loop.run import open_run
from training.loop.training_loop import train
from training.recipes.recipe import load_recipe
from training.smoke.drawings import write_synthetic
from training.smoke.tiny_models import write_tiny_backbone

TUTORIAL = "docs/tutorials/train-on-your-own-pictures.md"
TINY = ("vision.backbone=weights/tiny", "head.dimension=16", "text.width=16", "optimiser.epochs=1")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos and nothing else, in two languages, of which one was translated."""
    folder = tmp_path_factory.mktemp("own")
    write_synthetic(folder / "drawn", pictures=60, size=32, seed=1)
    shutil.move(folder / "drawn" / "photos", folder / "DIR" / "photos")
    captions = folder / "DIR" / "photos" / "captions"
    translated = (
        (captions / "pt.tsv").read_text("utf-8").replace("\thuman\n", "\thuman translation of English\n")
    )
    for file in captions.iterdir():
        if file.stem != "en":
            file.unlink()
    (captions / "sw.tsv").write_text(translated, "utf-8")
    write_tiny_backbone(folder / "DIR" / "weights" / "tiny")
    return folder / "DIR"


def commands() -> list[tuple[str, tuple[str, ...]]]:
    """The recipe and settings of every command that trains on DIR."""
    found = []
    for document in ("README.md", TUTORIAL):
        for command in (command for block in blocks(document) for command in block.commands):
            words = shlex.split(command, comments=True)
            if words[1] == "train" and "DIR" in words:
                settings = [value for option, value in pairwise(words) if option == "--set"]
                found.append((words[2], tuple(settings)))
    return found


def test_what_is_printed_finds_all_that_it_needs(own: Path) -> None:
    assert len(commands()) == 3
    for name, settings in commands():
        data = load_recipe(name, settings).data
        assert load_split(own, "train", data).languages == ("en", "sw")
        assert load_split(own, "dev", data).languages == ("en", "sw")
        texts_by_name(own, data, 0)


def test_the_first_command_trains(own: Path, tmp_path: Path) -> None:
    name, settings = commands()[0]
    train(load_recipe(name, (*settings, *TINY)), own, tmp_path / "RUN")
    assert open_run(tmp_path / "RUN").result()["epochs"] == 1


def test_recipes_of_the_table_take_the_settings(own: Path) -> None:
    """Each of the table, with the settings of the command above it."""
    table = re.findall(
        r"^\| .* \| `(\S+?)(?: --set (\S+))?`",
        (Path(__file__).parents[2] / TUTORIAL).read_text("utf-8"),
        re.M,
    )
    assert [name for name, _ in table] == ["best-without-mining", "globetrotter-small", "globetrotter"]
    sentences = own / "text" / "NAME.en.txt"
    sentences.parent.mkdir(exist_ok=True)
    sentences.write_text("A dog.\n", "utf-8")
    for name, setting in table:
        data = load_recipe(name, (*commands()[0][1], *filter(None, [setting]))).data
        assert load_split(own, "train", data).languages == ("en", "sw")
        texts_by_name(own, data, 0)
