"""Suite `corpus`: sentence translation as users see it, by an index that does not contain the translation.

Each sentence of the test set is translated with an index of the training text, and the top answer is compared
with the reference. The score lies between two bounds: a random answer, and the best answer in the index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evaluation.measures.chrf import Overlap
from evaluation.measures.scores import PairScore, Table, table_of_pairs
from evaluation.suites.sets import TEXT_PREFIX, available, read_aligned
from index.build.build_index import build_index
from index.build.corpus import kept_texts
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from index.formats.registry import Source
from index.languages import language
from index.progress import Progress
from index.search.translator import Translator
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


@dataclass(frozen=True)
class Bounds:
    """The scores of answers drawn at random from a corpus, and of its best answers by chrF."""

    random: Scores
    best: Scores


def corpus_translation(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]
) -> list[Table]:
    """Suite `corpus`: `data`/benchmark/multi30k_test_2016 against `data`/text/multi30k_train.LANG.txt."""
    files = _files(data, known, chosen)
    queries = read_aligned(data / "benchmark" / BENCHMARK, list(files))
    texts = {
        code: list(kept_texts(Source(path, code), known, DEDUPLICATION_ONLY)) for code, path in files.items()
    }
    with TemporaryDirectory(prefix="passepartout-") as folder:
        build_index(encoder.bundle, files, Path(folder) / "index", cleaning=DEDUPLICATION_ONLY)
        translator = Translator.open(Path(folder) / "index")
        bounds = {code: find_bounds(code, texts[code], queries[code]) for code in files}
        pairs = [score_answers(*codes, translator, queries, bounds) for codes in permutations(files, 2)]
    note = (
        f"Top answers to the sentences of {BENCHMARK} from an index of text/, which does not hold their "
        f"translations ({', '.join(f'{code} {len(texts[code])}' for code in files)} sentences), ranked by "
        f"CSLS. Random answers: seed {SAMPLING_SEED}. Best answers: the highest sentence chrF of all "
        "sentences held. "
        f"{'; '.join(f'`{signature}`' for signature in _signatures(list(files)))}."
    )
    return [table_of_pairs(f"{BENCHMARK} from text", note, pairs, chosen)]


def find_bounds(code: str, corpus: Sequence[str], references: Sequence[str]) -> Bounds:
    """A random and the best sentence of `corpus` for each reference, scored."""
    draws = np.random.default_rng(SAMPLING_SEED).integers(len(corpus), size=len(references))
    overlap = Overlap(corpus, references)
    best = []
    with Progress(len(references), unit="references", label=f"best answers {code}") as bar:
        for row in range(len(references)):
            best.append(corpus[int(overlap.scores(row).argmax())])
            bar.advance()
    return Bounds(
        random=score([corpus[row] for row in draws], references, code), best=score(best, references, code)
    )


def score_answers(
    source: str,
    target: str,
    translator: Translator,
    queries: Mapping[str, Sequence[str]],
    bounds: Mapping[str, Bounds],
) -> PairScore:
    """The top answers in `target` to the sentences of `source`, between their bounds."""
    matches = translator.sentences(queries[source], source, target)
    answered, bound = score([answer[0].text for answer in matches], queries[target], target), bounds[target]
    way = (answered.chrf - bound.random.chrf) / max(bound.best.chrf - bound.random.chrf, 1e-9)
    measures = {
        "chrf": answered.chrf,
        "chrf_random": bound.random.chrf,
        "chrf_best": bound.best.chrf,
        "chrf_way": 100 * way,
        "bleu": answered.bleu,
        "bleu_random": bound.random.bleu,
        "bleu_best": bound.best.bleu,
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
