"""Batches of unit rows for the objectives' tests, and steps down a loss."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor

from training.objectives import Step

Loss = Callable[[Step], Tensor]


def rows(n: int, width: int, seed: int) -> Tensor:
    """(n, width) unit rows in float64, so that a value computed by hand must agree closely."""
    generator = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(n, width, generator=generator, dtype=torch.float64), dim=1)


def near(centre: Tensor, distance: float, seed: int) -> Tensor:
    """Unit rows at about `distance` from those of `centre`."""
    return F.normalize(centre + distance * rows(len(centre), centre.shape[1], seed), dim=1)


def step_of(text: Tensor, views: tuple[Tensor, ...] = (), **rows: Tensor | tuple[Tensor, ...]) -> Step:
    """What objectives read of captions and pictures; other rows by name."""
    named = {name: (given,) if isinstance(given, Tensor) else given for name, given in rows.items()}
    return Step({"text": (text,), "views": views, **named})


def batch(n: int = 6, width: int = 4, seed: int = 0, views: int = 2, spread: float = 0.5) -> Step:
    """Captions near their pictures, so that the margin lets some pairs through."""
    pictures = near(rows(1, width, seed).expand(n, width), 1.0, seed + 1)
    return step_of(
        near(pictures, spread, seed + 2),
        tuple(near(pictures, spread / 2, seed + 3 + view) for view in range(views)),
    )


batches = st.builds(
    batch,
    n=st.integers(2, 9),
    width=st.integers(2, 8),
    seed=st.integers(0, 10_000),
    views=st.integers(2, 3),
    spread=st.floats(0.01, 1.0),
)


def permuted(outputs: Step, order: list[int]) -> Step:
    return step_of(outputs.text[order], tuple(view[order] for view in outputs.views))


def stepped(loss: Loss, outputs: Step, size: float = 0.05) -> Step:
    """The batch after a small step of texts and pictures along the negative gradient, on the sphere."""
    text = outputs.text.clone().requires_grad_()
    views = tuple(view.clone().requires_grad_() for view in outputs.views)
    loss(step_of(text, views)).backward()  # type: ignore[no-untyped-call]

    def moved(tensor: Tensor) -> Tensor:
        gradient = tensor.grad if tensor.grad is not None else torch.zeros_like(tensor)
        return F.normalize((tensor - size * gradient).detach(), dim=1)

    return step_of(moved(text), tuple(map(moved, views)))


def assert_pairs_come_nearer(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    """A step down a loss of pairs (n, d), (n, d) brings row i of both nearer, and parts the others."""
    one, other = rows(6, 4, 0).requires_grad_(), near(rows(6, 4, 0), 1.0, 1).requires_grad_()
    loss(one, other).backward()  # type: ignore[no-untyped-call]
    assert one.grad is not None
    assert other.grad is not None
    before = (one @ other.T).detach()
    gained = ((one - 0.05 * one.grad) @ (other - 0.05 * other.grad).T - before).detach()
    own = torch.eye(6, dtype=torch.bool)
    assert gained[own].mean() > 0
    assert gained[own].mean() > gained[~own].mean() + 0.01
