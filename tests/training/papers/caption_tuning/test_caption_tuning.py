"""Caption tuning end to end: a small XLM-R and ViT with random weights, from training to translation."""

import shutil
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from evaluation.suites.sets import read_aligned, read_lines
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.errors import DataError, RecipeError
from index.formats.registry import Source
from tests.files import write_lines
from tests.training.tiny import TRANSFORMER, recipe
from training.export.bundle import export_run
from training.loop.prepare import prepare
from training.loop.run import create_run
from training.loop.training_loop import Loop, train
from training.papers.caption_tuning.pretrained import PretrainedSettings
from training.smoke.tiny_models import write_tiny_xlmr

# What differs from the tiny transformer: XLM-R and ViT, the paper's loss and heads.
TUNED = (
    'text={"encoder": "pretrained", "model": "weights/xlmr", "width": 32, "max_tokens": 32}',
    "tokenizer={}",
    "vision.backbone=weights/vit",
    "vision.views=1",
    'head={"dimension": 24, "text": "linear", "pictures": "linear"}',
    'objectives={"caption_tuning": {}}',
    'optimiser={"epochs": 2, "batch_size": 40, "chunk_size": 20, "learning_rate": 1e-3}',
    "optimiser.freeze_encoder_epochs=0.5",
)


@pytest.fixture(scope="module")
def encoders(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shared data with a small XLM-R and ViT beside it."""
    from transformers import ViTConfig, ViTModel  # which takes seconds to import

    folder = shutil.copytree(data, tmp_path_factory.mktemp("tuning") / "data")
    texts = [line for file in sorted((folder / "text").iterdir()) for line in read_lines(file)]
    write_tiny_xlmr(folder / "weights" / "xlmr", texts, vocabulary=400)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    ViTModel(ViTConfig(**sizes, image_size=32, patch_size=8)).save_pretrained(folder / "weights" / "vit")
    return folder


TEXT_ENCODER = PretrainedSettings(encoder="pretrained", model="weights/xlmr", width=32, max_tokens=32)


def test_it_is_exported_with_its_own_vocabulary_indexed_and_queried(encoders: Path, tmp_path: Path) -> None:
    run = train(recipe(TRANSFORMER, tmp_path, *TUNED), encoders, tmp_path / "run")
    bundle = export_run(run.folder, encoders, tmp_path / "out", name=None, version="1", licence="CC0-1.0")
    own = Tokenizer.from_file(str(encoders / "weights" / "xlmr" / "tokenizer.json"))
    assert Tokenizer.from_file(str(bundle.tokenizer)).get_vocab() == own.get_vocab()
    assert bundle.manifest.measures["onnx_cosine_distance"] < 1e-4
    texts = read_aligned(encoders / "benchmark" / "synthetic_test", ["en", "de"])
    sources = []
    for code, lines in texts.items():
        sources.append(Source(write_lines(tmp_path / f"{code}.txt", lines[:40]), code, None))
    build_index(bundle, sources, tmp_path / "index")
    (answers,) = Translator.open(tmp_path / "index").sentences([texts["en"][0]], "en", "de", 3)
    assert {answer.text for answer in answers} <= set(texts["de"][:40])
    assert len(answers) == 3


def test_only_the_heads_learn_until_half_of_the_first_epoch(encoders: Path, tmp_path: Path) -> None:
    prepared = prepare(
        create_run(tmp_path / "run", recipe(TRANSFORMER, tmp_path, *TUNED), resume=False), encoders
    )
    loop = Loop(create_run(tmp_path / "run", recipe(TRANSFORMER, tmp_path, *TUNED), resume=True), prepared)
    batches = list(prepared.batches(0))
    model = prepared.model.train()
    changed: list[tuple[bool, bool, bool]] = []
    for chunks in batches:
        before = {name: weights.detach().clone() for name, weights in model.named_parameters()}
        loop._step(chunks, loop.settings.learning_rate)
        moved = {name for name, weights in model.named_parameters() if not torch.equal(weights, before[name])}
        parts = ("text.", "backbone.", "text_head.")
        changed.append(tuple(any(name.startswith(part) for name in moved) for part in parts))  # type: ignore[arg-type]
    half = len(batches) / 2
    assert [text for text, _, _ in changed] == [step >= half for step in range(len(batches))]
    assert [vision for _, vision, _ in changed] == [step >= half for step in range(len(batches))]
    assert all(head for _, _, head in changed)


def test_the_mean_leaves_pads_out(encoders: Path) -> None:
    encoder = TEXT_ENCODER.located(encoders).build(1, 1)
    encoder.eval()
    ids, whole = torch.tensor([[0, 20, 30, 2]]), torch.ones(1, 4, dtype=torch.int64)
    padded, mask = torch.tensor([[0, 20, 30, 2, 9, 9]]), torch.tensor([[1, 1, 1, 1, 0, 0]])
    with torch.inference_mode():
        torch.testing.assert_close(encoder(padded, mask), encoder(ids, whole), atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(encoder(ids, whole), encoder.states(ids, whole).mean(dim=1))


def test_weights_are_those_of_the_folder_and_pickles_are_no_weights(encoders: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    encoder = TEXT_ENCODER.located(encoders).build(1, 1)
    stored = load_file(encoders / "weights" / "xlmr" / "model.safetensors")
    name = next(key for key in stored if key.endswith("word_embeddings.weight"))
    torch.testing.assert_close(encoder.tokens.weight.detach(), stored[name])
    pickled = shutil.copytree(encoders / "weights" / "xlmr", tmp_path / "weights" / "xlmr")
    (pickled / "model.safetensors").unlink()
    torch.save(stored, pickled / "pytorch_model.bin")
    with pytest.raises(DataError, match="safetensors"):
        TEXT_ENCODER.located(tmp_path).build(1, 1)


def test_an_encoder_that_does_not_fit_is_reported(encoders: Path, tmp_path: Path) -> None:
    given = TEXT_ENCODER.located(encoders)
    with pytest.raises(DataError, match=r"set text\.width to it"):
        given.model_copy(update={"width": 16}).build(1, 1)
    with pytest.raises(DataError, match=r"set text\.max_tokens to 64"):
        given.model_copy(update={"max_tokens": 100}).build(1, 1)
    with pytest.raises(DataError, match=r"text\.model .*weights/tiny: "):
        given.model_copy(update={"model": "weights/tiny"}).located(encoders).own_tokenizer([])
    with pytest.raises(RecipeError, match="brings its own"):
        recipe(TRANSFORMER, tmp_path, *TUNED, "tokenizer.lowercase=false")
