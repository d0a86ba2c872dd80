"""The model: a text and a picture branch, each with a head, into one space (globetrotter, 3.5)."""

from torch import Tensor, nn

from training.encoders.base import SentenceEncoder
from training.encoders.vision import Backbone


class TwoBranch(nn.Module):
    """A text encoder and a picture branch, each ending on the unit sphere of `dimension` dimensions.

    `backbone` is None if it is frozen. In a "whitened" space the picture branch has no parameters. `learned`
    holds the modules that objectives train besides the encoders, by name.
    """

    def __init__(
        self,
        text: SentenceEncoder,
        text_head: nn.Module,
        backbone: Backbone | None,
        picture_head: nn.Module,
        *,
        vocabulary: int,
        languages: int,
        dimension: int,
    ) -> None:
        super().__init__()
        self.vocabulary, self.languages, self.dimension = vocabulary, languages, dimension
        self.text = text
        self.text_head = text_head
        self.backbone = backbone
        self.picture_head = picture_head
        self.learned = nn.ModuleDict()

    def embed_text(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Embed sentences, z^l: (N, T) ids and mask -> (N, D) unit rows."""
        out: Tensor = self.text_head(self.text(ids, mask))
        return out

    def embed_layers(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Embed (N, T) ids and mask: z^l (N, D), and the sentences at the encoder's inner layer (N, U)."""
        pooled, inner = self.text.encode_layers(ids, mask)
        return self.text_head(pooled), inner

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Embed pictures, z^v: pixels (N, 3, S, S) or features (N, F) -> (N, D) unit rows."""
        features = self.backbone(pictures) if self.backbone is not None else pictures
        out: Tensor = self.picture_head(features)
        return out

    @property
    def text_weights(self) -> int:
        """The number of weights of the text branch."""
        return sum(weights.numel() for part in (self.text, self.text_head) for weights in part.parameters())

    def set_trainable(self, encoders: bool) -> None:
        """Train the encoders, or freeze them and train only the layers on top."""
        for part in (self.text, self.backbone):
            if part is not None:
                part.requires_grad_(encoders).train(encoders and self.training)
