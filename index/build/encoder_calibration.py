"""Fits the confidence that comes with an encoder on text whose right answers are known."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations
from zlib import crc32

import numpy as np

from index.answers.candidates import ANSWERS_CONSIDERED, LEFT_OUT, Candidates, firsts, joined, ranked
from index.answers.evidence import word_candidates
from index.answers.sentence_features import Features
from index.answers.word_index import WordIndex, fold
from index.arrays import Vectors
from index.build.calibration import fit_all, fit_choice
from index.build.probes import dictionary, everyday, first_scenes, reworded, shortened
from index.confidence.models import Model, Models
from index.encoder.text_encoder import TextEncoder
from index.vectors.faiss import FaissIndex
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, neighbourhood_means
from index.words.contexts import in_context
from index.words.vocabulary import by_frequency, count_words, training_words

POOL_SIZES = (100, 300, 1000)  # candidates; several sizes, since confidence depends on the number
MAX_PAIRS = 60  # most language pairs of a set: a set in 100 languages must not outweigh one in four
ENGLISH = "en"
# What the models weigh.
SENTENCE, PARAPHRASE = ("cosine", "score", "gap", "log_candidates"), ("cosine", "gap")
WORD = ("cosine", "score", "gap", "shortfall", "rarer")


def fit_models(encoder: TextEncoder, sets: Sequence[Mapping[str, Vectors]], seed: int) -> Models:
    """Fit the models of sentences, paraphrases and words; the first on `sets` of (n, d) unit vectors.

    Row i of a set is about the same in each language. Without a set of two languages, that of sentences is
    fitted on the English scenes and on these with a word left out.
    """
    several = [vectors for vectors in sets if len(vectors) > 1]
    if not several:
        english = first_scenes(ENGLISH)
        several = [{ENGLISH: encoder.encode(english), "shortened": encoder.encode(shortened(english))}]
    return Models(
        sentence=calibrate_sentences(several, seed),
        paraphrase=calibrate_paraphrases(encoder, seed),
        word=calibrate_words(encoder),
    )


def fit_models_on_scenes(encoder: TextEncoder, seed: int) -> Models:
    """Fit these models on text of this project alone."""
    texts = {code: lines for code in encoder.bundle.manifest.languages if (lines := first_scenes(code))}
    return fit_models(encoder, [{code: encoder.encode(lines) for code, lines in texts.items()}], seed)


def calibrate_sentences(sets: Sequence[Mapping[str, Vectors]], seed: int) -> Model:
    """For each ordered pair of languages (at most MAX_PAIRS of a set, drawn by `seed`), ask every sentence.

    It is asked in pools of POOL_SIZES candidates, once with the right answer among them and once without, so
    that a low confidence also means "not in the index".
    """
    draw, tables = np.random.default_rng(seed), list[Candidates]()
    for vectors in sets:
        n, pairs = len(next(iter(vectors.values()))), list(permutations(vectors, 2))
        if len(pairs) > MAX_PAIRS:
            pairs = [pairs[i] for i in draw.choice(len(pairs), MAX_PAIRS, replace=False)]
        for source, target in pairs:
            for size in sorted({min(n, pool) for pool in POOL_SIZES}):
                rows = draw.choice(n, size, replace=False)
                cosines = vectors[source][rows] @ vectors[target][rows].T
                tables += [top_answers(cosines, answerable) for answerable in (True, False)]
    return fit_all(joined(tables), SENTENCE)


def calibrate_paraphrases(encoder: TextEncoder, seed: int) -> Model:
    """Ask reworded scenes and sayings of each language among the texts themselves, as sentences are asked.

    By cosine and gap alone: what else is evidence of them an index computes in its own way.
    """
    draw, tables = np.random.default_rng(seed), list[Candidates]()
    codes = [code for code in encoder.bundle.manifest.languages if everyday(code)] or [ENGLISH]
    for code in codes:
        texts = everyday(code)
        rows = draw.permutation(len(texts))[: POOL_SIZES[-1]]
        chosen = [texts[row] for row in rows.tolist()]
        own, asked = (encoder.encode(lines, language=code) for lines in (chosen, reworded(chosen, seed)))
        for size in POOL_SIZES:
            cosines = asked[:size] @ own[:size].T
            tables += [top_answers(cosines, answerable) for answerable in (True, False)]
    return fit_all(joined(tables), PARAPHRASE)


def top_answers(cosines: Vectors, answerable: bool) -> Candidates:
    """(n, n) cosines -> each row's best answer by CSLS, with the columns of SENTENCE and `right`.

    The right answer of row i is in column i. Unless `answerable`, the right answers are removed.
    """
    if not answerable:
        cosines = np.where(np.eye(len(cosines), dtype=bool), np.float32(LEFT_OUT), cosines)
    rows = np.argsort(-cosines, axis=1, kind="stable")
    means = neighbourhood_means(cosines.T)[rows]
    table = ranked(np.take_along_axis(cosines, rows, axis=1), rows, means, 2)
    table = table.take(firsts(table["question"]))
    size = np.full(len(table), np.log(len(cosines)))
    return table.with_columns(log_candidates=size, right=(table["row"] == table["question"]) & answerable)


def calibrate_words(encoder: TextEncoder) -> Model:
    """Ask half of the words of each dictionary of corpora/dictionary, in both directions.

    Of those in languages that the encoder knows; of all for an encoder that knows none of them.
    Of an index of the lines of corpora/everyday: words whose sentences an index has are found more surely
    than words alone, among all words of their language and not only among a dictionary's.
    """
    every, known = list(dictionary()), set(encoder.bundle.manifest.languages)
    found = [entry for entry in every if known.issuperset(entry[:2])] or every
    indexes = _word_indexes(
        encoder, sorted({code for source, target, _ in found for code in (source, target)})
    )
    tables = []
    for source, target, entries in found:
        tables.append(_answered_words(indexes[source], indexes[target], entries))
        tables.append(_answered_words(indexes[target], indexes[source], [pair[::-1] for pair in entries]))
    return fit_choice(joined(tables), WORD)


def _word_indexes(encoder: TextEncoder, codes: Sequence[str]) -> dict[str, WordIndex]:
    """The words of languages as an index of the lines of corpora/everyday has them."""
    counts, vectors = {}, {}
    for code in codes:
        lines = everyday(code)
        words = training_words(encoder.bundle, code) + Counter(count_words(lines, code))
        counts[code] = by_frequency(words)
        of_lines = Features.of([lines], list(counts[code]), code).words_of(np.arange(len(lines)))
        alone = encoder.word_vectors(list(counts[code]), code)
        vectors[code] = in_context(alone, of_lines, encoder.encode(lines, language=code))
    indexes = {code: FaissIndex.of(own) for code, own in vectors.items()}
    found = {}
    for code, own in counts.items():
        others = [other for other in codes if other != code]
        nearest = [indexes[other].search(vectors[code], CSLS_NEIGHBOURS, batched=True)[0] for other in others]
        means = np.column_stack([neighbourhood_means(cosines) for cosines in nearest])
        found[code] = WordIndex(code, encoder, indexes[code], list(own), list(own.values()), means, others)
    return found


def _answered_words(asked: WordIndex, index: WordIndex, entries: Sequence[tuple[str, str]]) -> Candidates:
    """The answers to words of a dictionary that has a translation in the index, with the column `right`."""
    translations: dict[str, set[str]] = defaultdict(set)
    for word, translation in entries:
        if translation in index and crc32(word.encode()) % 2 == 0:
            translations[fold(word)].add(fold(translation))
    words = list(translations)
    table = word_candidates(words, asked.rows_of(words), asked, index, ANSWERS_CONSIDERED)
    pairs = zip(table["question"].tolist(), table["row"].tolist(), strict=True)
    right = [index.text(row) in translations[words[question]] for question, row in pairs]
    return table.with_columns(right=np.array(right, bool))
