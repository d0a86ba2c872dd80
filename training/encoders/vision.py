"""The vision backbone: a Hugging Face image model, by name, as a feature extractor."""

from pathlib import Path
from typing import Literal, Self

import torch
from pydantic import Field, model_validator
from safetensors import SafetensorError
from torch import Tensor, nn

from index.errors import DataError
from training.data.folder import find_folder
from training.data.picture_source import CENTRE_GREY, PixelScale
from training.data.settings import SettingsTable


class VisionSettings(SettingsTable):
    """The picture branch.

    backbone: a Hugging Face name, or a folder (looked for below the data folder first).
    training: "tuned": the backbone is trained on freshly augmented pictures; "frozen": it is not, and its
    features are computed once for each of `views` fixed views and kept in the user's cache.
    space: "learned": a prediction head (globetrotter, 3.5); "whitened": the features' first principal
    components, divided by their standard deviation to the power of `whitening`, fixed.
    average_views: whether a picture is the mean of its views or one view drawn each time (frozen only).
    """

    backbone: str
    training: Literal["tuned", "frozen"] = "tuned"
    space: Literal["learned", "whitened"] = "learned"
    views: int = Field(default=2, ge=1, le=10)
    average_views: bool = False
    whitening: float = Field(default=1.0, ge=0, le=1)
    image_size: int = Field(default=224, ge=16, le=1024)

    @model_validator(mode="after")
    def _space_is_possible(self) -> "VisionSettings":
        if self.space == "whitened" and self.training == "tuned":
            raise ValueError('space = "whitened" needs training = "frozen"')
        if self.average_views and self.training == "tuned":
            raise ValueError('average_views needs training = "frozen"')
        return self

    @property
    def gives_two_views(self) -> bool:
        """Whether a step sees two views of a picture, in a space that can learn from them."""
        return self.space == "learned" and self.views > 1 and not self.average_views


class Backbone(nn.Module):
    """Pixels (N, 3, S, S) -> features (N, F): the model's pooled output, or the mean of its last states."""

    def __init__(self, model: nn.Module, scale: PixelScale) -> None:
        super().__init__()
        self.model = model
        self.scale = scale

    def forward(self, pixels: Tensor) -> Tensor:
        out = self.model(pixels)
        pooled = getattr(out, "pooler_output", None)
        if pooled is None:
            states: Tensor = out.last_hidden_state
            pooled = states.mean(dim=1) if states.dim() == 3 else states.mean(dim=(2, 3))
        return torch.flatten(pooled, start_dim=1)

    def train(self, mode: bool = True) -> Self:
        """Train or evaluate; batch normalisation keeps the statistics that came with the weights.

        So a picture's features don't depend on its batch, however that is cut into chunks.
        """
        super().train(mode)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
                module.eval()
        return self

    @torch.no_grad()
    def evaluated(self, pixels: Tensor) -> Tensor:
        """Features (N, F) of pixels (N, 3, S, S), in evaluation mode whatever the mode is."""
        was_training = self.training
        self.eval()
        features: Tensor = self(pixels.to(next(self.parameters()).device))
        self.train(was_training)
        return features

    def width(self, size: int) -> int:
        """Find F by a forward pass of a blank picture, `size` pixels square."""
        return self.evaluated(torch.zeros(1, 3, size, size)).shape[1]


def load_backbone(name: str, data: Path) -> Backbone:
    """Load a backbone by name: a folder below `data`, a folder, or a Hugging Face name.

    A Hugging Face name needs the network or its cache. Weights are safetensors only. Raises DataError if it
    cannot be loaded.
    """
    from transformers import AutoModel  # which takes seconds to import
    from transformers.utils.logging import disable_progress_bar

    source = str(find_folder(name, data) or name)
    disable_progress_bar()
    try:
        model = AutoModel.from_pretrained(source, use_safetensors=True)
    except (OSError, ValueError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0]
        raise DataError(
            f"vision.backbone {name}: neither a folder with a model nor loadable: {reason}"
        ) from None
    return Backbone(model, _pixel_scale(source))


def _pixel_scale(source: str) -> PixelScale:
    from transformers.image_processing_base import ImageProcessingMixin

    try:
        config, _ = ImageProcessingMixin.get_image_processor_dict(source)
    except OSError:
        return PixelScale()
    mean, std = config.get("image_mean"), config.get("image_std")
    return PixelScale(tuple(mean or CENTRE_GREY), tuple(std or CENTRE_GREY))
