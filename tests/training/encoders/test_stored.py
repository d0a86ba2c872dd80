"""A run that goes on from a bundle."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from index.encoder.bundle import (
    ENCODER,
    ENCODER_GRAPHS,
    Bundle,
    Precision,
    publish_bundle,
    staging_folder,
)
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import unit
from index.errors import UsageError
from tests.training.tiny import BAG, recipe
from training.data.tokens import tokenize
from training.encoders.stored import read_embeddings
from training.export.onnx import quantise, quantise_tables
from training.loop.model import load_model
from training.loop.prepare import prepare
from training.loop.run import Run, create_run
from training.loop.training_loop import train


def start_at(bundle: Bundle) -> str:
    return f"text.start={bundle.folder}"


def test_it_begins_with_the_vocabulary_and_the_embeddings_of_the_bundle(
    data: Path, bag_run: Run, bag_bundle: Bundle, tmp_path: Path
) -> None:
    given = recipe(BAG, tmp_path, start_at(bag_bundle), "tokenizer.vocabulary=200")
    run = create_run(tmp_path / "run", given, resume=False)
    prepared = prepare(run, data)
    assert run.tokenizer().get_vocab() == bag_run.tokenizer().get_vocab()
    trained = load_model(bag_run, data).text.word_table().detach()
    assert np.allclose(prepared.model.text.word_table().detach(), trained)


@pytest.mark.parametrize(("precision", "write"), [("int8", quantise), ("int4", quantise_tables)])
def test_fewer_bits_are_read_as_well(
    bag_bundle: Bundle, tmp_path: Path, precision: Precision, write: Callable[[Path, Path], None]
) -> None:
    staging = staging_folder(tmp_path / "bundle", bag_bundle.folder)
    for file in staging.glob("*.onnx"):
        file.unlink()
    write(bag_bundle.folder / ENCODER, staging / ENCODER_GRAPHS[precision])
    manifest = bag_bundle.manifest.model_copy(update={"precision": precision})
    bundle = publish_bundle(staging, tmp_path / "bundle", manifest)
    sentences = ["a dog runs on the beach", "zwei katzen"]
    tokenizer = Tokenizer.from_file(str(bundle.tokenizer))
    embeddings = read_embeddings(bundle)
    means = np.stack([embeddings[row.ids].mean(axis=0) for row in map(tokenizer.encode, sentences)])
    assert np.allclose(unit(means), TextEncoder(bundle).encode(sentences), atol=1e-5)


def test_it_learns_on_rather_than_anew(data: Path, bag_bundle: Bundle, tmp_path: Path) -> None:
    brief = ("optimiser.epochs=1", "optimiser.learning_rate=1e-3")
    anew = train(recipe(BAG, tmp_path, *brief), data, tmp_path / "anew")
    on = train(recipe(BAG, tmp_path, *brief, start_at(bag_bundle)), data, tmp_path / "on")
    assert float(str(on.result()["sum_of_recalls"])) > float(str(anew.result()["sum_of_recalls"])) + 5


def test_it_may_begin_with_further_merges(
    data: Path, bag_run: Run, bag_bundle: Bundle, tmp_path: Path
) -> None:
    given = recipe(BAG, tmp_path, start_at(bag_bundle), "text.start_merges=40")
    run = create_run(tmp_path / "run", given, resume=False)
    prepared = prepare(run, data)
    before, after = bag_run.tokenizer(), run.tokenizer()
    assert before.get_vocab_size() < after.get_vocab_size() <= before.get_vocab_size() + 40
    captions = [caption.text for caption in prepared.data.captions.captions]
    old, new = (sum(map(len, tokenize(tokenizer, captions))) for tokenizer in (before, after))
    assert new < old
    table = prepared.model.text.word_table().detach().numpy()
    for caption in captions[:50]:
        first, second = (
            weights[tokenizer.encode(caption).ids].sum(axis=0)
            for weights, tokenizer in ((read_embeddings(bag_bundle), before), (table, after))
        )
        np.testing.assert_allclose(second, first, atol=1e-4, err_msg="sentences keep their place")
    with pytest.raises(Exception, match=r"text\.start_merges needs text\.start"):
        recipe(BAG, tmp_path, "text.start_merges=40")


def test_it_may_end_with_the_mean_of_start_and_end(data: Path, bag_bundle: Bundle, tmp_path: Path) -> None:
    brief = ("optimiser.epochs=2", "optimiser.learning_rate=1e-3", "run.keep=last", start_at(bag_bundle))
    plain = train(recipe(BAG, tmp_path, *brief), data, tmp_path / "plain")
    mean = train(recipe(BAG, tmp_path, *brief, "text.start_share=0.25"), data, tmp_path / "mean")
    start = read_embeddings(bag_bundle)
    own, mixed = (load_model(run, data).text.word_table().detach().numpy() for run in (plain, mean))
    assert not np.allclose(own, start, atol=1e-3)
    np.testing.assert_allclose(mixed, 0.75 * own + 0.25 * start, atol=1e-5)
    with pytest.raises(Exception, match=r"text\.start_share needs text\.start"):
        recipe(BAG, tmp_path, "text.start_share=0.25")


def test_a_bundle_of_another_width_is_refused(data: Path, bag_bundle: Bundle, tmp_path: Path) -> None:
    given = recipe(BAG, tmp_path, start_at(bag_bundle), "text.width=8", "head.dimension=8")
    run = create_run(tmp_path / "run", given, resume=False)
    with pytest.raises(UsageError, match=r"embeddings of width 16; the recipe has \d+ of width 8"):
        prepare(run, data)


def test_an_encoder_of_another_kind_is_refused(transformer_bundle: Bundle) -> None:
    with pytest.raises(UsageError, match="not a bag of subwords"):
        read_embeddings(transformer_bundle)


def test_embeddings_that_are_not_shared_cannot_begin_so(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r'text\.start needs text\.embeddings = "shared"'):
        recipe(BAG, tmp_path, "text.start=models/small", "text.embeddings=per-language")
