"""Pseudopairs and translations: what is found, what is kept, and a run that is trained with them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from evaluation.suites.retrieval import read_pictures
from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import unit
from index.errors import DataError, RecipeError, UsageError
from passepartout import run as command
from tests.training.tiny import BAG, recipe
from training.data.captions import Caption, CaptionedPictures
from training.export.bundle import export_run
from training.loop.checkpoint import load_best
from training.loop.model import load_model
from training.loop.prepare import training_captions
from training.loop.run import Run
from training.loop.training_loop import train
from training.papers.pseudopairs.transfer import (
    CaptionTransferSettings,
    nearest,
    read_transferred,
    start_folder,
    start_recipe,
    translations,
)

# What differs from the tiny bag: Kádár et al.'s encoder, losses and picture branch.
GRU = (
    "name=tiny-gru",
    "tokenizer.kind=words",
    'text={"encoder": "gru", "embedding": 12, "width": 16, "max_tokens": 24}',
    "vision.space=learned",
    "head.pictures=linear",
    'objectives={"hinge": {}, "mined_hinge": {}}',
    'schedule.sampling={"hinge": 0.5, "mined_hinge": 0.5}',
    "transfer.filter=bottom",
    "optimiser.epochs=3",
    "optimiser.warmup_steps=0",
    "optimiser.schedule=constant",
)


def vectors() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    return {code: unit(draw.standard_normal((n, 6))) for code, n in (("en", 40), ("de", 32), ("pt", 20))}


def test_each_caption_gets_its_nearest_in_each_other_language() -> None:
    given = vectors()
    found = nearest(given, CaptionTransferSettings())
    assert set(found) == {(a, b) for a in given for b in given if a != b}
    for (one, other), (rows, cosines) in found.items():
        assert rows[:, 0].tolist() == list(range(len(given[one])))
        for (i, j), cosine in zip(rows, cosines, strict=True):
            products = [float(given[one][i] @ row) for row in given[other]]
            assert cosine == pytest.approx(max(products), abs=1e-6)
            assert products[j] == max(products)


@pytest.mark.parametrize(("name", "share"), [("top", 0.25), ("bottom", 0.75)])
def test_filters_keep_the_most_alike_of_each_two_languages(name: str, share: float) -> None:
    given = vectors()
    every, kept = (
        nearest(given, CaptionTransferSettings()),
        nearest(given, CaptionTransferSettings(filter=name)),
    )
    for pair, (rows, cosines) in kept.items():
        assert len(rows) == round(share * len(given[pair[0]]))
        whole = np.sort(every[pair][1])[::-1]
        assert np.allclose(np.sort(cosines)[::-1], whole[: len(rows)])
        assert (np.diff(rows[:, 0]) > 0).all()


CAPTIONS = CaptionedPictures(
    ("a.jpg", "b.jpg"),
    (Caption(0, "en", "A dog."), Caption(0, "en", "A cat."), Caption(1, "de", "Ein Haus.")),
)


def text_folder(folder: Path, **lines: list[str]) -> Path:
    for code, rows in lines.items():
        (folder / f"given.{code}.txt").write_text("".join(f"{row}\n" for row in rows), "utf-8")
    return folder


def test_a_caption_that_is_a_line_gets_the_lines_of_the_others(tmp_path: Path) -> None:
    text_folder(
        tmp_path, en=["A  dog.", "A house.", "A dog."], de=["Ein Hund.", "Ein Haus.", "Hund."], fr=["x"]
    )
    found = translations(CAPTIONS, tmp_path, "given")
    assert [(one.caption, one.language, one.text, one.similarity) for one in found] == [
        (0, "de", "Ein Hund.", 1.0),
        (2, "en", "A house.", 1.0),
    ]


def test_translations_need_two_languages_that_line_up(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="for en of the recipe's languages: two are needed"):
        translations(CAPTIONS, text_folder(tmp_path, en=["A dog."]), "given")
    with pytest.raises(DataError, match="differ in lines"):
        translations(CAPTIONS, text_folder(tmp_path, de=["Ein Hund.", "x"]), "given")


@pytest.fixture(scope="module")
def tuned(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A finished run of GRU, and the start that it began with beside it."""
    folder = tmp_path_factory.mktemp("transfer")
    return train(recipe(BAG, folder, *GRU), data, folder / "run")


def test_the_start_is_a_run_without_what_is_transferred(tuned: Run) -> None:
    settings = tuned.recipe.transfer
    assert settings is not None
    before = start_recipe(tuned.recipe)
    assert before.transfer is None
    assert set(before.objectives) == {"hinge"}
    assert before.schedule.sampling == {"hinge": 1.0}
    start = Run(start_folder(settings, tuned.folder), before)
    assert start.result()["captions"] < tuned.result()["captions"]
    assert start.tokenizer_file.read_bytes() == tuned.tokenizer_file.read_bytes()


def test_what_was_given_is_what_the_start_finds(tuned: Run, data: Path) -> None:
    captions = training_captions(tuned, data)
    found = read_transferred(tuned.transferred_file, captions)
    counts = {code: sum(c.language == code for c in captions.captions) for code in captions.languages}
    assert len(found) == sum(2 * round(0.75 * count) for count in counts.values())
    own = [caption.text for caption in captions.captions]
    assert all(one.text in own for one in found)
    assert all(one.language != captions.captions[one.caption].language for one in found)
    assert tuned.result()["captions"] == len(captions.captions) + len(found)


