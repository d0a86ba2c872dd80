"""What an encoder was made from: its own data, and that of all that it goes on from."""

from pydantic import Field

from index.frozen import Frozen


class TrainingSource(Frozen):
    """A set or a text that an encoder learned from, and its terms.

    title: what it is. licence: its licence. open: whether that is an open licence under which weights that
    learned from it may be shipped. credits: who is to be credited.
    """

    title: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    open: bool = False
    credits: tuple[str, ...] = ()

    def joined(self, later: "TrainingSource") -> "TrainingSource":
        """This and a later one of the same name: the terms and credits of both."""
        return TrainingSource(
            title="; ".join(dict.fromkeys((self.title, later.title))),
            licence="; ".join(dict.fromkeys((self.licence, later.licence))),
            open=self.open and later.open,
            credits=tuple(dict.fromkeys((*self.credits, *later.credits))),
        )


class Lineage(Frozen):
    """What an encoder and all that it goes on from learned from, and what that took.

    sources: by name. unknown: the names of what it goes on from that does not say what it was made from.
    epochs, seconds: of all runs but those.
    """

    sources: dict[str, TrainingSource] = Field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    epochs: int = Field(default=0, ge=0)
    seconds: float = Field(default=0.0, ge=0)

    def joined(self, later: "Lineage") -> "Lineage":
        """This and that of what goes on from it, as one."""
        known, added = self.sources, later.sources.items()
        return Lineage(
            sources=known | {name: known.get(name, source).joined(source) for name, source in added},
            unknown=tuple(dict.fromkeys((*self.unknown, *later.unknown))),
            epochs=self.epochs + later.epochs,
            seconds=round(self.seconds + later.seconds, 1),
        )
