"""Suite `contrasts`: whether who asks for one thing is ever given its opposite.

The text is corpora/contrasts: pairs of sentences that differ in one thing, such as a negation or a side. Each
sentence is asked of two indexes, one that has it and its opposite in every language, one that has the
opposite alone; and these are built twice, of aligned sentences and of sentences that nothing connects.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, table_of_pairs
from evaluation.suites.indexes import index_of
from evaluation.suites.sets import available, read_table
from index.answers.answer import Answers
from index.answers.translator import Translator
from index.confidence import MIN_CONFIDENCE
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from index.progress import Progress
from index.text.normalisation import clean

COLUMNS = ("kind", "sentence", "opposite")
ANSWERS = 3  # to each question
NOTE = (
    f"Per cent of sentences, at a confidence of {MIN_CONFIDENCE}. right: the first answer is the sentence "
    "itself, where the index has both; opposite: its opposite is among the answers; opposite alone: the same "
    "where the index has only that."
)

Triples = Sequence[tuple[str, str, str]]  # kind, sentence, opposite


def contrasts(encoder: TextEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Measure on `data`/LANG.tsv, whose row i is the same in each language."""
    texts, tables = _read(data, available(data, ".tsv", known)), list[Table]()
    opposites = {code: [opposite for _, _, opposite in rows] for code, rows in texts.items()}
    every = {code: [*(row[1] for row in rows), *opposites[code]] for code, rows in texts.items()}
    for name, aligned in (("aligned", True), ("not aligned", False)):
        with TemporaryDirectory(prefix="passepartout-") as work:
            both = index_of(encoder, every, Path(work) / "both", aligned=aligned)
            alone = index_of(encoder, opposites, Path(work) / "alone", aligned=aligned)
            tables += _tables(f"contrasts, {name}", both, alone, texts)
    return tables


def _read(data: Path, codes: Sequence[str]) -> dict[str, Triples]:
    texts: dict[str, Triples] = {}
    for code in codes:
        path = data / f"{code}.tsv"
        (head, *rows) = read_table(path, COLUMNS)
        texts[code] = [(row[0], clean(row[1]), clean(row[2])) for row in rows]
        if tuple(head) != COLUMNS or [row[0] for row in rows] != [row[0] for row in texts[codes[0]]]:
            raise DataError(f"{path}: give {', '.join(COLUMNS)}, with the kinds of {codes[0]}.tsv")
    return texts


def _tables(name: str, both: Translator, alone: Translator, texts: Mapping[str, Triples]) -> list[Table]:
    """All pairs of sentences in one table, then each kind in one of its own."""
    kinds = np.array([kind for kind, _, _ in next(iter(texts.values()))])
    scores: dict[str, list[PairScore]] = {kind: [] for kind in ("", *dict.fromkeys(kinds.tolist()))}
    pairs = list(permutations(texts, 2))
    with Progress(len(pairs), unit="pairs", label=name) as bar:
        for source, target in pairs:
            hits = _hits(both, alone, texts, source, target)
            for kind, found in scores.items():
                chosen_rows = kinds == kind if kind else np.ones(len(kinds), bool)
                measures = {measure: 100 * float(hit[chosen_rows].mean()) for measure, hit in hits.items()}
                found.append(PairScore(source, target, int(chosen_rows.sum()), measures))
            bar.advance()
    return [
        table_of_pairs(f"{name}, {kind}" if kind else name, NOTE, found) for kind, found in scores.items()
    ]


def _hits(
    both: Translator, alone: Translator, texts: Mapping[str, Triples], source: str, target: str
) -> dict[str, NDArray[np.bool_]]:
    """Of each sentence, whether it has what a measure counts."""
    asked = [sentence for _, sentence, _ in texts[source]]
    right = [sentence for _, sentence, _ in texts[target]]
    opposites = [opposite for _, _, opposite in texts[target]]
    of_both, of_alone = (index.sentences(asked, source, target, ANSWERS) for index in (both, alone))
    return {
        "right": np.array([_told(row)[:1] == [text] for row, text in zip(of_both, right, strict=True)]),
        "opposite": np.array([text in _told(row) for row, text in zip(of_both, opposites, strict=True)]),
        "opposite alone": np.array(
            [text in _told(row) for row, text in zip(of_alone, opposites, strict=True)]
        ),
    }


def _told(answers: Answers) -> list[str]:
    return [answer.text for answer in answers if answer.confidence >= MIN_CONFIDENCE]
