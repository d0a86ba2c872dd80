"""A run that goes on from a bundle."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer

from index.arrays import unit
from index.encoder.bundle import (
    ENCODER,
    ENCODER_GRAPHS,
    Bundle,
    Precision,
    publish_bundle,
    staging_folder,
)
from index.encoder.picture_space import PictureSpace
from index.encoder.text_encoder import TextEncoder
from index.errors import UsageError
from tests.training.tiny import BAG, recipe
from training.data.tokens import tokenize
from training.encoders.stored import TABLE, read_embeddings
from training.export.onnx import quantise, quantise_tables
from training.loop.model import load_model
from training.loop.prepare import prepare
from training.loop.run import Run, create_run
from training.loop.source import CaptionSource
from training.loop.training_loop import train
from training.loop.validation import embed_texts
from training.smoke.tiny_models import write_tiny_backbone


def start_at(bundle: Bundle) -> str:
    return f"text.start={bundle.folder}"


def in_fewer_bits(
    bundle: Bundle, graph: Path, precision: Precision, write: Callable[[Path, Path], None], folder: Path
) -> Bundle:
    """A copy of the bundle that has this graph alone, in a precision that `write` writes."""
    manifest = bundle.manifest.model_copy(update={"precision": precision})
    with staging_folder(folder / "bundle", bundle.folder) as staging:
        for file in staging.glob("*.onnx"):
            file.unlink()
        write(graph, staging / ENCODER_GRAPHS[precision])
        return publish_bundle(staging, folder / "bundle", manifest)


def begun(data: Path, folder: Path, *settings: str) -> tuple[Run, CaptionSource]:
    """A run with these settings that has begun, and what it trains on."""
    run = create_run(folder / "run", recipe(BAG, folder, *settings), resume=False)
    return run, prepare(run, data)


def test_it_begins_with_the_vocabulary_and_the_embeddings_of_the_bundle(
    data: Path, bag_run: Run, bag_bundle: Bundle, tmp_path: Path
) -> None:
    run, prepared = begun(data, tmp_path, start_at(bag_bundle), "tokenizer.vocabulary=200")
    assert run.tokenizer().get_vocab() == bag_run.tokenizer().get_vocab()
    trained = load_model(bag_run, data).text.tokens.weight.detach()
    assert np.allclose(prepared.model.text.tokens.weight.detach(), trained)


@pytest.mark.parametrize(("precision", "write"), [("int8", quantise), ("int4", quantise_tables)])
def test_fewer_bits_are_read_as_well(
    bag_bundle: Bundle, tmp_path: Path, precision: Precision, write: Callable[[Path, Path], None]
) -> None:
    bundle = in_fewer_bits(bag_bundle, bag_bundle.folder / ENCODER, precision, write, tmp_path)
    sentences = ["a dog runs on the beach", "zwei katzen"]
    tokenizer = Tokenizer.from_file(str(bundle.tokenizer))
    embeddings = read_embeddings(bundle)
    means = np.stack([embeddings[row.ids].mean(axis=0) for row in map(tokenizer.encode, sentences)])
    assert np.allclose(unit(means), TextEncoder(bundle).encode(sentences), atol=1e-5)


def test_rows_of_several_blocks_are_read_from_four_bits(bag_bundle: Bundle, tmp_path: Path) -> None:
    """192 numbers are a block and a half."""
    wide = np.random.default_rng(0).standard_normal((50, 192)).astype(np.float32)
    wide[:, 128:] *= 10
    graph = onnx.load(bag_bundle.folder / ENCODER)
    (table,) = (value for value in graph.graph.initializer if value.name == TABLE)
    table.CopyFrom(numpy_helper.from_array(wide, TABLE))
    onnx.save(graph, tmp_path / ENCODER)
    found = read_embeddings(
        in_fewer_bits(bag_bundle, tmp_path / ENCODER, "int4", quantise_tables, tmp_path / "four")
    )
    for part in (slice(0, 128), slice(128, 192)):
        rounding = np.linalg.norm(found[:, part] - wide[:, part]) / np.linalg.norm(wide[:, part])
        assert rounding < 0.2


def test_it_keeps_the_picture_space_of_the_bundle(data: Path, bag_bundle: Bundle, tmp_path: Path) -> None:
    """Of other pictures and another seed, which would fit a space of their own."""
    others = ("seed=9", 'data.sets=["photos","pictograms"]', "data.pictures=shared")
    for name in ("anew", "on"):
        (tmp_path / name).mkdir()
    anew, fitted = begun(data, tmp_path / "anew", *others)
    run, prepared = begun(data, tmp_path / "on", *others, start_at(bag_bundle))
    kept, start, other = run.picture_space(), PictureSpace.open(bag_bundle), anew.picture_space()
    assert start is not None
    np.testing.assert_array_equal(kept.projection, start.projection)
    assert not np.allclose(kept.projection, other.projection, atol=1e-2)
    captions = prepared.data.captions.captions
    tokens = tokenize(run.tokenizer(), [caption.text for caption in captions])
    with torch.inference_mode():
        texts = embed_texts(prepared.model, tokens, torch.device("cpu"))
    shown = np.asarray([caption.picture for caption in captions])
    near, far = (
        float((texts * unit(source.pictures.plain(shown).numpy())).sum(axis=1).mean())
        for source in (prepared, fitted)
    )
    assert near > far + 0.1, "texts lie where their pictures are"


def test_a_bundle_of_another_backbone_is_refused(data: Path, bag_bundle: Bundle, tmp_path: Path) -> None:
    write_tiny_backbone(tmp_path / "other", seed=1)
    with pytest.raises(UsageError, match=r"vision\.backbone weights/tiny, in whose space its texts lie"):
        begun(data, tmp_path, start_at(bag_bundle), f"vision.backbone={tmp_path / 'other'}")


def test_it_learns_on_rather_than_anew(data: Path, bag_bundle: Bundle, tmp_path: Path) -> None:
    brief = ("optimiser.epochs=1", "optimiser.learning_rate=1e-3")
    anew = train(recipe(BAG, tmp_path, *brief), data, tmp_path / "anew")
    on = train(recipe(BAG, tmp_path, *brief, start_at(bag_bundle)), data, tmp_path / "on")
    assert float(str(on.result()["sum_of_recalls"])) > float(str(anew.result()["sum_of_recalls"])) + 5


def test_it_may_begin_with_further_merges(
    data: Path, bag_run: Run, bag_bundle: Bundle, tmp_path: Path
) -> None:
    run, prepared = begun(data, tmp_path, start_at(bag_bundle), "text.start_merges=40")
    before, after = bag_run.tokenizer(), run.tokenizer()
    assert before.get_vocab_size() < after.get_vocab_size() <= before.get_vocab_size() + 40
    captions = [caption.text for caption in prepared.data.captions.captions]
    old, new = (sum(map(len, tokenize(tokenizer, captions))) for tokenizer in (before, after))
    assert new < old
    start, grown = read_embeddings(bag_bundle), prepared.model.text.tokens.weight.detach().numpy()
    for caption in captions[:50]:
        first, second = (
            table[tokenizer.encode(caption).ids].sum(axis=0)
            for table, tokenizer in ((start, before), (grown, after))
        )
        np.testing.assert_allclose(second, first, atol=1e-4, err_msg="sentences keep their place")
    with pytest.raises(Exception, match=r"text\.start_merges needs text\.start"):
        recipe(BAG, tmp_path, "text.start_merges=40")


def test_it_may_end_with_the_mean_of_start_and_end(data: Path, bag_bundle: Bundle, tmp_path: Path) -> None:
    brief = ("optimiser.epochs=2", "optimiser.learning_rate=1e-3", "run.keep=last", start_at(bag_bundle))
    start, grown = read_embeddings(bag_bundle), (*brief, "text.start_merges=40")
    plain = train(recipe(BAG, tmp_path, *grown), data, tmp_path / "plain")
    mean = train(recipe(BAG, tmp_path, *grown, "text.start_share=0.25"), data, tmp_path / "mean")
    own, mixed = (load_model(run, data).text.tokens.weight.detach().numpy() for run in (plain, mean))
    assert not np.allclose(own[: len(start)], start, atol=1e-3)
    np.testing.assert_allclose(mixed[: len(start)], 0.75 * own[: len(start)] + 0.25 * start, atol=1e-5)
    np.testing.assert_allclose(mixed[len(start) :], own[len(start) :], atol=1e-6, err_msg="joined tokens")
    with pytest.raises(Exception, match=r"text\.start_share needs text\.start"):
        recipe(BAG, tmp_path, "text.start_share=0.25")


def test_a_bundle_of_another_width_is_refused(data: Path, bag_bundle: Bundle, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"16 dimensions; the recipe has 8 \(head\.dimension\)"):
        begun(data, tmp_path, start_at(bag_bundle), "text.width=8", "head.dimension=8")


def test_an_encoder_of_another_kind_is_refused(bundle: Bundle) -> None:
    with pytest.raises(UsageError, match="not a bag of subwords"):
        read_embeddings(bundle)
