import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluation.measures.scores import score_translation
from evaluation.suites.pictograms import part_of, read_names
from index.encoder.bundle import ENCODER, ENCODER_GRAPHS, Bundle, Precision, open_bundle
from index.encoder.pictures import Pictograms, emoji
from index.encoder.text_encoder import TextEncoder
from index.errors import TrainingError, UsageError
from tests.files import write_picture_set
from tests.training.tiny import LANGUAGES, TRANSFORMER, recipe
from training.data.tokens import tokenize
from training.export import bundle as export
from training.export.bundle import export_run, validation_texts
from training.loop.model import load_model
from training.loop.run import Run
from training.loop.validation import embed_texts
from training.smoke.drawings import concepts

Exporter = Callable[[Path], Bundle]
Exported = tuple[Run, Bundle]


def sentences(data: Path) -> list[str]:
    """Captions and cuts and joins of them: from no word to more than an encoder reads."""
    files = [data / "photos" / "captions" / f"{code}.tsv" for code in LANGUAGES]
    lines = [line.split("\t")[1] for file in files for line in file.read_text("utf-8").splitlines()]
    some = lines[::7]
    cut = [" ".join(line.split()[: 1 + number % 6]) for number, line in enumerate(some)]
    joined = [" ".join(some[number : number + 2 + number % 9]) for number in range(60)]
    return [*some, *cut, *joined, "", "   ", "zyzzyva 狗 ж", "."]


@pytest.fixture(params=["bag", "transformer"])
def exported(request: pytest.FixtureRequest) -> Exported:
    run, bundle = (request.getfixturevalue(f"{request.param}_{name}") for name in ("run", "bundle"))
    return run, bundle


@pytest.fixture
def quickly(bag_run: Run, bag_bundle: Bundle, data: Path, monkeypatch: pytest.MonkeyPatch) -> Exporter:
    """Exports `bag_run` again; torch's exporter, which takes seconds, has its graph made already."""
    monkeypatch.setattr(
        export, "export_text_branch", lambda _, file: shutil.copyfile(bag_bundle.folder / ENCODER, file)
    )

    def again(out: Path) -> Bundle:
        return export_run(bag_run.folder, data, out, name=None, version="1", licence="CC0-1.0")

    return again


def test_the_bundle_opens_and_says_what_it_is(exported: Exported) -> None:
    run, bundle = exported[0], open_bundle(exported[1].folder)
    manifest = bundle.manifest
    assert bundle.name == {"bag": "tiny-bag@7", "transformer": "named@1"}[run.recipe.text.encoder]
    assert manifest.languages == ("de", "en", "pt")
    assert manifest.dimension == run.recipe.head.dimension
    assert manifest.max_tokens == run.recipe.text.max_tokens
    assert manifest.licence == "CC0-1.0"
    assert (manifest.recipe.name, manifest.recipe.sha256) == (run.recipe.name, run.recipe.sha256)
    assert manifest.data.sha256 == run.result()["data_sha256"]
    assert manifest.data.name == "photos disjoint en de pt (all captions)"
    assert datetime.now(UTC) - manifest.created < timedelta(hours=1)
    assert manifest.measures["sum_of_recalls"] == run.result()["sum_of_recalls"]


def test_the_encoder_equals_torchs(exported: Exported, data: Path) -> None:
    run, bundle = exported
    texts = sentences(data)
    tokens = tokenize(run.tokenizer(), texts)
    fewest = 1 if run.recipe.text.encoder == "transformer" else 2
    assert {fewest, run.recipe.text.max_tokens} <= set(map(len, tokens))
    with torch.inference_mode():
        expected = embed_texts(load_model(run, data), tokens, torch.device("cpu"))
    found = TextEncoder(bundle, precision="fp32").encode(texts)
    assert found.shape == (len(texts), run.recipe.head.dimension)
    assert np.abs(found - expected).max() < 1e-4
    assert len(np.unique(found.round(3), axis=0)) > len(set(texts)) / 2, "the case must be able to fail"


def test_parity_and_retrieval_are_as_measured(exported: Exported, data: Path) -> None:
    run, bundle = exported
    measures = bundle.manifest.measures
    assert 0 <= measures["onnx_cosine_distance"] + 1e-6 < 1e-4
    assert measures["validation_r1"] == pytest.approx(validated(bundle, run, data), abs=1e-5)


