"""Suite `corpus`: sentence translation as users see it, by an index that does not contain the translation.

Each sentence of the test set is translated with an index of the training text, and the top answer is compared
with the reference, beside a random answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evaluation.measures.scores import PairScore, Table, table_of_pairs
from evaluation.suites.sets import TEXT_PREFIX, available, read_aligned, read_lines
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from index.languages import language
from index.storage.options import DEDUPLICATION_ONLY

BENCHMARK = "multi30k_test_2016"
SAMPLING_SEED = 0
# BLEU counts words: scripts without spaces need a tokeniser of their own; without one, characters.
TOKENISERS = {"Hans": "zh", "Hant": "zh", "Jpan": "char", "Thai": "char", "Laoo": "char", "Khmr": "char",
              "Mymr": "char"}  # fmt: skip


@dataclass(frozen=True)
class Scores:
    """The scores of a list of answers against their references, 0 to 100."""

    chrf: float
    bleu: float


def corpus_translation(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]
) -> list[Table]:
    """Suite `corpus`: `data`/benchmark/multi30k_test_2016 against `data`/text/multi30k_train.LANG.txt."""
    files = _files(data, known, chosen)
    queries = read_aligned(data / "benchmark" / BENCHMARK, list(files))
    with TemporaryDirectory(prefix="passepartout-") as folder:
        build_index(encoder.bundle, files, Path(folder) / "index", cleaning=DEDUPLICATION_ONLY)
        translator = Translator.open(Path(folder) / "index")
        random = {code: _random_answers(path, code, queries[code]) for code, path in files.items()}
        pairs = [score_answers(*codes, translator, queries, random) for codes in permutations(files, 2)]
    note = (
        f"Top answers to the sentences of {BENCHMARK} from an index of text/, which does not hold their "
        f"translations, ranked by CSLS. Random answers: seed {SAMPLING_SEED}. "
        f"{'; '.join(f'`{signature}`' for signature in _signatures(list(files)))}."
    )
    return [table_of_pairs(f"{BENCHMARK} from text", note, pairs, chosen)]


def _random_answers(file: Path, code: str, references: Sequence[str]) -> Scores:
    """The scores of sentences drawn from a file, one for each reference: what an answer is worth at least."""
    lines = read_lines(file)
    draws = np.random.default_rng(SAMPLING_SEED).integers(len(lines), size=len(references))
    return score([lines[row] for row in draws], references, code)


def score_answers(
    source: str,
    target: str,
    translator: Translator,
    queries: Mapping[str, Sequence[str]],
    random: Mapping[str, Scores],
) -> PairScore:
    """The top answers in `target` to the sentences of `source`, beside random ones."""
    matches = translator.sentences(queries[source], source, target)
    answered = score([answer[0].text for answer in matches], queries[target], target)
    measures = {
        "chrf": answered.chrf,
        "chrf_random": random[target].chrf,
        "bleu": answered.bleu,
        "bleu_random": random[target].bleu,
    }
    return PairScore(source, target, len(matches), measures)


def score(answers: Sequence[str], references: Sequence[str], code: str) -> Scores:
    """Corpus chrF and BLEU (sacrebleu) of answers in language `code`."""
    # Imported here: the other suites need no sacrebleu.
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    bleu = BLEU(tokenize=tokeniser(code))
    return Scores(
        chrf=CHRF().corpus_score(answers, [references]).score,
        bleu=bleu.corpus_score(answers, [references]).score,
    )


def tokeniser(code: str) -> str:
    """sacrebleu's name of the tokeniser with which BLEU divides a language into words."""
    return TOKENISERS.get(language(code).script, "13a")


def _signatures(codes: Sequence[str]) -> list[str]:
    """sacrebleu's signatures: all that a score depends on."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    metrics: list[tuple[str, BLEU | CHRF]] = [("chrF", CHRF())]
    metrics += [("BLEU", BLEU(tokenize=name)) for name in sorted({tokeniser(code) for code in codes})]
    for _, metric in metrics:
        metric.corpus_score(["a"], [["a"]])  # a signature knows the number of references only after a score
    return [f"{name}|{metric.get_signature()}" for name, metric in metrics]


def _files(data: Path, known: Sequence[str], chosen: Sequence[str]) -> dict[str, Path]:
    """language -> its training text, for the languages of the test set that have one."""
    folder = data / "text"
    files = {
        code: folder / f"{TEXT_PREFIX}{code}.txt"
        for code in available(data / "benchmark" / BENCHMARK, ".txt", known, chosen)
    }
    available_files = {code: path for code, path in files.items() if code in chosen or path.is_file()}
    if len(available_files) < 2:
        raise DataError(
            f"{folder}: of {', '.join(files)} two or more need {TEXT_PREFIX}LANG.txt to answer from"
        )
    return available_files
