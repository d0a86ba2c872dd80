import pytest
import torch

from training.papers.mule.universal import Universal, UniversalSettings
from training.papers.pseudopairs.gru import GRUSettings

GRU = GRUSettings(encoder="gru", embedding=6, width=8).build(20, 1)
IDS = torch.tensor([[4, 5, 6, 0], [7, 0, 0, 0], [8, 9, 10, 11]])
MASK = torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]])


def universal(**settings: object) -> Universal:
    torch.manual_seed(0)
    table = {"encoder": "universal", "words": 5, "universal": 6, "width": 7, **settings}
    return UniversalSettings.model_validate(table).build(20, 2)


@pytest.mark.parametrize("encoder", [GRU, universal()], ids=["gru", "universal"])
def test_pads_change_nothing(encoder: torch.nn.Module) -> None:
    encoder.eval()
    together = encoder(IDS, MASK)
    for row, length in enumerate(MASK.sum(dim=1).tolist()):
        alone = encoder(IDS[row : row + 1, :length], MASK[row : row + 1, :length])
        assert torch.allclose(together[row], alone[0], atol=1e-6)


def test_each_language_has_its_word_vectors_and_its_layer() -> None:
    encoder = universal()
    with torch.no_grad():
        encoder.identifier.log_p[4:8, 0] = 1.0  # tokens of the first language
        encoder.identifier.log_p[8:12, 1] = 1.0
    first, second = encoder.states(IDS[:1, :3], MASK[:1, :3]), encoder.states(IDS[2:], MASK[2:])
    words = encoder.tokens.weight
    assert torch.allclose(first[0], words[IDS[0, :3]] @ encoder.layers[0] + encoder.biases[0])
    assert torch.allclose(second[0], words[20 + IDS[2]] @ encoder.layers[1] + encoder.biases[1])
    assert torch.allclose(encoder.inner(first, MASK[:1, :3]), first.mean(dim=1))