def validated(bundle: Bundle, run: Run, data: Path) -> float:
    """R@1 between the languages of its validation captions, measured again."""
    encoder = TextEncoder(bundle)
    texts = validation_texts(data, run.recipe.data)[0]
    vectors = {language: encoder.encode(rows) for language, rows in texts.items()}
    return score_translation("again", "", vectors).means["all"]["csls_r1"]


@pytest.mark.parametrize(("loss", "precision"), [(-200.0, "fp32"), (200.0, "int4")])
def test_the_graph_is_that_of_the_fewest_bits_that_cost_little(
    quickly: Exporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: float, precision: Precision
) -> None:
    monkeypatch.setattr(export, "MOST_LOSS", loss)
    bundle = open_bundle(quickly(tmp_path / "bundle").folder)
    assert bundle.manifest.precision == precision
    assert [file.name for file in bundle.folder.glob("*.onnx")] == [ENCODER_GRAPHS[precision]]
    assert f"| precision used | {precision} |" in bundle.card.read_text("utf-8")
    told = bundle.manifest.measures.keys() & {"validation_r1_int8", "validation_r1_int4"}
    assert len(told) == 2, "what fewer bits would cost is told either way"


def test_fewer_bits_are_smaller_and_nearly_the_same(
    quickly: Exporter,
    bag_run: Run,
    bag_bundle: Bundle,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export, "MOST_LOSS", 200.0)  # they are kept, whatever they cost
    small = quickly(tmp_path / "bundle")
    sizes = [graph.stat().st_size for graph in (small.graph("int4"), bag_bundle.graph("fp32")) if graph]
    assert sizes[0] < 0.4 * sizes[1]
    found, full = (TextEncoder(bundle).encode(sentences(data)) for bundle in (small, bag_bundle))
    assert (full * found).sum(axis=1).min() > 0.98
    assert not np.array_equal(full, found)
    told = small.manifest.measures["validation_r1_int4"]
    assert told == pytest.approx(validated(small, bag_run, data), abs=1e-5)
    plain = ["ball", "house", "bola"]
    words, exact = (TextEncoder(bundle).word_vectors(plain, "en") for bundle in (small, bag_bundle))
    assert (words * exact).sum(axis=1).min() > 0.98


