"""Lists the steps that reproduce Globetrotter (arXiv 2012.04631): seed by seed, the most important first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.reports.experiments import Experiment, Outcome, Run, Step, outcome
from evaluation.reports.report import read_tables
from evaluation.suites.corpus import BENCHMARK
from evaluation.suites.sets import available
from training.papers.baselines import measure_ridge, ridge_recipe
from training.papers.globetrotter.appendix import appendix
from training.papers.globetrotter.study import Planned, Study
from training.papers.systems import (
    BETWEEN_SCRIPTS,
    POOL_MEASURE,
    TRANSLATION_MEASURES,
    Figures,
    call,
    measure,
    read_pool,
    train,
)

RIDGE_SYSTEM = "ridge"
SENTENCES = Experiment(
    "sentences",
    "Sentence translation (5.2, Fig. 3)",
    "Positives found: the paper's measure, captions of 200 test pictures, all languages in one pool. R@k: "
    f"the sentences of {BENCHMARK}; between scripts: captions of a test picture in languages that share no "
    "letter; means over ordered pairs of languages. Pair by pair: work/STEP/multi30k and work/STEP/photos.",
    headline=POOL_MEASURE,
    ceiling="supervised",
)
PHOTOS_11 = Experiment(
    "photos-11",
    "Sentence translation, eleven languages",
    SENTENCES.note,
    headline=POOL_MEASURE,
    ceiling="supervised-photos-11-balanced",
)
CORPUS = Experiment(
    "corpus",
    "As a user meets it: answers from an index without the translation",
    f"Every sentence of {BENCHMARK} against the sentences of text/: the top answer, between a random one and "
    "the best that the index holds. chrF and BLEU by sacrebleu; signatures: work/STEP/report.md.",
    headline="chrf_way",
)
_WORDS = (
    "Ground truth by tf-idf, mutual top 5 (eq. 6, 7), from lines that correspond. Average Recall@10 in both "
    "directions; aligned by multi-pairwise Procrustes (3.4) where it does not say before."
)
# In the order of the tables of `evaluate words`.
WORDS = tuple(
    Experiment(name, f"Word translation (5.3): {title}", _WORDS, headline="csls_r10")
    for name, title in {
        "words": "whole words",
        "words-different": "whole words spelt differently",
        "tokens": "tokens, as in the paper",
        "tokens-different": "tokens spelt differently",
    }.items()
)
WORD_MEASURES = ("before_cosine_r10", "cosine_r10", "before_csls_r10", "csls_r10", "rose_csls_r10")
# Systems whose matrices are drawn (Fig. 7 and 9).
DRAWN_SYSTEMS = ("best", "globetrotter-mini", "best-photos-11-pictograms")


@dataclass(frozen=True)
class System:
    """A row of the tables: a shipped recipe, and its approximate minutes on one core."""

    recipe: str
    minutes: float


FIRST_SYSTEMS = (
    System("best", 12),
    System("globetrotter-mini", 10),
    System("supervised", 12),
    System("text-only", 8),
    System("sigurdsson", 5),
)
LATER_SYSTEMS = (
    System("without-transitive", 10),
    System("without-visual-contrastive", 10),
    System("without-cross-modal", 10),
    System("without-cloze", 9),
    System("without-alpha-x", 10),
    System("lample-conneau", 18),
    System("globetrotter-small", 8),
)
OF_ELEVEN = (
    System("best-photos-11-pictograms", 27),
    System("supervised-photos-11-balanced", 5),
    System("best-photos-11", 25),
)
# Systems measured by words and by answers from a corpus, early and late in a seed.
READ_FIRST, READ_THEN = (
    ("best", "globetrotter-mini"),
    ("supervised", "text-only", "sigurdsson", "lample-conneau"),
)


def globetrotter(study: Study) -> list[Planned]:
    """List the steps of all seeds; a step comes after those it needs."""
    return [step for seed in study.seeds for step in _of_seed(study, seed)]


def _of_seed(study: Study, seed: int) -> Iterator[Planned]:
    yield from (_trained(study, SENTENCES, system, seed) for system in FIRST_SYSTEMS)
    if seed == study.seeds[0]:  # solved in closed form, without randomness
        yield Planned(
            Step(SENTENCES, RIDGE_SYSTEM, 4, _ridge(study), seed), lambda: ridge_recipe(study.overrides)
        )
    for system in READ_FIRST:
        yield from _read(study, SENTENCES, system, seed)
    yield from (_trained(study, SENTENCES, system, seed) for system in LATER_SYSTEMS)
    for system in READ_THEN:
        yield from _read(study, SENTENCES, system, seed)
    yield from (_trained(study, PHOTOS_11, system, seed) for system in OF_ELEVEN)
    yield from _words(study, PHOTOS_11, OF_ELEVEN[0].recipe, seed, minutes=12)
    yield from appendix(study, SENTENCES, seed)


def _trained(study: Study, experiment: Experiment, system: System, seed: int) -> Planned:
    def run(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        train(study.data, folder, system.recipe, study.settings(seed))
        figures = measure(study.data, folder)
        pool = outcome(read_pool(folder / "photos"))
        return Outcome(
            measures=named(figures), matrices=pool.matrices if system.recipe in DRAWN_SYSTEMS else {}
        )

    step = Step(experiment, system.recipe, system.minutes, run, seed)
    return Planned(step, lambda: study.recipe(system.recipe, seed))


def named(figures: Figures) -> Figures:
    """Order and name figures for the report: the paper's measure first, CSLS before cosine."""
    titles = {name: f"between scripts, CSLS R@{name.rpartition('r')[2]}" for name in BETWEEN_SCRIPTS}
    order = (
        POOL_MEASURE,
        *sorted(TRANSLATION_MEASURES, key=lambda name: name.startswith("cosine")),
        *BETWEEN_SCRIPTS,
    )
    return {titles.get(name, name): figures[name] for name in order if name in figures}


