"""α as Globetrotter's published code has it, by hand, and the share of positives."""

import math

import pytest
import torch

from tests.training.step_batches import step_of
from training.papers.globetrotter.published import Positives, PublishedPositives, PublishedTransitive
from training.papers.globetrotter.transitive import Transitive

# Three pictures, the second near the first, the third across; sentences that fit theirs more or less.
VIEW = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], dtype=torch.float64)
TEXT = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]], dtype=torch.float64)
STEP = step_of(TEXT, (VIEW,))


def test_alpha_by_hand() -> None:
    """α^x is 1, 0.96, -1; products range from -1 to 1: 0.96 is moved to 0.98, -0.96 to 0.02."""
    first, second = 0.8 * (0.75 + 0.5 * 0.98), 0.6 * (0.75 + 0.5 * 0.02)
    assert PublishedTransitive().alpha(STEP)[0, 1].item() == pytest.approx((1 - 0.4) / 0.6)
    found = PublishedTransitive().alpha(STEP)[1, 2].item()
    assert found == pytest.approx(max(0, second / first - 0.4) / 0.6)
    assert PublishedTransitive().alpha(STEP)[0, 2].item() == 0, "unrelated pictures never are positives"


def test_unrelated_pictures_are_positives_by_the_papers_alpha_where_captions_fit() -> None:
    """On [0, 1] they have 0.5, and 0.5 x² > 0.4 for x above 0.894, a cosine of 0.789."""
    for cosine, expected in ((0.8, True), (0.78, False)):
        sine = math.sqrt(1 - cosine**2)
        view = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], dtype=torch.float64)
        text = torch.tensor([[cosine, 0.0, sine], [0.0, cosine, sine]], dtype=torch.float64)
        assert (Transitive().alpha(step_of(text, (view,)))[0, 1].item() > 0) is expected
        assert PublishedTransitive(visual_only=True).alpha(step_of(text, (view,)))[0, 1].item() == 0


def test_the_share_of_positives_is_of_pairs_that_are_not_one_picture() -> None:
    assert PublishedPositives()(STEP).item() == pytest.approx(4 / 6), "0-1 and 1-2, both ways"
    alpha = Transitive().alpha(STEP)
    others = ~torch.eye(3, dtype=torch.bool)
    assert Positives()(STEP).item() == pytest.approx(float((alpha[others] > 0).double().mean()))