def test_fine_tuning_continues_from_the_weights_of_the_start(tuned: Run, data: Path, tmp_path: Path) -> None:
    start = load_model(tuned, data)
    load_best(tuned.start_file, start)
    other = recipe(
        BAG, tmp_path, *GRU, "optimiser.learning_rate=1e-12", f"transfer.start={tuned.folder}-start"
    )
    still = train(other, data, tmp_path / "run")
    for (name, one), two in zip(
        start.state_dict().items(), load_model(still, data).state_dict().values(), strict=True
    ):
        assert np.allclose(one, two, atol=1e-6), name
    assert not (tmp_path / "run-start").exists(), "a start that is given is not trained"


def test_fine_tuning_keeps_the_picture_space_of_the_start(bag_run: Run, data: Path, tmp_path: Path) -> None:
    """Also on other pictures, which would fit a space of their own."""
    others = ('data.sets=["photos","pictograms"]', "data.pictures=shared", "optimiser.epochs=1")
    given = (f"transfer.start={bag_run.folder}", "transfer.filter=bottom")
    still = train(recipe(BAG, tmp_path, *others, *given), data, tmp_path / "run")
    assert still.picture_space_file.read_bytes() == bag_run.picture_space_file.read_bytes()


def test_any_run_can_be_the_start_of_a_restart(tuned: Run, bag_run: Run, data: Path, tmp_path: Path) -> None:
    given = (f"transfer.start={bag_run.folder}", "optimiser.epochs=1")
    again = train(recipe(BAG, tmp_path, *GRU, *given, "transfer.then=restart"), data, tmp_path / "run")
    assert again.result()["epochs"] == 1
    assert not again.start_file.exists()
    with pytest.raises(UsageError, match=r"another table \[text\], so its weights do not fit"):
        train(recipe(BAG, tmp_path, *GRU, *given), data, tmp_path / "other")
    assert not (tmp_path / "other" / "recipe.json").exists()


def test_a_recipe_of_another_kind_is_retrained_with_translations(data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    captions = (copy / "photos" / "captions" / "en.tsv").read_text("utf-8").splitlines()
    lines = list(dict.fromkeys(line.split("\t")[1] for line in captions))
    text_folder(copy / "text", en=lines, de=[f"zu {line}" for line in lines])
    given = ('transfer={"aligned": "given", "then": "restart"}', "optimiser.epochs=1")
    run = train(recipe(BAG, tmp_path, *given), copy, tmp_path / "run")
    found = read_transferred(run.transferred_file, training_captions(run, copy))
    assert {one.language for one in found} == {"de"}
    assert all(one.text.startswith("zu ") for one in found)
    text_folder(copy / "text", en=["nowhere"], de=["nirgends"])
    with pytest.raises(DataError, match="no caption stands word for word"):
        train(recipe(BAG, tmp_path, *given), copy, tmp_path / "nothing")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("transfer.filter=top", "transfer.aligned=x"), "translations have no similarity to filter by"),
        (("transfer.share=1",), "transfer.share"),
        (("transfer.aligned=../x",), "transfer.aligned"),
        (("schedule.sampling.hinge=0.9",), "give each a probability"),
        (('schedule.sampling={"cloze": 1}',), "cloze is none of the objectives"),
        (("run.patience=2", "run.keep=last"), "patience waits for a better validation"),
    ],
)
def test_tables_that_cannot_be_are_refused(overrides: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=message):
        recipe(BAG, tmp_path, *GRU, *overrides)


def test_it_is_exported_and_its_retrieval_measured(
    tuned: Run, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, pictures, report = tmp_path / "bundle", tmp_path / "pictures.safetensors", tmp_path / "report"
    export_run(tuned.folder, data, bundle, name=None, version="1", licence="CC0-1.0")
    vectors = TextEncoder(open_bundle(bundle)).encode(["A red ball.", "zyzzyva", ""])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (
        command(["bundle", "pictures", str(tuned.folder), "--data", str(data), "--out", str(pictures)]) == 0
    )
    shown = read_pictures(pictures)
    assert (len(shown.names), shown.split) == (15, "test")
    assert np.allclose(np.linalg.norm(shown.vectors, axis=1), 1, atol=1e-5)
    words = ["evaluate", "retrieval", "--encoder", str(bundle), "--data", str(data), "--out", str(report)]
    assert command([*words, "--pictures", str(pictures)]) == 0
    assert "image-sentence retrieval n=15 all: I→T R@1 " in capsys.readouterr().out


def test_a_run_ends_when_its_patience_does(data: Path, tmp_path: Path) -> None:
    settings = ("optimiser.learning_rate=1e-12", "optimiser.epochs=50", "run.patience=3")
    still = train(start_recipe(recipe(BAG, tmp_path, *GRU, *settings)), data, tmp_path / "run")
    result = still.result()
    assert result["epochs"] == result["best_epoch"] + 3 < 50
