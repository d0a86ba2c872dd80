"""Words that were never read, by their letters: do character n-grams say more than the encoder's subwords?

    python -m benchmarks.training.unseen --encoder BUNDLE --data DIR [--meanings] LANGUAGE ...

Hashed n-grams of a language's frequent words (those of the bundle's list) are fitted by ridge regression to
the sums of their subwords' embeddings, with --meanings as they stand beside their mined translations. A
line of JSON for each language, share of n-grams and half (of words and lines; choose by `dev`); a share of
0 is the encoder as it is, of 1 n-grams alone. words: P@1 of every fifth word, of which the n-grams know
nothing, among the English words of the bundle, right being what mining found that it means. rare: of words
of corpora/dictionary that are not in the list, where it has the language, and how many. Lines of
benchmark/everyday_LANG into English, R@1, whose rarest word occurs 0, 1 or 2, up to 9 times, or more often
in the texts in `DIR`/text, and of how many: words of at most two occurrences have the share of n-grams.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.training.candidates import read_words
from benchmarks.training.letters import Subwords
from evaluation.suites.sets import read_aligned
from index.arrays import unit
from index.text.normalisation import words
from index.vectors.neighbourhoods import csls

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
HALVES = {"dev": 0, "test": 1}
HELD_OUT = 5  # every fifth word
RARE = 2  # occurrences
OCCURRENCES = {"0": (0, 0), "1-2": (1, 2), "3-9": (3, 9), "10-": (10, 1 << 40)}


@click.command()
@click.option("--encoder", "bundle", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--meanings", is_flag=True, help="Fit to vectors beside those of mined translations.")
@click.argument("languages", nargs=-1, required=True)
def main(bundle: Path, data: Path, meanings: bool, languages: Sequence[str]) -> None:
    """Print the figures."""
    subwords = Subwords(bundle, meanings)
    for code in languages:
        asked, lines = Asked(subwords, code), RareLines(subwords, data, code)
        for share in SHARES:
            for half in HALVES:
                figures = asked.right(share, half) | lines.right(share, half)
                click.echo(json.dumps({"language": code, "share": share, "half": half, **figures}))


class Asked:
    """Words of a language that n-grams are not fitted to, asked for what they mean in English."""

    def __init__(self, subwords: Subwords, code: str) -> None:
        listed = subwords.meanings(code)
        kept = [word for place, word in enumerate(listed.counts) if place % HELD_OUT]
        held = {word: set(listed.translations.get(word, ())) for word in list(listed.counts)[::HELD_OUT]}
        self._kinds = {
            "words": {word: meant for word, meant in held.items() if meant},
            "rare": subwords.unlisted(code),
        }
        fitted = subwords.fitted(kept, code)
        self._vectors = {
            kind: (subwords(list(asked)), fitted(list(asked))) for kind, asked in self._kinds.items() if asked
        }
        self._english, self._candidates = subwords.english, unit(subwords(subwords.english)).T

    def right(self, share: float, half: str) -> dict[str, tuple[float, int]]:
        """P@1 in per cent, and of how many words."""
        figures = {}
        for kind, (own, by_letters) in self._vectors.items():
            vectors = unit((1 - share) * own + share * by_letters)[HALVES[half] :: 2]
            meant = list(self._kinds[kind].values())[HALVES[half] :: 2]
            best = (vectors @ self._candidates).argmax(axis=1)
            hits = [self._english[row] in right for row, right in zip(best, meant, strict=True)]
            figures[kind] = per_cent(hits), len(hits)
        return figures


class RareLines:
    """Lines of a language and their translations."""

    def __init__(self, subwords: Subwords, data: Path, code: str) -> None:
        both = read_aligned(data / "benchmark" / f"everyday_{code}", [code, "en"])
        counts = read_words(data, code)
        spelled = [words(line, code) for line in both[code]]
        self._rarest = np.array([min([counts[word] for word in line], default=0) for line in spelled])
        self._own, self._english = subwords(both[code]), unit(subwords(both["en"]))
        seldom = sorted({word for line in spelled for word in line if counts[word] <= RARE})
        fitted = subwords.fitted(list(subwords.meanings(code).counts), code)
        change = dict(zip(seldom, fitted(seldom) - subwords(seldom), strict=True))
        nothing = np.zeros(self._own.shape[1], np.float32)
        self._changes = np.stack(
            [sum((change.get(word, nothing) for word in line), nothing) for line in spelled]
        )

    def right(self, share: float, half: str) -> dict[str, float | tuple[float, int]]:
        """R@1 in per cent, of all and by how often the rarest word occurs."""
        nearest = csls(unit(self._own + share * self._changes) @ self._english.T).argmax(axis=1)
        is_right, rarest = (
            rows[HALVES[half] :: 2] for rows in (nearest == np.arange(len(nearest)), self._rarest)
        )
        of_kind = {
            name: is_right[(least <= rarest) & (rarest <= most)]
            for name, (least, most) in OCCURRENCES.items()
        }
        kinds = {name: (per_cent(hits), len(hits)) for name, hits in of_kind.items()}
        return {"lines": per_cent(is_right), **kinds}


def per_cent(hits: Sequence[bool] | NDArray[np.bool_]) -> float:
    return round(100 * float(np.mean(hits)), 1) if len(hits) else 0.0


if __name__ == "__main__":
    main()
