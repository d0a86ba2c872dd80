"""Two halves of a sentence find each other: what words are said together, without pictures."""

from torch import Tensor

from training.objectives.base import Contrastive, Need, Outputs, partner_loss


class Halves(Contrastive):
    """Mean over 2M halves i of M sentences of one language of -log softmax_{k≠i}(β_ik/τ) at i's other half.

    Words that pictures say little about come near those that they stand beside; sentences without pictures
    are enough for it. It is to a bag of subwords what the cloze (globetrotter, eq. 4) is to a transformer.
    """

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"halves"})

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.half is not None, "the loop gives halves where an objective needs them"
        assert outputs.other_half is not None
        return partner_loss(outputs.half, outputs.other_half, self.temperature)
