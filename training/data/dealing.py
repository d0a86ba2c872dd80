"""How pictures are dealt to languages, whose captions are then seen with them: `data.pictures`."""

from collections.abc import Callable, Sequence

from training.data.settings import DataSettings

Owners = list[tuple[str, tuple[str, ...]]]  # pictures, and the languages whose captions are seen with them
Texts = dict[str, dict[str, list[str]]]  # language -> picture -> captions
Deal = Callable[[Sequence[str], Texts, DataSettings], Owners]  # the pictures, and all their captions


def shared(members: Sequence[str], texts: Texts, settings: DataSettings) -> Owners:
    """Every picture belongs to all languages."""
    return [(name, tuple(texts)) for name in members]


# data.pictures -> how the pictures of a set are dealt, and drawings, if not to all languages.
DEALS: dict[str, Deal] = {"shared": shared}
DEALS_OF_DRAWINGS: dict[str, Deal] = {}
