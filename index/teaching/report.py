"""Reports of a taught language: the file beside the bundle, and the section of its card."""

from collections.abc import Sequence
from dataclasses import dataclass

from index.encoder.pictures import emoji
from index.languages import language
from index.teaching.subword_regression import Recall


@dataclass(frozen=True)
class Learned:
    """What a bundle was taught: how many captions, recall of held-out ones, and what to caption next."""

    code: str
    bundle: str
    version: str
    lines: int
    recall: Recall | None
    next_pictures: Sequence[str]
    subwords: int
    base: float
    seconds: float

    @property
    def name(self) -> str:
        return language(self.code).name

    @property
    def measures(self) -> dict[str, float]:
        """The measures for the manifest, with names such as taught_sw_captions_r10."""
        if self.recall is None:
            return {}
        taught = f"taught_{self.code.lower().replace('-', '_')}_captions"
        return {f"{taught}_r1": round(self.recall.r1, 4), f"{taught}_r10": round(self.recall.r10, 4)}


def report(learned: Learned) -> str:
    """The report, in Markdown."""
    listed = " ".join(emoji(picture.partition("/")[2]) for picture in learned.next_pictures)
    following = f"\n## What to caption next, best first\n\n{listed}\n" if listed else ""
    return (
        f"# {learned.name} ({learned.code}), taught to {learned.bundle}\n\n{facts(learned)}\n"
        f"It took {learned.seconds:.0f} seconds.\n{following}"
    )


def summary(learned: Learned) -> str:
    """The result in one line."""
    score = learned.recall
    measured = NOT_MEASURED
    if score is not None:
        measured = (
            f"a text finds its picture: {score} of {score.lines} among {score.candidates} "
            f"(chance {score.chance[0]:.1f}, {score.chance[1]:.1f})"
        )
    return f"{learned.name} ({learned.code}) from {learned.lines} captions of pictures; {measured}"


NOT_MEASURED = "too few lines to hold some out, so nothing was measured"


def facts(learned: Learned) -> str:
    """How it was learned, in Markdown."""
    score, measured = learned.recall, f"{NOT_MEASURED[0].upper()}{NOT_MEASURED[1:]}.\n"
    if score is not None:
        measured = (
            "Measured by teaching without a tenth of the pictures, on the captions of that tenth:\n\n"
            "| | lines | among | R@1 | R@10 | R@1 by chance | R@10 by chance |\n"
            "|---|--:|--:|--:|--:|--:|--:|\n"
            f"| a text finds its picture | {score.lines} | {score.candidates} | {score.r1:.1f} | "
            f"{score.r10:.1f} | {score.chance[0]:.1f} | {score.chance[1]:.1f} |\n"
        )
    return (
        f"Learned after training, from {learned.lines} captions of pictures: {learned.subwords} subwords by "
        f"ridge regression, the encoder's own vectors with weight {learned.base:g}. The other languages are "
        f"as they were.\n\n{measured}"
    )
