"""Translation memory: a text that is (nearly) a sentence of the index is answered by its own target.

The sentences nearest by vector are compared as text: similarity is 1 less the Levenshtein distance over the
length of the longer one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rapidfuzz.distance import Levenshtein

from index.encoder.vectors import Vectors
from index.search.ranking import Match, Original
from index.search.sentence_index import SentenceIndex
from index.text.normalisation import clean

CANDIDATES = 8  # sentences of the source language compared with the text
NEARLY = 0.85  # the least similarity


def recall(
    source_index: SentenceIndex,
    target: SentenceIndex,
    texts: Sequence[str],
    vectors: Vectors,
    source: str,
    answers: Sequence[list[Match]],
    k: int,
) -> list[list[Match]]:
    """Put what the translations in `source_index` say before the `answers` in `target`, k in all.

    Such a match is "exact" or "memory": it has an original, and that one's similarity is its confidence.
    """
    if source_index.groups is None or target.groups is None or not len(texts):
        return list(answers)
    nearest = source_index.vectors.search(vectors, CANDIDATES)[1].tolist()

    def remembered(row: int, text: str) -> Iterator[Match]:
        return _remembered(source_index, target, text, vectors[row : row + 1], source, nearest[row])

    return [
        _first(list(remembered(row, text)), matches, k)
        for row, (text, matches) in enumerate(zip(texts, answers, strict=True))
    ]


def _remembered(
    source_index: SentenceIndex,
    target: SentenceIndex,
    text: str,
    query: Vectors,
    source: str,
    nearest: Sequence[int],
) -> Iterator[Match]:
    """The targets of the candidate that is most like the text and has any."""
    if source_index.groups is None or target.groups is None:
        return
    for similarity, row in _alike(source_index, clean(text), nearest):
        if rows := target.groups.rows(source_index.groups.of(row)):
            sentence = source_index.sentence(row)
            for match in target.assess(query, rows, source, text):
                yield replace(
                    match,
                    confidence=similarity,
                    match="exact" if similarity == 1 else "memory",
                    similarity=similarity,
                    original=Original(sentence.text, sentence.id),
                )
            return


def _alike(source_index: SentenceIndex, text: str, rows: Sequence[int]) -> list[tuple[float, int]]:
    """Similarity and row, the most alike first."""
    texts = [clean(source_index.sentence(row).text) for row in rows]
    pairs = [
        (Levenshtein.normalized_similarity(text, other, score_cutoff=NEARLY), row)
        for row, other in zip(rows, texts, strict=True)
    ]
    return sorted((pair for pair in pairs if pair[0] >= NEARLY), key=lambda pair: (-pair[0], pair[1]))


def _first(remembered: list[Match], matches: Sequence[Match], k: int) -> list[Match]:
    # Of several targets of one source, the one whose vector is nearest.
    remembered = sorted(remembered, key=lambda match: -match.score)
    known = {match.id for match in remembered}
    return [*remembered, *(match for match in matches if match.id not in known)][:k]
