"""What the losses of Lample & Conneau 2019 compare: sentences, written from noise and from translations."""

import torch
from torch import Tensor, nn

from training.encoders.decoder import Decoder
from training.encoders.noise import noisy
from training.encoders.transformer import Transformer
from training.objectives.denoising import Denoising


class Translation(nn.Module):
    """The decoder that goes with a text encoder of `languages` languages (held by its caller)."""

    def __init__(self, encoder: Transformer, languages: int) -> None:
        super().__init__()
        self.count = languages
        self.decoder = Decoder(encoder, languages)

    def denoise(
        self, encoder: Transformer, noise: Denoising, ids: Tensor, mask: Tensor, languages: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits and truth of the sentences, written from noisy versions of themselves."""
        read = noisy(ids, mask, drop=noise.drop, blank=noise.blank, reach=noise.reach)
        return self.decoder.surprise(encoder.states(*read), read[1], ids, mask, languages)

    def translate_back(
        self, encoder: Transformer, share: float, ids: Tensor, mask: Tensor, languages: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits and truth of a share of the sentences, written from the model's own translations of them.

        Each goes into another language, drawn for it; no gradient flows through that translation.
        """
        drawn = torch.randperm(len(ids), device=ids.device)[: max(1, round(share * len(ids)))]
        ids, mask, languages = ids[drawn], mask[drawn], languages[drawn]
        away = torch.randint(1, self.count, languages.shape, device=languages.device)
        read = self._translated(encoder, ids, mask, (languages + away) % self.count)
        return self.decoder.surprise(encoder.states(*read), read[1], ids, mask, languages)

    @torch.no_grad()
    def _translated(
        self, encoder: Transformer, ids: Tensor, mask: Tensor, languages: Tensor
    ) -> tuple[Tensor, Tensor]:
        was = encoder.training
        encoder.eval()
        self.eval()
        found = self.decoder.write(encoder.states(ids, mask), mask, languages)
        encoder.train(was)
        self.train(was)
        return found
