"""What all text encoders are: a state for each token, and a sentence's vector made of them."""

from abc import ABC, abstractmethod

from torch import Tensor, nn


class SentenceEncoder(nn.Module, ABC):
    """Token ids (N, T) and a mask (N, T), 1 at tokens and 0 at pads -> one vector a sentence (N, width)."""

    @abstractmethod
    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """A vector for each token (N, T, any width)."""

    @abstractmethod
    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """One vector a sentence (N, width) of its tokens' states; pads count for nothing."""

    @abstractmethod
    def word_table(self) -> Tensor:
        """Each token's vector without a context: (vocabulary, any width), or (languages, vocabulary, ...)."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.pool(self.states(ids, mask), mask)


def masked_mean(states: Tensor, weights: Tensor) -> Tensor:
    """(N, T, W) and weights (N, T) -> (N, W), each row's weighted mean; 0 where no weight is."""
    weights = weights.to(states.dtype)[..., None]
    mean: Tensor = (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    return mean


def last_states(states: Tensor, mask: Tensor) -> Tensor:
    """(N, T, W) and a mask (N, T) whose ones come first -> (N, W), each row's state at its last one."""
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    out: Tensor = states.gather(1, last[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]
    return out
