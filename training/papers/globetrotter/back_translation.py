"""Back-translation, the cycle consistency of Lample & Conneau 2019."""

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from training.data.tokens import Texts
from training.encoders.two_branch import TwoBranch
from training.objectives.base import Forward, named
from training.papers.globetrotter.decoder import Decoder, Writing


@named("back_translation")
class BackTranslation(Writing):
    """Cross-entropy of a sentence's tokens, decoded from the model's translation into a random language.

    No gradient flows through the translation. share: the share of a batch's sentences that are translated, as
    translating is slow.
    """

    written: ClassVar[str] = "back_translation"

    share: float = Field(default=1.0, gt=0, le=1)

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        ids, mask, languages = forward.batch.ids, forward.batch.mask, forward.language_places()
        sample = torch.randperm(len(ids), device=ids.device)[: max(1, round(self.share * len(ids)))]
        ids, mask, languages = ids[sample], mask[sample], languages[sample]
        away = torch.randint(1, forward.model.languages, languages.shape, device=languages.device)
        translation = translated(forward.model, (ids, mask), (languages + away) % forward.model.languages)
        return {self.written: self.write(forward, translation, (ids, mask), languages)}


@torch.no_grad()
def translated(model: TwoBranch, texts: Texts, languages: Tensor) -> Texts:
    """Translate sentences into `languages` (N,) with the model, without dropout."""
    decoder = model.learned["decoder"]
    assert isinstance(decoder, Decoder)
    encoder, was_training = model.text, model.text.training
    encoder.eval()
    decoder.eval()
    translation = decoder.write(encoder.states(*texts), texts[1], languages)
    encoder.train(was_training)
    decoder.train(was_training)
    return translation
