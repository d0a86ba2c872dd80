"""Image-caption tuning: a value by hand, where its gradient leads, what the temperature learns."""

import math

import pytest
import torch

from tests.training.step_batches import step_of
from training.papers.caption_tuning.objective import CaptionTuning, LearnedScale

CAPTIONS = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
PICTURES = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
SCALE = torch.full((2, 1), 2.0, dtype=torch.float64)


def test_it_is_the_cross_entropy_of_the_papers_scores() -> None:
    # S = t E_c E_iᵀ = [[1.2, 0], [1.6, 2]]; row i's right answer is column i.
    by_hand = (math.log(1 + math.exp(-1.2)) + math.log(1 + math.exp(-0.4))) / 2
    found = CaptionTuning(directions="captions")(step_of(CAPTIONS, (PICTURES,), scale=SCALE))
    assert found.item() == pytest.approx(by_hand, abs=1e-12)
    # Its columns: [1.2, 1.6] and [0, 2].
    columns = (math.log(1 + math.exp(0.4)) + math.log(1 + math.exp(-2))) / 2
    both = CaptionTuning(directions="both")(step_of(CAPTIONS, (PICTURES,), scale=SCALE))
    assert both.item() == pytest.approx((by_hand + columns) / 2, abs=1e-12)


def test_the_pivot_tunes_to_partners_and_not_to_pictures() -> None:
    pivot = CaptionTuning(of="partners", directions="captions")
    outputs = step_of(CAPTIONS, (CAPTIONS.flip(0),), partners=PICTURES, scale=SCALE)
    alone = CaptionTuning(directions="captions")(step_of(CAPTIONS, (PICTURES,), scale=SCALE))
    assert pivot(outputs).item() == pytest.approx(alone.item())


def test_the_scale_begins_as_clips_and_never_passes_a_hundred() -> None:
    scale = LearnedScale()
    assert scale(3).shape == (3, 1)
    assert scale(1).item() == pytest.approx(1 / 0.07, rel=1e-5)
    torch.nn.init.constant_(scale.logarithm, 50.0)
    assert scale(1).item() == pytest.approx(100, rel=1e-5)
