from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.training.tiny import BAG, FROZEN, TRANSFORMER, recipe
from training.loop.chunks import ChunkedEngine
from training.loop.engine import Chunk, Engine, cut, uses_bfloat16
from training.loop.prepare import prepare
from training.loop.run import create_run
from training.loop.source import CaptionSource
from training.loop.training_loop import Loop
from training.objectives.base import Forward, Step, weighted_losses

ADAPTED = (
    "text={'encoder': 'adapted', 'width': 16}".replace("'", '"'),
    'objectives.orthogonality={"weight": 0.1}',
)
PAIRED = ("data.pictures=shared", 'objectives.paired={"weight": 0.5}')
# Dropout, token dropout, masks and noise drawn by chance in all of them.
SYSTEMS: dict[str, tuple[str, ...]] = {
    "bag": (BAG,),
    "transformer": (TRANSFORMER, *FROZEN),
    "tuned": (TRANSFORMER,),
    "adapted": (BAG, *ADAPTED),
    "paired": (BAG, *PAIRED),
    "halves": (BAG, 'objectives.halves={"weight": 0.3}'),
    "scale": (BAG, "vision.space=learned", "head.text=linear", 'objectives={"caption_tuning": {}}'),
}


def loop(data: Path, folder: Path, text: str, *overrides: str) -> Loop:
    run = create_run(folder / "run", recipe(text, folder, *overrides), resume=False)
    made = Loop(run, prepare(run, data))
    made.engine = ChunkedEngine(made.model, run.recipe)
    made.model.train()
    return made


def chunks(made: Loop, size: int) -> list[Chunk]:
    """The first batch in chunks of `size`."""
    given = made.run.recipe
    cut_small = given.optimiser.model_copy(update={"chunk_size": size})
    run = replace(made.run, recipe=given.model_copy(update={"optimiser": cut_small}))
    assert isinstance(made.source, CaptionSource)
    return next(replace(made.source, run=run).batches(0))


def gradients(made: Loop) -> dict[str, Tensor]:
    found = {name: p.grad.clone() for name, p in made.model.named_parameters() if p.grad is not None}
    made.optimiser.zero_grad(set_to_none=True)
    return found


def joined(parts: list[Forward]) -> Step:
    """What is read of a whole batch, from what is read of its parts."""
    columns = {name: zip(*(part[name] for part in parts), strict=True) for name in parts[0].rows}
    rows = {name: tuple(torch.cat(tensors) for tensors in column) for name, column in columns.items()}
    if "language_maps" in rows:  # the same in every part
        rows["language_maps"] = parts[0]["language_maps"]
    return Step(rows)


