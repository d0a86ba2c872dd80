"""Translation memory: a text that is (nearly) a sentence of the index is answered by its own target.

The sentences nearest by vector are compared as text: similarity is 1 less the Levenshtein distance over the
length of the longer one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rapidfuzz.distance import Levenshtein

from index.encoder.vectors import Vectors
from index.search.ranking import Match
from index.search.sentence_index import SentenceIndex
from index.text.normalisation import clean

CANDIDATES = 8  # sentences of the source language compared with the text
NEARLY = 0.85  # the least similarity


def recall(
    own: SentenceIndex,
    target: SentenceIndex,
    texts: Sequence[str],
    vectors: Vectors,
    source: str,
    found: Sequence[list[Match]],
    k: int,
) -> list[list[Match]]:
    """Put what `own`'s translations say before the answers `found` in `target`, k in all.

    Such an answer has `metadata["memory"]`: the sentence it translates, its id, its similarity to the text.
    That of the very text has confidence 1, since its file says so; others keep what their vectors give.
    """
    if own.groups is None or target.groups is None or not len(texts):
        return list(found)
    nearest = own.vectors.search(vectors, CANDIDATES)[1].tolist()
    return [
        _first(list(_remembered(own, target, text, vectors[row : row + 1], source, nearest[row])), matches, k)
        for row, (text, matches) in enumerate(zip(texts, found, strict=True))
    ]


def _remembered(
    own: SentenceIndex, target: SentenceIndex, text: str, query: Vectors, source: str, nearest: Sequence[int]
) -> Iterator[Match]:
    """The targets of the candidate that is most like the text and has any."""
    if own.groups is None or target.groups is None:
        return
    for similarity, row in _alike(own, clean(text), nearest):
        if rows := target.groups.rows(own.groups.of(row)):
            sentence = own.sentence(row)
            memory = {"source": sentence.text, "id": sentence.id, "similarity": round(similarity, 3)}
            for match in target.assess(query, rows, source, text):
                confidence = 1.0 if similarity == 1 else match.confidence
                yield replace(match, confidence=confidence, metadata={**match.metadata, "memory": memory})
            return


def _alike(own: SentenceIndex, text: str, rows: Sequence[int]) -> list[tuple[float, int]]:
    """Similarity and row, the most alike first."""
    pairs = [
        (Levenshtein.normalized_similarity(text, clean(own.sentence(row).text), score_cutoff=NEARLY), row)
        for row in rows
    ]
    return sorted((pair for pair in pairs if pair[0] >= NEARLY), key=lambda pair: (-pair[0], pair[1]))


def _first(remembered: list[Match], matches: Sequence[Match], k: int) -> list[Match]:
    # Of several targets of one source, the one whose vector is nearest.
    remembered = sorted(remembered, key=lambda match: -match.score)
    known = {match.id for match in remembered}
    return [*remembered, *(match for match in matches if match.id not in known)][:k]
