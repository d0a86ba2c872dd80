import pytest
from torch import Tensor

from tests.training.step_batches import rows, step_of
from training.papers.pseudopairs.hinge import (
    CaptionHinge,
    Hinge,
    TransferredCaptionHinge,
    TransferredHinge,
    WholeHinge,
)


def by_hand(one: Tensor, other: Tensor, margin: float) -> float:
    """Kádár et al. 2019, 2: J(a, b), the mean over pairs."""
    n, total = len(one), 0.0
    s = [[float(a @ b) for b in other] for a in one]
    for i in range(n):
        total += max(max(0.0, margin - s[i][i] + s[j][i]) for j in range(n) if j != i)
        total += max(max(0.0, margin - s[i][i] + s[i][j]) for j in range(n) if j != i)
    return total / n


@pytest.mark.parametrize("margin", [0.05, 0.2, 1.0])
def test_the_formula_for_each_kind_of_pair(margin: float) -> None:
    text, other, third = rows(5, 4, 0), rows(5, 4, 1), rows(5, 4, 2)
    found = Hinge(margin=margin)(step_of(text, (other, third)))
    expected = (by_hand(other, text, margin) + by_hand(third, text, margin)) / 2
    assert found.item() == pytest.approx(expected, rel=1e-9)
    found = CaptionHinge(margin=margin)(step_of(text, (), partners=other))
    assert found.item() == pytest.approx(by_hand(text, other, margin), rel=1e-9)
    found = TransferredHinge(margin=margin)(step_of(text, (other,), transferred=third))
    assert found.item() == pytest.approx(by_hand(other, third, margin), rel=1e-9)
    found = TransferredCaptionHinge(margin=margin, filter="top")(step_of(text, (), transferred_top=third))
    assert found.item() == pytest.approx(by_hand(text, third, margin), rel=1e-9)


def test_all_negatives_count_instead_of_the_hardest() -> None:
    text, view = rows(4, 3, 0), rows(4, 3, 1)
    s = [[float(a @ b) for b in text] for a in view]
    wrong = [(i, j) for i in range(4) for j in range(4) if i != j]
    total = sum(max(0.0, 0.2 - s[i][i] + s[i][j]) + max(0.0, 0.2 - s[j][j] + s[i][j]) for i, j in wrong)
    assert WholeHinge(margin=0.2)(step_of(text, (view,))).item() == pytest.approx(total / 12, rel=1e-9)
