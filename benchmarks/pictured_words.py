"""Words of languages that an index has no corpus of: by vectors alone, and by pictures, as users get them.

    python -m benchmarks.pictured_words --index INDEX --data DIR [--part test] [--fit] [sw cy ti ...]

Asked for English are the names of pictograms in one word, of a part of the concepts: of those in `train` the
encoder has learned drawings, of `dev` and `test` none; without codes in all languages that the encoder knows,
the index has no corpus of, and that have LEAST_NAMES of them. right: per cent whose first answer is the
English name or keyword; sure: per cent with a confidence of 0.5 or more, right_of_sure: of these. --fit
prints PICTURED_WORD (index/confidence), fitted to the names of the part and of `train`, and to the words of
corpora/dictionary, asked for English as if German and French had no corpus.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from evaluation.suites.pictograms import is_flag, part_of, read_names
from index.answers.answer import Answers
from index.answers.candidates import firsts, joined
from index.answers.pictured_words import pictured_candidates
from index.answers.translator import Translator
from index.answers.word_index import WordIndex, fold
from index.confidence import MIN_CONFIDENCE
from index.confidence.models import PICTURED_WORD, fit

LEAST_NAMES = 15  # of a language that is asked
DICTIONARY = Path(__file__).resolve().parents[1] / "corpora" / "dictionary"
Asked = dict[str, set[str]]  # word -> right answers


@click.command()
@click.argument("codes", nargs=-1)
@click.option("--index", type=click.Path(path_type=Path), required=True)
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--part", type=click.Choice(["train", "dev", "test"]), default="test")
@click.option("--fit", "fitted", is_flag=True)
def main(codes: tuple[str, ...], index: Path, data: Path, part: str, fitted: bool) -> None:
    pictured = Translator.open(index)
    sentences, words = pictured.sentence_indexes, pictured.word_indexes
    plain = Translator(pictured.manifest, pictured.encoder, sentences, words)  # without pictograms
    if not codes:
        files = {file.stem for file in (data / "pictograms" / "names").glob("*.tsv")}
        unheard = sorted(files & set(pictured.encoder.bundle.manifest.languages) - sentences.keys())
        codes = tuple(one for one in unheard if len(names(data, one, part, words["en"])) >= LEAST_NAMES)
    asked = {code: names(data, code, part, words["en"]) for code in codes}
    if fitted:
        asked = {code: asked[code] | names(data, code, "train", words["en"]) for code in codes}
        asked |= {code: entries(code, words["en"]) for code in ("de", "fr")}
        click.echo(fitted_confidence(pictured, asked))
        return
    for label, translator in {"by vectors": plain, "by pictures": pictured}.items():
        rows = {code: figures(translator.words(list(of), code, "en"), of) for code, of in asked.items()}
        means = np.mean([list(row.values()) for row in rows.values()], axis=0).round(1).tolist()
        rows["mean"] = dict(zip(rows[codes[0]], means, strict=True))
        click.echo(json.dumps({label: rows}))


def names(data: Path, code: str, part: str, english: WordIndex) -> Asked:
    """The names of a part of the concepts, with their English name, which the index has, and keywords."""
    own, others = (read_names(data / "pictograms" / "names" / f"{one}.tsv") for one in (code, "en"))
    return {
        fold(named.name): {fold(word) for word in (others[sign].name, *others[sign].keywords)}
        for sign, named in own.items()
        if part_of(sign) == part and not is_flag(sign) and sign in others
        if " " not in fold(named.name) and others[sign].name in english
    }


def entries(code: str, english: WordIndex) -> Asked:
    """The words of a dictionary with the English words that the index has."""
    asked: Asked = {}
    for line in (DICTIONARY / f"en-{code}.tsv").read_text("utf-8").splitlines():
        word, translation = map(fold, line.split("\t")[:2])
        if word in english:
            asked.setdefault(translation, set()).add(word)
    return asked


def figures(answers: Sequence[Answers], asked: Asked) -> dict[str, float]:
    """How many first answers are right, sure, and right of these, in per cent, and how many were asked."""
    firsts_right = [fold(row[0].text) in right for row, right in zip(answers, asked.values(), strict=True)]
    right = np.array(firsts_right)
    sure = np.array([row[0].confidence >= MIN_CONFIDENCE for row in answers])
    shares = right.mean(), sure.mean(), right[sure].mean() if sure.any() else 0.0
    per_cent = [round(100 * float(share), 1) for share in shares]
    return {"n": len(right), **dict(zip(("right", "sure", "right_of_sure"), per_cent, strict=True))}


def fitted_confidence(translator: Translator, asked: Mapping[str, Asked]) -> str:
    """The model of confidence fitted to the first answers, as JSON."""
    english, tables = translator.word_indexes["en"], []
    assert translator.pictograms is not None
    for code, of in asked.items():
        unknown = WordIndex(code, translator.encoder)
        table = pictured_candidates(list(of), unknown, english, translator.pictograms.vectors, 1)
        table = table.take(firsts(table["question"]))
        found = [english.text(row) in right for row, right in zip(table["row"], of.values(), strict=True)]
        tables.append(table.with_columns(right=np.array(found)))
    every = joined(tables)
    return fit({name: every[name] for name in PICTURED_WORD.weights}, every["right"]).model_dump_json()


if __name__ == "__main__":
    main()