def test_a_graph_that_differs_from_torch_is_not_published(
    quickly: Exporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = export.load_model

    def altered(run: Run, data: Path) -> torch.nn.Module:
        model = real(run, data)
        with torch.no_grad():
            model.text.tokens.weight[10:60] += 0.5
        return model

    monkeypatch.setattr(export, "load_model", altered)
    with pytest.raises(TrainingError, match="differs from torch's by a cosine distance of"):
        quickly(tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_confidence_is_fitted(exported: Exported) -> None:
    calibration = exported[1].manifest.calibration.sentence
    assert calibration.n == 6 * 2 * 15, "every pair of languages, with and without the answer, 15 pictures"
    assert calibration.ece is not None


def test_the_card_has_no_slot_left_and_says_what_the_manifest_says(exported: Exported) -> None:
    run, bundle = exported
    manifest, card = bundle.manifest, bundle.card.read_text("utf-8")
    assert not {"{", "}", "None", "nan"} & set(card.replace("\n", " ").split(" "))
    assert "{" not in card
    assert "}" not in card
    assert f"# {bundle.name}" in card
    assert f"passepartout train {run.recipe.name} " in card
    assert "passepartout bundle export " in card
    assert run.recipe.description in card
    for name, value in manifest.measures.items():
        assert f"| {name} | {value:g} |" in card
    origins = (manifest.recipe.sha256[:16], manifest.data.sha256[:16])
    assert all(told in card for told in (manifest.precision, manifest.licence, *origins))
    for told in (run.result()["pictures"], run.result()["captions"], run.result()["best_epoch"]):
        assert str(told) in card
    assert all(f"({code})" in card for code in manifest.languages)


def test_no_folder_of_this_machine_is_in_a_bundle(exported: Exported) -> None:
    folders = (str(Path(__file__).parents[3]).encode(), str(Path(torch.__file__).parents[1]).encode())
    for file in exported[1].folder.rglob("*"):
        assert not file.is_file() or not any(name in file.read_bytes() for name in folders), file


def test_exporting_again_replaces_the_bundle(quickly: Exporter, tmp_path: Path) -> None:
    first = quickly(tmp_path / "bundle")
    (tmp_path / ".bundle.staging").mkdir()
    (tmp_path / ".bundle.staging" / "left by a killed export").write_text("x")
    second = quickly(tmp_path / "bundle")
    assert open_bundle(second.folder).manifest.files.keys() == first.manifest.files.keys()
    assert [found.name for found in tmp_path.iterdir()] == ["bundle"]


def test_a_language_that_is_not_offered_is_in_no_part_of_the_bundle(
    bag_run: Run, bag_bundle: Bundle, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = bag_bundle.folder / ENCODER
    monkeypatch.setattr(export, "export_text_branch", lambda _, file: shutil.copyfile(graph, file))

    def offered(*without: str) -> Bundle:
        named = {"name": None, "version": "1", "licence": "CC0-1.0"}
        return export_run(bag_run.folder, data, tmp_path / "bundle", **named, without=without)  # type: ignore[arg-type]

    bundle = offered("pt")
    assert bundle.manifest.languages == ("de", "en")
    assert (bundle.words("pt"), bundle.words("de")) == (None, bundle.folder / "words" / "de.tsv.gz")
    assert "Portuguese" not in bundle.card.read_text("utf-8")
    assert bundle.manifest.calibration.sentence.n == 2 * 2 * 15
    with pytest.raises(UsageError, match=r"--without fr: .* knows en, de, pt"):
        offered("fr")
    with pytest.raises(UsageError, match="knows one language; a bundle needs two"):
        offered("de", "en")


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ([], "photos disjoint en de pt (all captions)"),
        (["data.pictures=shared"], "photos shared en de pt (all captions)"),
        (['data.caption_kinds=["human","machine"]'], "photos disjoint en de pt (human+machine)"),
        (["data.shuffle_pictures=true"], "photos disjoint en de pt (all captions, pictures shuffled)"),
        (['data.sets=["photos","pictograms"]'], "photos and pictograms disjoint en de pt (all captions)"),
        (['data.sets=["pictograms"]'], "pictograms disjoint en de pt (all captions)"),
    ],
)
def test_the_data_is_named_for_what_was_seen_of_it(tmp_path: Path, overrides: list[str], name: str) -> None:
    assert export._data_name(recipe(TRANSFORMER, tmp_path, *overrides)) == name


def captioned(folder: Path, rows: dict[str, list[tuple[str, str, str]]]) -> Path:
    names = sorted({name for told in rows.values() for name, _, _ in told})
    write_picture_set(folder / "photos", {name: "dev" if name < "x" else "train" for name in names}, rows)
    return folder


def test_human_translations_are_what_validates_where_two_languages_have_them(tmp_path: Path) -> None:
    translated = "human translation of English"
    names = [*(f"{letter}.jpg" for letter in "abcd"), "z.jpg"]  # the last one is for training
    english = [(name, f"en {name}", "human") for name in names]
    german = [(name, f"de {name}", translated) for name in names]
    free = [(name, f"pt {name}", "human") for name in names]
    given = recipe(TRANSFORMER, tmp_path).data
    (found,) = validation_texts(captioned(tmp_path / "one", {"en": english, "de": german, "pt": free}), given)
    assert set(found) == {"en", "de", "pt"}, "one translated language is not enough"
    assert [text[3:] for text in found["en"]] == [text[3:] for text in found["pt"]]
    assert set(found["en"]) == {f"en {name}" for name in names[:4]}
    two = [(name, f"pt {name}", translated) for name in names]
    (found,) = validation_texts(captioned(tmp_path / "two", {"en": english, "de": german, "pt": two}), given)
    assert set(found) == {"de", "pt"}


def test_a_name_finds_the_drawing_that_it_was_learned_with(
    drawn: Bundle, bag_bundle: Bundle, data: Path
) -> None:
    assert Pictograms.open(bag_bundle) is None, "it learned from none"
    pictograms = Pictograms.open(drawn)
    assert pictograms is not None
    assert len(pictograms.codes) == len(concepts())
    assert np.linalg.norm(pictograms.vectors, axis=1) == pytest.approx(1, abs=1e-3)
    names = read_names(data / "pictograms" / "names" / "en.tsv")
    learned = [code for code in names if part_of(code) == "train"]
    nearest = pictograms.nearest(TextEncoder(drawn).encode([names[code].name for code in learned]), 5)
    shown = [
        emoji(code) in {drawn_as for drawn_as, _ in row} for code, row in zip(learned, nearest, strict=True)
    ]
    assert np.mean(shown) > 0.8, "by chance a tenth"
    assert f"the vectors of {len(concepts())} pictograms" in drawn.card.read_text("utf-8")
