"""SimCLR's augmentation of pictures (Chen et al. 2020; globetrotter 3.3) on the model's device, by kornia."""

import math

import torch
from torch import Tensor, nn

SMALLEST_CROP = 0.2  # share of the area; SimCLR's 0.08 leaves a caption little to agree with
COLOUR_JITTER = 0.4  # brightness, contrast, saturation; no hue: captions name colours
MAX_BLUR = 2.0 / 224  # the strongest, as a share of the side


class Augmentation:
    """Draws random views: cropped, flipped (p 0.5), colours jittered (0.8), grey (0.2), blurred (0.5).

    Each picture has its own draw. `side`: width and height of the pictures, in pixels.
    """

    def __init__(self, side: int) -> None:
        import kornia.augmentation as K  # which takes seconds to import

        strongest = MAX_BLUR * side
        width = 2 * math.ceil(3 * strongest) + 1
        self.steps = nn.Sequential(
            K.RandomResizedCrop((side, side), scale=(SMALLEST_CROP, 1.0), cropping_mode="resample"),
            K.RandomHorizontalFlip(p=0.5),
            K.ColorJitter(COLOUR_JITTER, COLOUR_JITTER, COLOUR_JITTER, p=0.8),
            K.RandomGrayscale(p=0.2),
            K.RandomGaussianBlur((width, width), (strongest / 20, strongest), p=0.5),
        )

    @torch.no_grad()
    def __call__(self, pictures: Tensor, seed: int) -> Tensor:
        """Draw a view of each picture, (N, 3, S, S) in [0, 1]; equal seeds give equal views.

        Torch's random state is left unchanged.
        """
        gpus = [pictures.device.index or 0] if pictures.device.type == "cuda" else []
        with torch.random.fork_rng(gpus):
            torch.manual_seed(seed)
            out: Tensor = self.steps(pictures)
        return out
