"""The vision backbone: any Hugging Face image model, by name or folder, to one feature vector a picture."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoModel
from transformers.image_processing_base import ImageProcessingMixin
from transformers.utils.logging import disable_progress_bar

from index.errors import DataError

HALF = (0.5, 0.5, 0.5)


@dataclass(frozen=True)
class PixelScale:
    """How uint8 pixels become the backbone's input: (pixel / 255 - mean) / std, each channel by its own."""

    mean: tuple[float, ...] = HALF
    std: tuple[float, ...] = HALF

    def __call__(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """(N, S, S, 3) uint8 -> (N, 3, S, S) float32."""
        mean, std = np.asarray(self.mean, np.float32), np.asarray(self.std, np.float32)
        scaled = (pictures.astype(np.float32) / 255 - mean) / std
        return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))

    def of_tensor(self, pictures: Tensor) -> Tensor:
        """(N, 3, S, S) in [0, 1] -> the same scaled, on its device."""
        mean, std = (pictures.new_tensor(values)[:, None, None] for values in (self.mean, self.std))
        return (pictures - mean) / std


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

    @torch.no_grad()
    def width(self, size: int) -> int:
        """F, found by a forward pass of one blank picture."""
        was = self.training
        self.eval()
        blank = torch.zeros(1, 3, size, size, device=next(self.parameters()).device)
        found = self(blank).shape[1]
        self.train(was)
        return int(found)


def load_backbone(name: str, data: Path) -> Backbone:
    """The backbone of that name: a folder below `data`, a folder, or a Hugging Face name (needs its cache or
    the network). Weights are safetensors only. Raises DataError when it can't be loaded."""
    place = next((str(path) for path in (data / name, Path(name)) if path.is_dir()), name)
    disable_progress_bar()
    try:
        model = AutoModel.from_pretrained(place, use_safetensors=True)
    except (OSError, ValueError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0]
        raise DataError(
            f"vision.backbone {name}: neither a folder with a model nor loadable: {reason}"
        ) from None
    return Backbone(model, _pixel_scale(place))


def _pixel_scale(place: str) -> PixelScale:
    try:
        config, _ = ImageProcessingMixin.get_image_processor_dict(place)
    except OSError:
        return PixelScale()
    mean, std = config.get("image_mean"), config.get("image_std")
    return PixelScale(tuple(mean or HALF), tuple(std or HALF))
