"""Base class of objectives, and the step that they read: embeddings by name."""

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Protocol, TypeVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from training.data.auxiliary import SUPPLIERS, Batch
from training.data.settings import DataSettings, SettingsTable
from training.encoders.base import EncoderSettings
from training.encoders.two_branch import TwoBranch
from training.encoders.vision import VisionSettings

ObjectiveType = TypeVar("ObjectiveType", bound="Objective")
Rows = tuple[Tensor, ...]
INNER = "inner_"  # before the name of an auxiliary input: its rows at the inner layer


class Step:
    """The inputs of one step's objectives: by name, tensors with a row for each of N captioned pictures.

    text:       (N, D) unit rows, z^l, the sentences' embeddings.
    views:      V tensors (N, D) of unit rows, z^v, the pictures' embeddings, one for each augmented view.
    inner:      (N, U), the sentences at the encoder's inner layer, or the input of the head.
    partners:   (N, D) unit rows, another sentence about each picture, in another language.
    neighbours: (N, D) unit rows, another sentence about each picture, in any language, or the same one.
    inner_neighbours: (N, U), these at the inner layer.
    mined, halves: two (N, D) of unit rows, N pairs of sentences unrelated to the N captions: mined pairs
                (missing as long as there are none), or halves of sentences.
    languages:  (N, 1), the number of each sentence's language.

    Further rows come from the `compute` of objectives.
    """

    def __init__(self, rows: Mapping[str, Rows]) -> None:
        self.rows = dict(rows)

    @property
    def text(self) -> Tensor:
        return self.rows["text"][0]

    @property
    def views(self) -> Rows:
        return self.rows["views"]

    def __getitem__(self, name: str) -> Rows:
        return self.rows[name]

    def __contains__(self, name: str) -> bool:
        return name in self.rows


class Forward(Step):
    """A step computed from a batch by a model, for some of the recipe's objectives."""

    def __init__(self, model: TwoBranch, batch: Batch, objectives: Mapping[str, "Objective"]) -> None:
        super().__init__({})
        self.model, self.batch = model, batch
        reads = frozenset[str]().union(*(o.reads for o in objectives.values()))
        # The rows that losses read of the whole batch, where it comes in chunks.
        self.shared = ["text"]
        parts = [model.embed_layers(ids, mask) for ids, mask in batch.groups()]
        text, inner = (torch.cat(rows) for rows in zip(*parts, strict=True))
        self.rows |= {"text": (text,), "inner": (inner,)}
        if "views" in reads:
            self.rows["views"] = tuple(map(model.embed_pictures, batch.pictures))
        for name in sorted(SUPPLIERS):
            if name in batch.auxiliary and {name, INNER + name} & reads:
                self._embed_auxiliary(name)
        for objective in objectives.values():
            computed = objective.compute(self)
            self.rows |= computed
            if not objective.by_term:
                self.shared += [name for name in (*objective.reads, *computed) if name in self.rows]
        self.shared = list(dict.fromkeys(self.shared))
        self.rows = {name: tuple(map(_float32, rows)) for name, rows in self.rows.items()}

    def _embed_auxiliary(self, name: str) -> None:
        value = self.batch.auxiliary[name]
        if isinstance(value, Tensor):
            self.rows[name] = (value,)
            return
        text, inner = zip(*(self.model.embed_layers(*side) for side in value), strict=True)
        self.rows |= {name: text, INNER + name: inner}


class Tables(Protocol):
    """The tables of a recipe that an objective may put conditions on."""

    @property
    def data(self) -> DataSettings: ...
    @property
    def text(self) -> EncoderSettings: ...
    @property
    def vision(self) -> VisionSettings: ...


class Objective(SettingsTable):
    """One loss of a recipe: its fields are settings, calling it computes the loss of a step.

    weight: the λ of the loss in the sum (globetrotter, eq. 5). by_term: the loss is a mean over independent
    terms, so that each chunk of a batch has its own loss, weighted by its share of the terms. rows: the names
    of the rows of a step that it reads (see `Step`).
    """

    by_term: ClassVar[bool] = False
    rows: ClassVar[tuple[str, ...]] = ("text", "views")

    weight: float = Field(default=1.0, gt=0)

    @property
    def reads(self) -> frozenset[str]:
        """The names of the rows of a step that it reads, where they depend on its settings: `rows` if not."""
        return frozenset(self.rows)

    @property
    def inputs(self) -> frozenset[str]:
        """The auxiliary inputs of a batch (training.data.auxiliary) that it needs: whose rows it reads."""
        return frozenset(SUPPLIERS) & {name.removeprefix(INNER) for name in self.reads}

    def requires(self, recipe: Tables) -> Iterator[str]:
        """Yield what the recipe lacks for this objective."""
        yield from ()

    def modules(self, model: TwoBranch) -> dict[str, Callable[[], nn.Module]]:
        """Modules that it trains besides the encoders, by name; objectives share modules of the same name."""
        return {}

    def compute(self, forward: Forward) -> dict[str, Rows]:
        """Compute rows or terms that only this objective reads, under names of its own."""
        return {}

    def terms(self, step: Step) -> int:
        """The number of terms that the loss of a step is the mean of."""
        return len(step.text)

    def __call__(self, step: Step) -> Tensor:
        """The unweighted loss, a scalar."""
        raise NotImplementedError


# The name in a recipe -> the objective.
OBJECTIVES: dict[str, type[Objective]] = {}


def named(name: str) -> Callable[[type[ObjectiveType]], type[ObjectiveType]]:
    """Register an objective class under the name that it has in recipes."""

    def register(kind: type[ObjectiveType]) -> type[ObjectiveType]:
        OBJECTIVES[name] = kind
        return kind

    return register


class Contrastive(Objective):
    """An objective with a softmax over similarities, sharpened by a temperature τ."""

    temperature: float = Field(default=0.1, gt=0)


def weighted_losses(objectives: Mapping[str, Objective], step: Step) -> dict[str, Tensor]:
    """Objective -> its loss times its weight; their sum is minimised (globetrotter, eq. 5)."""
    return {name: objective.weight * objective(step) for name, objective in objectives.items()}


def _float32(rows: Tensor) -> Tensor:
    """Convert floating-point rows to float32, which softmaxes need."""
    return rows.float() if rows.is_floating_point() else rows


def unit_similarity(a: Tensor, b: Tensor) -> Tensor:
    """Cosine of unit rows scaled to [0, 1] (globetrotter, B.1): (N, D), (M, D) -> (N, M)."""
    return (1 + a @ b.T) / 2


def partner_loss(pairs: Rows, temperature: float) -> Tensor:
    """Eq. 1 over 2N sentences or views (N, D), (N, D), where α is 1 for row i of both and 0 for all else."""
    rows = torch.cat(pairs)
    logits = unit_similarity(rows, rows) / temperature
    itself = torch.eye(len(rows), dtype=torch.bool, device=rows.device)
    partner = torch.arange(len(rows), device=rows.device).roll(len(pairs[0]))
    return F.cross_entropy(logits.masked_fill(itself, float("-inf")), partner)
