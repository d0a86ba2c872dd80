import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.training.step_batches import rows, step_of
from training.papers.mule.losses import (
    InnerNeighbourhood,
    LanguageAdversary,
    Neighbourhood,
    Triplet,
    reversed_gradient,
)

LANGUAGES = torch.tensor([0, 1, 0, 0, 1])


def cosine_distance(a: Tensor, b: Tensor) -> float:
    return 1 - float(a @ b)


def largest(violations: list[float], top: int) -> list[float]:
    """The `top` largest, of which there are as many as there are columns at most."""
    return sorted((max(0.0, value) for value in violations), reverse=True)[:top]


def by_hand(text: Tensor, pictures: Tensor, spoken: Tensor, margin: float, top: int, weight: float) -> float:
    """MULE, eq. 3: sentences of another language are no negatives for a picture."""
    n, total = len(text), 0.0
    for i in range(n):
        own = cosine_distance(pictures[i], text[i])
        of_language = [j for j in range(n) if j != i and bool(spoken[j] == spoken[i])]
        sentences = [own - cosine_distance(pictures[i], text[j]) + margin for j in of_language]
        others = [own - cosine_distance(text[i], pictures[j]) + margin for j in range(n) if j != i]
        for violations, times in ((sentences, 1.0), (others, weight)):
            total += times * sum(largest(violations, top)) / min(top, n)
    return total / n


@pytest.mark.parametrize("top", [1, 2, 10])
def test_image_sentence_matching(top: int) -> None:
    text, view = rows(5, 4, 0), rows(5, 4, 1)
    found = Triplet(margin=0.3, top=top, from_sentences=1.5)(
        step_of(text, (view,), languages=LANGUAGES[:, None])
    )
    assert found.item() == pytest.approx(by_hand(text, view, LANGUAGES, 0.3, top, 1.5), rel=1e-9)


def neighbours_by_hand(text: Tensor, beside: Tensor, margin: float, top: int) -> float:
    """MULE, eq. 1, one layer: 2N anchors, rivals are all sentences about other pictures."""
    every, n = torch.cat([text, beside]), len(text)
    total = 0.0
    for i in range(2 * n):
        own = cosine_distance(every[i], every[(i + n) % (2 * n)])
        others = [j for j in range(2 * n) if j % n != i % n]
        violations = [own - cosine_distance(every[i], every[j]) + margin for j in others]
        total += sum(largest(violations, top)) / min(top, 2 * n)
    return total / (2 * n)


@pytest.mark.parametrize("top", [1, 3, 50])
def test_neighbourhood_constraints_at_both_layers(top: int) -> None:
    text, beside = rows(4, 3, 0), rows(4, 3, 1)
    inner, inner_beside = 3 * rows(4, 5, 2), 0.5 * rows(4, 5, 3)
    outputs = step_of(text, (), neighbours=beside, inner=inner, inner_neighbours=inner_beside)
    found = Neighbourhood(margin=0.2, top=top)(outputs)
    assert found.item() == pytest.approx(neighbours_by_hand(text, beside, 0.2, top), rel=1e-9)
    expected = neighbours_by_hand(F.normalize(inner, dim=1), F.normalize(inner_beside, dim=1), 0.2, top)
    found = InnerNeighbourhood(margin=0.2, top=top)(outputs)
    assert found.item() == pytest.approx(expected, rel=1e-9), "whatever the vectors' lengths"


def test_cross_entropy_of_the_classifier() -> None:
    logits = torch.tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    outputs = step_of(rows(3, 2, 0), (), adversary=(logits, torch.tensor([0, 1, 1])))
    expected = (2 * math.log(1 + math.exp(-2)) + math.log(2)) / 3
    assert LanguageAdversary()(outputs).item() == pytest.approx(expected)
    assert LanguageAdversary().terms(outputs) == 3, "a batch may be cut"


def test_a_reversed_gradient() -> None:
    x = torch.tensor([[1.0, -2.0]], requires_grad=True)
    assert torch.equal(reversed_gradient(x), x)
    (3 * reversed_gradient(x)).sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert x.grad.tolist() == [[-3, -3]]
