"""Pools: questions whose right answers are known, with the sentences of an index that are nearest to them.

The questions are aligned sentences of the index, or scenes whose translations are added to it as if they were
its last sentences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.answers.candidates import LEFT_OUT
from index.answers.evidence import Questions
from index.answers.sentence_features import WORDS_READ, Features
from index.answers.sentence_index import SentenceIndex
from index.answers.word_index import WordIndex
from index.arrays import Numbers, Vectors
from index.build import probes
from index.build.probes import Pair, Probes, encoded, first_scenes, reworded
from index.encoder.text_encoder import TextEncoder
from index.text.normalisation import words_of
from index.text.placeables import without_tags
from index.text.pre_tokens import Tokens
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, best_csls, neighbourhood_means
from index.vectors.vector_index import CANDIDATE_COUNT

TRIES_PER_QUESTION = 4  # sentences looked at for each question needed, since not all have a translation
LENGTHS_READ = 2000  # sentences of a language, to estimate its mean length
QUESTIONS_AT_ONCE = 256
MAX_SCENE_COPIES = 4  # of one scene that an index may have
COPY_COSINE = 0.9999  # at least, of a scene to its copy


@dataclass(frozen=True)
class Indexes:
    """The sentences and words of a version that is being built, by language."""

    sentences: Mapping[str, SentenceIndex]
    words: Mapping[str, WordIndex]

    def mean_lengths(self) -> dict[str, float]:
        """The mean length of evenly spaced sentences of each language."""
        lengths = {}
        for code, index in self.sentences.items():
            rows = np.unique(np.linspace(0, len(index) - 1, LENGTHS_READ).astype(np.int64))
            lengths[code] = float(index.features.lengths[rows].mean(dtype=np.float64))
        return lengths


@dataclass(frozen=True)
class Pool:
    """The neighbours of n questions, (n, m), and which of them are `right`.

    `means`, `best` (sentences,) and `features` are those of all sentences that may be answers, `words` their
    words; no `best` of sentences of the language of the questions.
    """

    asked: Questions
    cosines: Vectors
    rows: Numbers
    right: NDArray[np.bool_]
    means: NDArray[np.float32]
    best: NDArray[np.float32] | None
    features: Features
    words: WordIndex


def aligned(
    indexes: Indexes, pair: Pair, count: int, random: np.random.Generator
) -> tuple[Numbers, list[list[int]]]:
    """Draw up to `count` rows of the first language that have translations in the second, and their rows."""
    source, target = (indexes.sentences[code] for code in pair)
    if source.groups is None or target.groups is None:
        return np.zeros(0, np.int64), []
    tries = min(len(source), TRIES_PER_QUESTION * count)
    tried = random.choice(len(source), tries, replace=False, shuffle=False)
    found: list[tuple[int, list[int]]] = []
    for row in tried.tolist():
        if len(found) < count and (translations := source.translations(row, target)):
            found.append((row, translations))
    return np.array([row for row, _ in found], np.int64), [translations for _, translations in found]


def paraphrase_pools(indexes: Indexes, code: str, rows: Numbers, encoder: TextEncoder) -> Iterable[Pool]:
    """Sentences of a language, by their rows, reworded and asked of that language itself."""
    texts = reworded([indexes.sentences[code].text(row) for row in rows.tolist()])
    vectors = encoder.encode(texts, language=code)
    return text_pools(indexes, (code, code), texts, vectors, [[row] for row in rows.tolist()])


def scene_paraphrases(
    indexes: Indexes, codes: Iterable[str], count: int, encoder: TextEncoder
) -> dict[str, Iterable[Pool]]:
    """Scenes of languages reworded and asked of their own language, to whose sentences they are added.

    `count` over all languages.
    """
    drawn = probes.asked(
        indexes.sentences,
        [(code, code) for code in codes if first_scenes(code)],
        lambda code: reworded(first_scenes(code)),
        count,
        encoder,
    )
    return {
        code: scene_pools(
            indexes, (code, code), own, AddedScenes.to(indexes, code, np.sort(own.lines), encoder)
        )
        for (code, _), own in drawn.items()
    }


def sentence_pools(
    indexes: Indexes, pair: Pair, rows: Numbers, answers: Sequence[list[int]]
) -> Iterable[Pool]:
    """Sentences of the first language of `pair`, whose translations in the second are `answers`, by row."""
    source = indexes.sentences[pair[0]]
    texts = [source.text(row) for row in rows.tolist()]
    return text_pools(indexes, pair, texts, source.vectors.reconstruct(rows), answers)


def text_pools(
    indexes: Indexes, pair: Pair, texts: Sequence[str], vectors: Vectors, answers: Sequence[list[int]]
) -> Iterator[Pool]:
    """Texts in the first language of `pair`, whose right answers in the second are `answers`, by row."""
    source, target = pair
    index = indexes.sentences[target]
    for begin in range(0, len(texts), QUESTIONS_AT_ONCE):
        block = slice(begin, begin + QUESTIONS_AT_ONCE)
        cosines, rows = index.vectors.search(vectors[block], CANDIDATE_COUNT, batched=True)
        yield Pool(
            asked=_asked(source, texts[block], vectors[block]),
            cosines=cosines,
            rows=rows,
            right=np.stack([np.isin(row, right) for row, right in zip(rows, answers[block], strict=True)]),
            means=index.means_from(source),
            best=None if source == target else index.best_from(source),
            features=index.features,
            words=indexes.words[target],
        )


@dataclass(frozen=True)
class AddedScenes:
    """Scenes of one language as if they were the last sentences of its index.

    `lines` of corpora/everyday, ascending; `vectors` (n, d) of each; `copies` (n, m): rows of the index that
    are the same, or -1; `features` and `words`: of the index, with them.
    """

    lines: Numbers
    vectors: Vectors
    copies: Numbers
    features: Features
    words: WordIndex

    @classmethod
    def to(cls, indexes: Indexes, code: str, lines: Numbers, encoder: TextEncoder) -> "AddedScenes":
        """Add those scenes to a language of an index."""
        index, every = indexes.sentences[code], first_scenes(code)
        texts, _, vectors = encoded([every[line] for line in lines.tolist()], encoder, code)
        cosines, rows = index.vectors.search(vectors, MAX_SCENE_COPIES, batched=True)
        known = indexes.words[code]
        # All words of the texts, as an index has all words of its sentences.
        found = dict.fromkeys(word for text in texts for word in words_of(text, code))
        words = known.with_words([word for word in found if word not in known])
        added = Features.of([texts], words.spellings, code)
        copies = np.where(cosines >= COPY_COSINE, rows, -1)
        return cls(lines, vectors, copies, index.features.followed(added), words)


def scene_pools(indexes: Indexes, pair: Pair, asked: Probes, added: AddedScenes) -> Iterable[Pool]:
    """Scenes in the first language of `pair`, their translations `added` to the sentences of the second.

    The first language need not be in the index. Copies of the translations in the index are left out.
    """
    target, places = indexes.sentences[pair[1]], np.searchsorted(added.lines, asked.lines)
    around = np.zeros((2, len(added.lines)), np.float32)
    around[:, places] = _around(indexes, pair, added.vectors[places])
    known = np.stack([target.means_from(pair[0]), target.best_from(pair[0])])
    means, best = np.concatenate([known, around], axis=1)
    for begin in range(0, len(asked), QUESTIONS_AT_ONCE):
        block = np.arange(begin, min(begin + QUESTIONS_AT_ONCE, len(asked)))
        vectors, neighbours, own = asked.vectors[block], asked.rows[block], places[block]
        is_copy = (neighbours[:, :, None] == added.copies[own][:, None]).any(axis=2)
        cosines = np.where(is_copy, np.float32(LEFT_OUT), asked.cosines[block])
        right = np.zeros((len(block), 1 + neighbours.shape[1]), bool)
        right[:, 0] = True
        yield Pool(
            asked=_asked(pair[0], [asked.texts[row] for row in block.tolist()], vectors),
            cosines=np.column_stack([(vectors * added.vectors[own]).sum(1), cosines]),
            rows=np.column_stack([len(target) + own, neighbours]),
            right=right,
            means=means,
            best=best,
            features=added.features,
            words=added.words,
        )


def _asked(language: str, texts: Sequence[str], vectors: Vectors) -> Questions:
    """Questions without tokens, which tell the kind of a text: that is fitted by itself (domain.py)."""
    bare = [without_tags(text) for text in texts]
    words = [words_of(text, language)[:WORDS_READ] for text in bare]
    return Questions(language, texts, bare, vectors, Tokens.of([[]] * len(texts)), words)


def _around(indexes: Indexes, pair: Pair, vectors: Vectors) -> NDArray[np.float32]:
    """(2, n) the neighbourhood means and the best scores of new vectors of the second language of `pair`."""
    codes = indexes.sentences
    sources = [pair[0]] if pair[0] in codes else [code for code in codes if code != pair[1]]
    if not sources:
        return np.zeros((2, len(vectors)), np.float32)
    around = []
    for code in sources:
        cosines, rows = codes[code].vectors.search(vectors, CSLS_NEIGHBOURS, batched=True)
        means = neighbourhood_means(cosines)
        around.append([means, best_csls(cosines, means, codes[code].means_from(pair[1])[rows])])
    average: NDArray[np.float32] = np.mean(around, axis=0).astype(np.float32)
    return average