def close(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert set(found) == set(expected)
    for name, gradient in expected.items():
        scale = gradient.abs().max().item()
        assert (found[name] - gradient).abs().max().item() <= 2e-4 * scale + 1e-7, name


@pytest.mark.parametrize("name", SYSTEMS)
def test_chunks_give_the_gradient_of_the_whole_batch_with_all_its_chance(
    name: str, data: Path, tmp_path: Path
) -> None:
    """Against one graph over all chunks at once: what the memory would not hold."""
    made = loop(data, tmp_path, *SYSTEMS[name])
    parts = chunks(made, 11)
    assert [len(part.batch.ids) for part in parts] == [10, 10, 10]
    found = made.engine.backward(parts)
    ours = gradients(made)
    objectives = made.run.recipe.objectives
    expected = weighted_losses(objectives, joined([made.engine.forward(part, objectives) for part in parts]))
    torch.stack(list(expected.values())).sum().backward()  # type: ignore[no-untyped-call]
    assert list(found) == list(expected)
    assert {n: v.item() for n, v in found.items()} == pytest.approx(
        {n: v.item() for n, v in expected.items()}, rel=1e-5
    )
    close(ours, gradients(made))


def test_without_chance_chunks_are_one_big_batch(data: Path, tmp_path: Path) -> None:
    made = loop(data, tmp_path, BAG, "text.dropout=0", "text.token_dropout=0")
    found = made.engine.backward(chunks(made, 7))
    ours = gradients(made)
    (big,) = chunks(made, 0)
    expected = made.engine.backward([big])
    assert {n: v.item() for n, v in found.items()} == pytest.approx(
        {n: v.item() for n, v in expected.items()}, rel=1e-5
    )
    close(ours, gradients(made))


def test_a_chunk_without_a_hidden_token(data: Path, tmp_path: Path) -> None:
    made = loop(data, tmp_path, TRANSFORMER, *FROZEN, "objectives.cloze.mask=1e-9")
    assert made.engine.backward(chunks(made, 10))["cloze"].item() == 0
    assert all(gradient.isfinite().all() for gradient in gradients(made).values())


def test_the_statistics_of_a_backbone_stay_those_of_its_weights(data: Path, tmp_path: Path) -> None:
    """Whatever the chunks, so that a picture's features do not depend on the others of its batch."""
    made = loop(data, tmp_path, TRANSFORMER)
    layer = next(m for m in made.model.modules() if isinstance(m, nn.BatchNorm2d))
    before = layer.running_mean.clone()  # type: ignore[union-attr]
    made.model.train()
    made.engine.backward(chunks(made, 10))
    assert not layer.training
    assert layer.weight.grad is not None
    assert torch.equal(layer.running_mean, before)  # type: ignore[arg-type]


@given(st.integers(1, 100), st.integers(0, 40))
def test_the_chunks_are_the_batch(rows: int, size: int) -> None:
    edges = [(part.start, part.stop) for part in cut(rows, size)]
    assert edges[0][0] == 0
    assert edges[-1][1] == rows
    assert all(a[1] == b[0] for a, b in pairwise(edges))
    sizes = [stop - start for start, stop in edges]
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1
    assert not size or max(sizes) <= size
    assert size or len(edges) == 1


def test_bfloat16_is_for_gpus_unless_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, gpu = torch.device("cpu"), torch.device("cuda", 0)
    auto, wanted, refused = (
        recipe(TRANSFORMER, tmp_path, f"optimiser.precision={name}").optimiser
        for name in ("auto", "bfloat16", "float32")
    )
    for able in (True, False):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda able=able: able)
        assert [uses_bfloat16(auto, device) for device in (cpu, gpu)] == [False, able]
    assert uses_bfloat16(wanted, cpu)
    assert not uses_bfloat16(refused, gpu)


@pytest.mark.parametrize("name", ["bag", "transformer"])
def test_losses_are_in_float32_and_nearly_the_same(name: str, data: Path, tmp_path: Path) -> None:
    made = loop(data, tmp_path, *SYSTEMS[name])
    (chunk,) = chunks(made, 0)
    full = made.engine.backward([chunk])
    gradients(made)
    half = made.run.recipe.model_copy(
        update={"optimiser": made.settings.model_copy(update={"precision": "bfloat16"})}
    )
    engine = Engine(made.model, half)
    step = engine.forward(chunk, made.run.recipe.objectives)
    assert {row.dtype for name in step.shared for row in step[name]} == {torch.float32}
    assert (step.text.norm(dim=1) - 1).abs().max() < 1e-5, "unit rows to float32's precision"
    found = engine.backward([chunk])
    assert all(value.dtype == torch.float32 for value in found.values())
    assert [found[n].item() for n in full] == pytest.approx([full[n].item() for n in full], rel=0.03)
    if name == "transformer":
        exact = made.engine.forward(chunk, made.run.recipe.objectives)
        assert not torch.equal(exact["cloze"][0], step["cloze"][0]), "it was computed otherwise"
    assert all(p.grad is None or p.grad.dtype == torch.float32 for p in made.model.parameters())


def test_groups_of_like_length_change_nothing(data: Path, tmp_path: Path) -> None:
    """The encoder takes them apart; the losses do not notice."""
    made = loop(data, tmp_path, *SYSTEMS["transformer"])
    made.model.eval()
    (chunk,) = chunks(made, 0)
    batch = chunk.batch
    assert 1 < len(batch.spans) <= 4
    assert sum(rows for rows, _ in batch.spans) == len(batch.ids)
    one, other = (Forward(made.model, given, {}).text for given in (batch, replace(batch, spans=())))
    assert torch.allclose(one, other, atol=1e-5)
    assert (np.diff(batch.mask.sum(dim=1).numpy()) >= 0).all()
