"""Reports of a taught language: the file beside the bundle, and the section of its card."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from index.encoder.pictures import PICTOGRAM_SET, emoji
from index.languages import language
from index.teaching.subword_regression import Recall

SOURCE_NAMES = {
    "captions": "captions of pictures",
    "pairs": "aligned sentences (supervised)",
}
MEASURE_NAMES = {"captions": "a text finds its picture", "pairs": "a text finds its translation"}


@dataclass(frozen=True)
class Learned:
    """What a bundle was taught: lines by kind, recalls of held-out lines, and what to caption next."""

    code: str
    bundle: str
    version: str
    lines: Mapping[str, int]
    recalls: Mapping[str, Recall]
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
        return {
            f"taught_{self.code.lower().replace('-', '_')}_{kind}_{key}": round(value, 4)
            for kind, recall in self.recalls.items()
            for key, value in (("r1", recall.r1), ("r10", recall.r10))
        }


def report(learned: Learned) -> str:
    """The report, in Markdown."""
    listed = "\n".join(f"| {picture} | {_shown(picture)} |" for picture in learned.next_pictures)
    following = (
        f"\n## What to caption next\n\nThese pictures say most about those without a caption, best first.\n\n"
        f"| picture | |\n|---|---|\n{listed}\n"
        if learned.next_pictures
        else ""
    )
    return (
        f"# {learned.name} ({learned.code}), taught to {learned.bundle}\n\n{_facts(learned)}\n"
        f"It took {learned.seconds:.0f} seconds.\n{following}"
    )


def with_card_section(page: str, learned: Learned) -> str:
    """Add a section on how the language was learned to a card, before its limits or at its end."""
    title = f"## Taught afterwards: {learned.name} ({learned.code})\n"
    page = re.sub(rf"^{re.escape(title)}.*?(?=^## |\Z)", "", page, flags=re.DOTALL | re.MULTILINE)
    section = f"{title}\n{_facts(learned)}"
    before, limits, after = page.partition("## Limits")
    return f"{before.rstrip()}\n\n{section}\n{limits}{after}"


def summary(learned: Learned) -> str:
    """The result in one line."""
    figures = [f"{MEASURE_NAMES[kind]}: {_figures(score)}" for kind, score in learned.recalls.items()]
    return f"{learned.name} ({learned.code}) from {_sources(learned)}; {'; '.join(figures) or NOT_MEASURED}"


NOT_MEASURED = "too few lines to hold some out, so nothing was measured"


def _facts(learned: Learned) -> str:
    rows = "\n".join(
        f"| {MEASURE_NAMES[kind]} | {score.lines} | {score.candidates} | {score.r1:.1f} | {score.r10:.1f} | "
        f"{score.chance[0]:.1f} | {score.chance[1]:.1f} |"
        for kind, score in learned.recalls.items()
    )
    measured = (
        "Measured by teaching without a tenth of the pictures and pairs, on the lines of that tenth:\n\n"
        "| | lines | among | R@1 | R@10 | R@1 by chance | R@10 by chance |\n|---|--:|--:|--:|--:|--:|--:|\n"
        f"{rows}\n"
        if rows
        else f"{NOT_MEASURED[0].upper()}{NOT_MEASURED[1:]}.\n"
    )
    return (
        f"Learned after training, from {_sources(learned)}: {learned.subwords} subwords by ridge regression, "
        f"the encoder's own vectors with weight {learned.base:g}. The other languages are as they were.\n\n"
        f"{measured}"
    )


def _sources(learned: Learned) -> str:
    return " and ".join(f"{count} {SOURCE_NAMES[kind]}" for kind, count in learned.lines.items())


def _figures(score: Recall) -> str:
    return (
        f"{score} of {score.lines} among {score.candidates} "
        f"(chance {score.chance[0]:.1f}, {score.chance[1]:.1f})"
    )


def _shown(picture: str) -> str:
    name = picture.removeprefix(f"{PICTOGRAM_SET}/")
    return emoji(name) if name != picture else ""
