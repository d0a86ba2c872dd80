import numpy as np
import pytest

from tests.training.step_batches import embed, spoken
from training.papers.shared.language_identifier import COUNT_SMOOTHING, LanguageIdentifier

# Token 5 is common in language 0, token 6 in language 1, token 7 in both alike.
TOKENS = [np.array(row, np.int32) for row in ([5, 5, 7], [5, 7], [6, 6, 7], [6, 7])]
LANGUAGES = [0, 0, 1, 1]


@pytest.fixture
def identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier(10, 2)
    identifier.fit(spoken(TOKENS, LANGUAGES))
    return identifier


def test_the_log_share_of_each_token_in_each_language(identifier: LanguageIdentifier) -> None:
    total = 5 + 10 * COUNT_SMOOTHING
    shares = [(3 + COUNT_SMOOTHING) / total, COUNT_SMOOTHING / total]
    assert identifier.log_p[5].exp().tolist() == pytest.approx(shares, rel=1e-3)
    assert identifier.log_p.exp().sum(dim=0).tolist() == pytest.approx([1, 1], rel=1e-3)


def test_it_tells_a_sentence_by_its_tokens_and_not_by_its_pads(identifier: LanguageIdentifier) -> None:
    assert embed(identifier, [[5], [6, 6, 5], [7, 7, 7, 6], [5, 5, 6]]).tolist() == [0, 1, 1, 0]
