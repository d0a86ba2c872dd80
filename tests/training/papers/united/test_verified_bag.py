import numpy as np
import torch
from numpy.typing import NDArray

from index.arrays import unit
from tests.training.step_batches import embed, spoken
from training.papers.united.verified_bag import VerifiedBag, VerifiedBagSettings, verified_rows

SCENES, EACH, LANGUAGES, VOCABULARY, WIDTH = 4, 60, 2, 60, 32
SAME, FALSE_FRIEND, RARE = 4, 5, 6
Rows = NDArray[np.int64]


def world(seed: int = 0) -> tuple[list[NDArray[np.int32]], Rows, Rows, NDArray[np.float32]]:
    """Pictures of four scenes, half of them captioned in each language.

    SAME is in the captions of scene 0 in both languages, FALSE_FRIEND in those of scene 1 in one and of scene
    2 in the other, RARE in one caption of each. The other tokens come at random.
    """
    draw = np.random.default_rng(seed)
    scenes = np.repeat(np.arange(SCENES), EACH)
    centres = unit(draw.normal(size=(SCENES, WIDTH)))
    space = unit(centres[scenes] + 0.15 * draw.normal(size=(len(scenes), WIDTH)))
    languages = np.arange(len(scenes)) % LANGUAGES
    tokens = []
    for picture, (scene, language) in enumerate(zip(scenes, languages, strict=True)):
        row = draw.integers(8, VOCABULARY, 6).tolist()
        row += [SAME] if scene == 0 else []
        row += [FALSE_FRIEND] if scene == 1 + language else []
        row += [RARE] if picture in (0, 100, 101) else []
        tokens.append(np.array(row, np.int32))
    return tokens, languages, np.arange(len(scenes)), space


def rows(*, shuffled: bool = False, false_discovery_rate: float = 0.1, seed: int = 0) -> Rows:
    tokens, languages, pictures, space = world(seed)
    if shuffled:
        pictures = np.random.default_rng(9).permutation(pictures)
    return verified_rows(
        tokens,
        languages,
        pictures,
        space,
        shape=(VOCABULARY, LANGUAGES),
        false_discovery_rate=false_discovery_rate,
    )


def shared(found: Rows) -> list[int]:
    return np.flatnonzero(found[:, 0] == found[:, 1]).tolist()


def test_pictures_vouch_for_what_means_the_same() -> None:
    found = shared(rows())
    assert SAME in found
    assert FALSE_FRIEND not in found
    assert RARE not in found
    assert len(found) <= 3, "hardly any of those that come at random"


def test_every_other_subword_has_its_own_rows() -> None:
    found = rows()
    apart = np.arange(VOCABULARY)[:, None] + VOCABULARY * np.arange(LANGUAGES)
    mine = [token for token in range(VOCABULARY) if token not in shared(found)]
    assert np.array_equal(found[mine], apart[mine])
    assert found[SAME].tolist() == [SAME, SAME], "the first language's"


def test_shuffled_pictures_vouch_for_nothing() -> None:
    assert [len(shared(rows(shuffled=True, seed=seed))) for seed in range(5)] == [0] * 5


TOKENS = 40
# Tokens 4 to 11 are more often the first language's, 12 to 19 the second's; 20 to 23 are in both alike.
SPOKEN = [np.arange(4, 12), np.arange(12, 20), np.arange(20, 24), np.arange(20, 24)]


def apart() -> VerifiedBag:
    torch.manual_seed(0)
    model = VerifiedBagSettings.model_validate({"encoder": "verified_bag", "width": 8, "shared": "none"})
    built = model.build(TOKENS, 2).eval()
    built.initialise(spoken(SPOKEN, [0, 1, 0, 1]))
    return built


def test_apart_a_token_has_an_embedding_in_each_language() -> None:
    model = apart()
    table = model.tokens.weight.detach()
    assert table.shape == (2 * TOKENS, 8)
    found = embed(model, [[5, 20], [13, 20]])
    first, second = table[[5, 20]], table[[TOKENS + 13, TOKENS + 20]]
    assert torch.allclose(found, torch.stack([first.mean(dim=0), second.mean(dim=0)]), atol=1e-7)


def test_shared_tokens_have_one_embedding_for_both_languages() -> None:
    model = apart()
    model.rows[20] = 20
    first, second = embed(model, [[5, 20]])[0], embed(model, [[13, 20]])[0]
    table = model.tokens.weight.detach()
    assert torch.allclose(first, (table[5] + table[20]) / 2, atol=1e-7)
    assert torch.allclose(second, (table[TOKENS + 13] + table[20]) / 2, atol=1e-7)
    again = apart()
    again.load_state_dict(model.state_dict())
    assert torch.equal(again.rows, model.rows), "part of the checkpoint"
