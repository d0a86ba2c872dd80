import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from index.errors import DataError
from training.data.picture_source import PixelScale
from training.encoders.vision import Backbone, load_backbone


class States(nn.Module):
    """A model without a pooled output: gives the states it was made with."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = nn.Parameter(states)

    def forward(self, pixels: Tensor) -> SimpleNamespace:
        return SimpleNamespace(last_hidden_state=self.states)


def test_pixels_are_scaled_by_channel() -> None:
    picture = np.zeros((1, 2, 2, 3), np.uint8)
    picture[..., 1], picture[..., 2] = 255, 51
    found = PixelScale(mean=(0.5, 0.2, 0.0), std=(0.5, 0.4, 0.1))(picture)
    assert found.shape == (1, 3, 2, 2)
    assert found.dtype == np.float32
    assert np.allclose(found[0, :, 0, 0], [-1, 2, 2])


def test_features_are_the_pooled_output(backbone: Backbone) -> None:
    pixels = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        features = backbone(pixels)
        assert features.shape == (2, backbone.width(32)) == (2, 64)
        assert torch.equal(features, backbone.model(pixels).pooler_output.flatten(1))


@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 3, 4, 4)])
def test_without_a_pooled_output_they_are_the_mean_of_the_states(shape: tuple[int, ...]) -> None:
    states = torch.randn(shape)
    width_last = states if len(shape) == 3 else states.flatten(2).transpose(1, 2)
    found = Backbone(States(states), PixelScale())(torch.zeros(2, 3, 8, 8))
    assert torch.allclose(found, width_last.mean(dim=1), atol=1e-6)


def test_a_folder_below_the_data_comes_before_another(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "weights" / "tiny").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert load_backbone("weights/tiny", data).width(32) == 64
    assert load_backbone(str(data / "weights" / "tiny"), tmp_path).width(32) == 64


def test_pixel_scale_comes_with_the_weights(data: Path, tmp_path: Path) -> None:
    assert load_backbone("weights/tiny", data).scale == PixelScale()
    shutil.copytree(data / "weights" / "tiny", tmp_path / "other")
    described = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6]}
    (tmp_path / "other" / "preprocessor_config.json").write_text(json.dumps(described))
    assert load_backbone("other", tmp_path).scale == PixelScale((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))


@pytest.mark.parametrize(
    ("config", "weights"),
    [
        (None, None),
        ('{"model_type": "resnet"}', None),
        ('{"model_type": "resnet"}', b"not safetensors"),
        ('{"model_type": "nobody-knows"}', None),
        ("{", None),
    ],
    ids=["empty", "no weights", "bad weights", "unknown type", "bad config"],
)
def test_a_folder_that_is_no_model_is_refused_by_name(
    tmp_path: Path, config: str | None, weights: bytes | None
) -> None:
    folder = tmp_path / "spam"
    folder.mkdir()
    if config is not None:
        (folder / "config.json").write_text(config)
    if weights is not None:
        (folder / "model.safetensors").write_bytes(weights)
    with pytest.raises(DataError, match=r"vision\.backbone spam: neither a folder") as caught:
        load_backbone("spam", tmp_path)
    assert "\n" not in str(caught.value)


def test_pickled_weights_are_refused(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "weights" / "tiny", tmp_path / "spam")
    (tmp_path / "spam" / "model.safetensors").unlink()
    torch.save({}, tmp_path / "spam" / "pytorch_model.bin")
    with pytest.raises(DataError, match="safetensors"):
        load_backbone("spam", tmp_path)


def test_loading_is_silent(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_backbone("weights/tiny", data)
    assert capfd.readouterr() == ("", "")
