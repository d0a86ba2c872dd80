"""Suite `confidence`: whether the confidence of an index shows what the index does not contain.

The index is built from aligned lines, of which each language lacks every fourth, a different one in each. It
is asked lines whose translation it has, lines whose translation it lacks, text of other kinds (the held-out
lines of corpora/elsewhere), and the first lines again with different punctuation at the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import ALL_PAIRS, PairScore, Table, table_of_pairs
from evaluation.suites.indexes import index_of
from evaluation.suites.sets import TEXT_PREFIX, in_common, languages_in, read_aligned
from index.answers.answer import Answers
from index.answers.translator import Translator
from index.build.probes import other_kinds
from index.confidence import MIN_CONFIDENCE
from index.confidence.models import calibration_error
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from index.progress import Progress
from index.text.normalisation import SENTENCE_ENDS, clean

LEFT_OUT_EVERY = 4  # one in so many lines is left out of an index
QUESTIONS_PER_PAIR = 300  # in each pair with an answer, and as many without; fewer if there are few lines
MOST_LINES = 1 << 20


class Answered(NamedTuple):
    """The first answers to n questions: their confidences (n,), and whether they are right (n,)."""

    confidences: NDArray[np.float64]
    right: NDArray[np.bool_]


def confidence(encoder: TextEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Measure on `data`/text/multi30k_train.LANG.txt, or else on `data`/LANG.txt."""
    folder, prefix = (data / "text", TEXT_PREFIX) if (data / "text").is_dir() else (data, "")
    codes = in_common(folder, languages_in(folder, ".txt", prefix), known)
    texts = read_aligned(folder, codes, prefix=prefix, most=MOST_LINES)
    with TemporaryDirectory(prefix="passepartout-") as work:
        # Lines keep their numbers, by which their IDs identify them.
        kept = {code: _without_some(lines, number) for number, (code, lines) in enumerate(texts.items())}
        translator = index_of(encoder, kept, Path(work) / "lines", aligned=False)
        pairs = list(permutations(codes, 2))
        with Progress(len(pairs), unit="pairs", label="confidence") as bar:
            scores, answers = list[PairScore](), list[Answered]()
            for pair in pairs:
                score, answered = score_pair(translator, texts, *pair)
                scores.append(score)
                answers += answered
                bar.advance()
    note = (
        f"An index of {len(texts[codes[0]])} lines, each language without every {LEFT_OUT_EVERY}th. "
        f"answered: of lines whose translation is there, those with an answer at {MIN_CONFIDENCE} or above; "
        "right: those whose first answer is it; other kinds answered: of text of other kinds; missing "
        "answered: of lines whose translation is not there; calibration error: over all three; changed by "
        "punctuation: first answers, by another end of the line."
    )
    table = table_of_pairs("confidence", note, scores)
    # Over all answers together: a mean over pairs would include the noise of each pair.
    means = {**table.means, ALL_PAIRS: {**table.means[ALL_PAIRS], "ece": _error(answers)}}
    return [replace(table, means=means)]


def lacks(line: int, language: int) -> bool:
    """Whether the index of language number `language` lacks a line."""
    return (line + language) % LEFT_OUT_EVERY == 0


def _without_some(lines: Sequence[str], language: int) -> list[str]:
    """The lines, empty where the index lacks them."""
    return ["" if lacks(row, language) else line for row, line in enumerate(lines)]


def score_pair(
    translator: Translator, texts: Mapping[str, Sequence[str]], source: str, target: str
) -> tuple[PairScore, list[Answered]]:
    """The measures of one pair, in per cent, and all of its answers."""
    lines, number = texts[source], list(texts).index(target)
    rows = np.random.default_rng(0).permutation(len(lines)).tolist()
    present = [row for row in rows if not lacks(row, number)]
    missing = [row for row in rows if lacks(row, number)]
    # Equally many of both, since a confidence is the share of both that is right.
    count = min(QUESTIONS_PER_PAIR, len(present), len(missing))
    present, missing = present[:count], missing[:count]
    if not present or not missing:
        raise DataError(f"{len(lines)} lines are too few: give at least {LEFT_OUT_EVERY}")
    matches = translator.sentences([lines[row] for row in present], source, target)
    others = [text for _, text in other_kinds(source, held_out=True)]
    of_present = _answered(matches, [texts[target][row] for row in present])
    of_missing = _answered(translator.sentences([lines[row] for row in missing], source, target))
    of_others = _answered(translator.sentences(others, source, target))
    answers = [of_present, of_missing, of_others]
    ends = ((lines[row], lines[row].rstrip(SENTENCE_ENDS)) for row in present)
    punctuated = [bare if bare != text else f"{text}." for text, bare in ends]
    punctuated_matches = translator.sentences(punctuated, source, target)
    changed = [first[0].id != second[0].id for first, second in zip(matches, punctuated_matches, strict=True)]
    measures = {
        "answered": _share(of_present.confidences >= MIN_CONFIDENCE),
        "right": _share(of_present.right),
        "others_answered": _share(of_others.confidences >= MIN_CONFIDENCE),
        "missing_answered": _share(of_missing.confidences >= MIN_CONFIDENCE),
        "ece": _error(answers),
        "changed": _share(np.array(changed)),
    }
    return PairScore(source, target, len(present), measures), answers


def _error(answers: Sequence[Answered]) -> float:
    return 100 * calibration_error(*map(np.concatenate, zip(*answers, strict=True)))


def _answered(matches: Sequence[Answers], right_texts: Sequence[str] | None = None) -> Answered:
    """The first of the matches to each question; without `right_texts`, none of them is right."""
    first = [answers[0] for answers in matches]
    right = [match.text == clean(text) for match, text in zip(first, right_texts or [], strict=False)]
    right += [False] * (len(first) - len(right))
    return Answered(np.array([match.confidence for match in first]), np.array(right, bool))


def _share(hits: NDArray[np.bool_]) -> float:
    return 100 * float(hits.mean()) if len(hits) else 0.0