def _ridge(study: Study) -> Run:
    def run(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        known = ridge_recipe(study.overrides).data.languages
        languages = available(study.data / "benchmark" / BENCHMARK, ".txt", known, [])
        return Outcome(measures=named(measure_ridge(study.data, languages, study.overrides)))

    return run


def _read(study: Study, trained: Experiment, system: str, seed: int) -> Iterator[Planned]:
    """Measure a system's answers from a corpus, and its words."""
    needs = (f"{trained.name}.{system}.{seed}",)
    step = Step(CORPUS, system, 6, _suite(study, "corpus", needs[0]), seed, needs=needs)
    yield Planned(step, lambda: study.recipe(system, seed))
    yield from _words(study, trained, system, seed, minutes=4)


def _words(study: Study, trained: Experiment, system: str, seed: int, minutes: float) -> Iterator[Planned]:
    """Four steps for the tables of one measurement: the first step measures, the others read its report."""
    bundle = f"{trained.name}.{system}.{seed}"
    measured = f"{WORDS[0].name}.{system}.{seed}"
    for number, experiment in enumerate(WORDS):
        run = _table(measured, number) if number else _suite(study, "words", bundle)
        needs = (measured,) if number else (bundle,)
        step = Step(experiment, system, 0.1 if number else minutes, run, seed, needs=needs)
        yield Planned(step, lambda: study.recipe(system, seed))


def _suite(study: Study, suite: str, trained: str) -> Run:
    """Measure the bundle of the step `trained` on a suite; the outcome is its first table."""

    def run(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        bundle = needed[trained] / "bundle"
        call("evaluate", suite, "--encoder", bundle, "--data", study.data, "--out", folder)
        return _picked(folder, 0)

    return run


def _table(measured: str, number: int) -> Run:
    return lambda folder, needed: _picked(needed[measured], number)


def _picked(report: Path, number: int) -> Outcome:
    """The measures of a report's table; of word translation only those that the paper has."""
    measures = outcome(read_tables(report)[number]).measures
    kept = {key: value for key, value in measures.items() if key in WORD_MEASURES or "_r10" not in key}
    return Outcome(measures=kept)
