"""A vocabulary and a model with room for one more language, in which all that was there is as it was."""

import json
from collections import Counter
from collections.abc import Sequence

import torch
from tokenizers import Tokenizer
from torch import Tensor

from index.text.normalisation import clean
from training.data.tokens import SEQUENCE, train_tokenizer
from training.encoders.adapted import Adapted
from training.encoders.bag import Bag
from training.encoders.heads import LinearHead, PredictionHead
from training.loop.model import TwoBranch
from training.recipes.recipe import Recipe
from training.recipes.settings import TokenizerSettings

SEEN = 2  # times, for a character to be worth a subword


def grown_tokenizer(
    tokenizer: Tokenizer, texts: Sequence[str], settings: TokenizerSettings, size: int, max_tokens: int
) -> Tokenizer:
    """The tokenizer, with subwords for what it cannot spell in `texts`.

    New are characters that the vocabulary lacks and merges whose result has such a character, as a BPE of
    `size` learned from `texts` alone has them. They get ids after all others and merge after all others, so
    text of known characters is spelled exactly as before.
    """
    new = _unknown_characters(tokenizer, texts)
    if not new:
        return tokenizer
    described = json.loads(tokenizer.to_str())
    fresh = train_tokenizer(
        texts,
        settings.model_copy(update={"vocabulary": size}),
        sequence_token=tokenizer.token_to_id(SEQUENCE) is not None,
        max_tokens=max_tokens,
    )
    _take_over(described["model"], json.loads(fresh.to_str())["model"], new)
    return Tokenizer.from_str(json.dumps(described))


def _unknown_characters(tokenizer: Tokenizer, texts: Sequence[str]) -> set[str]:
    counts = Counter(c for text in texts for c in tokenizer.normalizer.normalize_str(clean(text)))
    known = tokenizer.get_vocab()
    return {c for c, count in counts.items() if count >= SEEN and not c.isspace() and c not in known}


def _take_over(model: dict[str, object], fresh: dict[str, object], new: set[str]) -> None:
    """Add to a BPE model, as `tokenizers` describes it, the characters `new` and another's merges of them."""
    vocabulary, merges = model["vocab"], model["merges"]
    theirs = fresh["merges"]
    assert isinstance(vocabulary, dict)
    assert isinstance(merges, list)
    assert isinstance(theirs, list)
    for character in sorted(new):
        vocabulary[character] = len(vocabulary)
    for one, other in theirs:
        if new & set(one + other) and one in vocabulary and other in vocabulary:
            vocabulary.setdefault(one + other, len(vocabulary))
            merges.append([one, other])


@torch.no_grad()
def grown_model(old: TwoBranch, recipe: Recipe, vocabulary: int) -> TwoBranch:
    """A model for a recipe with one language more, the last, and a vocabulary with more tokens at its end.

    `old` was made for the other languages. What is new begins as in a new model, but the language's
    adaptation layer (training.encoders.adapted): that begins as the mean of the others. The language
    identifier knows nothing yet (`learn_languages`).
    """
    head = old.picture_head
    features = head.width if isinstance(head, PredictionHead | LinearHead) else 0
    model = TwoBranch(recipe, vocabulary, features, old.backbone)
    state = model.state_dict()
    for name, tensor in old.state_dict().items():
        if name.endswith("identifier.log_p"):
            continue
        if name == "text.rows":
            tensor = _moved(tensor, old.vocabulary, vocabulary)
        if name == "text.tokens.weight" and _by_language(old):
            _copy_blocks(state[name], tensor, vocabulary, old.vocabulary)
        else:
            state[name][tuple(slice(length) for length in tensor.shape)] = tensor
    if isinstance(model.text, Adapted):
        model.text.adaptations[-1] = model.text.adaptations[:-1].mean(dim=0)
    return model


def _by_language(model: TwoBranch) -> bool:
    """Whether its table of embeddings has a block of rows for each language."""
    text = model.text
    return isinstance(text, Adapted) or (isinstance(text, Bag) and text.identifier is not None)


def _moved(rows: Tensor, before: int, now: int) -> Tensor:
    """Where rows of blocks of `before` are in blocks of `now`."""
    return rows % before + now * (rows // before)


def _copy_blocks(target: Tensor, source: Tensor, now: int, before: int) -> None:
    """(languages * vocabulary, width) into another such table, language by language."""
    blocks = source.view(-1, before, source.shape[1])
    target.view(-1, now, source.shape[1])[: len(blocks), :before] = blocks
