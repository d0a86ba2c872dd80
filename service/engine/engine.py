"""Engine: answers queries from one version of an index and the cache.

A request uses one engine from beginning to end, so that its answer is from one version. The batcher and the
cache are shared by the engines of all versions (index_manager.py).
"""

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, cast

from index.encoder.vectors import Vectors
from index.errors import StoreError
from index.search.translator import Match, Translator
from index.text.normalisation import clean
from index.text.placeables import without_tags
from index.text.pre_tokens import Tokens
from service.engine.answers import Answers, filter_by_confidence, to_answers
from service.engine.batching import Batcher, QueueFullError, Run
from service.engine.cache import Cache, CacheKey
from service.engine.languages import Languages, Query, divided
from service.engine.pictograms import pictograms_of, teaching_pictures
from service.http.problems import overloaded, store_unreachable
from service.observability.metrics import Metrics, Stage
from service.schemas import Kind, Pictogram

log = logging.getLogger("passepartout.store")

CLEANED_AT_ONCE = 4096  # characters
Result = TypeVar("Result")


class Engine:
    """Answers from the cache, or else from the index, which is searched in the batcher's threads.

    Files take many times as long as a question, so they are handled by the separate batcher `slow_batcher`.
    """

    def __init__(
        self,
        translator: Translator,
        cache: Cache,
        batcher: Batcher,
        metrics: Metrics,
        slow_batcher: Batcher | None = None,
    ) -> None:
        self.translator = translator
        self.languages = Languages(translator.languages)
        self._cache, self._batcher, self._metrics = cache, batcher, metrics
        self._slow_batcher = slow_batcher or batcher

    async def clean(self, texts: Sequence[str], cleaner: Callable[[str], str] = clean) -> list[str]:
        """Clean texts; long ones in the batcher, since normalising Unicode can take milliseconds."""
        if sum(map(len, texts)) <= CLEANED_AT_ONCE:
            return list(map(cleaner, texts))
        return await self._batched("clean", lambda batch: list(map(cleaner, batch)), texts)

    async def divide(self, queries: Sequence[Query]) -> list[list[Query]]:
        """What `divided` gives; many long texts are divided by the batcher, as in `clean`."""
        if sum(len(query.text) for query in queries) <= CLEANED_AT_ONCE:
            return divided(queries)
        return await self._batched("clean", divided, queries)

    async def language_chances(self, kind: Kind, texts: Sequence[str]) -> list[dict[str, float]]:
        """The probabilities of each text's languages, highest first; empty for a text without letters."""
        run = self._sentence_languages if kind == "sentence" else self._word_languages
        return await self._batched("detect", run, texts)

    async def translate(
        self,
        kind: Kind,
        queries: Sequence[Query],
        k: int,
        min_confidence: float = 0.0,
        *,
        near: bool = False,
    ) -> list[dict[str, Answers]]:
        """Find up to `k` answers to each query in each of its targets, best first.

        `near` adds near answers. Raises ProblemError if too much is waiting.
        """
        keys = [self._cache_keys(kind, query, k) for query in queries]
        answers = await self._look_up(kind, list(dict.fromkeys(key for row in keys for key in row)))
        return [
            {key.target: self._likely_answers(key, answers[key], min_confidence, near) for key in row}
            for row in keys
        ]

    async def remember(self, texts: Sequence[str], source: str, target: str) -> list[list[Match]]:
        """Look texts up in the translation memory alone, as Translator.remember does."""
        return await self._batched("search", self._remember, [(text, source, target) for text in texts])

    async def run_slow(self, act: Callable[[], Result]) -> Result:
        """Call `act` in the thread for slow work; ProblemError if too much is waiting for it."""

        def run(acts: Sequence[Callable[[], Result]]) -> list[Result]:
            return [act() for act in acts]

        (result,) = await self._compute(run, {object(): act}, self._slow_batcher)
        return cast(Result, result)

    async def pictograms(self, texts: Sequence[str]) -> dict[str, list[Pictogram]]:
        """The pictograms of each text: what the encoder sees in it, nearest first."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, await self._batched("encode", self._pictograms, distinct), strict=True))

    async def teaching_pictures(self) -> list[tuple[str, str]]:
        """The encoder's pictograms with their emoji, those most representative of the others first."""
        return await self.run_slow(lambda: self._ordered_pictures)

    def warm_up(self) -> None:
        """Search once in each language, so that the first request need not wait for pages of the index."""
        for language in self.translator.languages:
            if language.targets:
                query = Query("warm-up", language.code, language.targets[:1])
                self._search_sentences(self._cache_keys("sentence", query, 1))

    def _cache_keys(self, kind: Kind, query: Query, k: int) -> list[CacheKey]:
        model, version = self.translator.model, self.translator.version
        return [
            CacheKey(model, version, kind, query.text, query.source, target, k) for target in query.targets
        ]

    async def _look_up(self, kind: Kind, keys: Sequence[CacheKey]) -> dict[CacheKey, Answers]:
        """Get answers from the cache; compute and cache those that are missing. All `keys` are different."""
        with self._metrics.stage("cache"):
            cached = await self._cache.get(keys)
        answers = {key: answers for key, answers in zip(keys, cached, strict=True) if answers is not None}
        missing: dict[Hashable, CacheKey] = {key: key for key in keys if key not in answers}
        self._metrics.cached(len(answers), len(missing))
        if missing:
            run = self._search_sentences if kind == "sentence" else self._search_words
            with self._metrics.stage("compute"):
                computed = await self._compute(run, missing, self._batcher)
            new_answers = dict(zip(missing.values(), computed, strict=True))
            await self._cache.put(new_answers)
            answers |= new_answers
        return answers

    async def _batched(self, stage: Stage, run: Run, items: Sequence[Any]) -> list[Any]:
        """Compute results, which are not cached, in the batcher."""
        with self._metrics.stage(stage):
            return await self._compute(run, {object(): item for item in items}, self._batcher)

    async def _compute(self, run: Run, items: Mapping[Hashable, object], batcher: Batcher) -> list[Any]:
        try:
            return await batcher.compute(run, items)
        except QueueFullError:
            raise overloaded() from None
        except StoreError as error:
            if error.__cause__ is not None:  # otherwise Milvus was not asked, so soon after a failure
                log.warning("%s", error)  # contains no user data
            raise store_unreachable() from None

    def _likely_answers(self, key: CacheKey, answers: Answers, min_confidence: float, near: bool) -> Answers:
        likely = filter_by_confidence(answers, min_confidence, near)
        best = answers[0].confidence if answers else 0.0
        self._metrics.answered(key.kind, key.source, key.target, best, bool(likely))
        return likely

    # The functions that the batcher runs. Methods of one engine are equal, so requests share a call.

    def _search_sentences(self, keys: Sequence[CacheKey]) -> list[Answers]:
        """Encode each text once, whatever its number of targets, and search once for each language pair."""
        rows = {text: row for row, text in enumerate(dict.fromkeys((key.source, key.text) for key in keys))}
        vectors = self._encode(list(rows))
        answers: dict[CacheKey, Answers] = {}
        for (source, target), pair_keys in _by_pair(keys).items():
            with self._metrics.stage("search"):
                pair_texts = [key.text for key in pair_keys]
                pair_vectors = vectors[[rows[source, text] for text in pair_texts]]
                max_k = max(key.k for key in pair_keys)
                matches = self.translator.sentences(pair_texts, source, target, max_k, vectors=pair_vectors)
                matches = self.translator.compare(pair_texts, pair_vectors, source, target, matches)
            answers |= {key: to_answers(row[: key.k]) for key, row in zip(pair_keys, matches, strict=True)}
        return [answers[key] for key in keys]

    def _pictograms(self, texts: Sequence[str]) -> list[list[Pictogram]]:
        return pictograms_of(self.translator, texts)

    @cached_property
    def _ordered_pictures(self) -> list[tuple[str, str]]:
        return teaching_pictures(self.translator)

    def _search_words(self, keys: Sequence[CacheKey]) -> list[Answers]:
        answers: dict[CacheKey, Answers] = {}
        for (source, target), pair_keys in _by_pair(keys).items():
            with self._metrics.stage("search"):
                max_k = max(key.k for key in pair_keys)
                matches = self.translator.words([key.text for key in pair_keys], source, target, max_k)
            answers |= {key: to_answers(row[: key.k]) for key, row in zip(pair_keys, matches, strict=True)}
        return [answers[key] for key in keys]

    def _remember(self, items: Sequence[tuple[str, str, str]]) -> list[list[Match]]:
        pairs: dict[tuple[str, str], list[int]] = {}
        for place, (_, source, target) in enumerate(items):
            pairs.setdefault((source, target), []).append(place)
        matches: list[list[Match]] = [[] for _ in items]
        for (source, target), places in pairs.items():
            texts = [items[place][0] for place in places]
            for place, row in zip(places, self.translator.remember(texts, source, target), strict=True):
                matches[place] = row
        return matches

    def _sentence_languages(self, texts: Sequence[str]) -> list[dict[str, float]]:
        return [self.translator.language_chances(text) for text in texts]

    def _word_languages(self, texts: Sequence[str]) -> list[dict[str, float]]:
        return [self.translator.language_chances(text, kind="word") for text in texts]

    def _encode(self, asked: Sequence[tuple[str, str]]) -> Vectors:
        """Encode (source, text) pairs -> (n, d)."""
        self._metrics.batch(len(asked))
        encoder = self.translator.encoder
        texts = [without_tags(text) for _, text in asked]
        with self._metrics.stage("tokenise"):
            tokens = Tokens.of(encoder.tokenizer.encode(texts))
        with self._metrics.stage("encode"):
            vectors = encoder.encode_tokens(tokens)
            for language in {source for source, _ in asked} & encoder.bundle.taught.keys():
                rows = [row for row, (source, _) in enumerate(asked) if source == language]
                vectors[rows] = encoder.as_taught(language, [texts[row] for row in rows], vectors[rows])
            return vectors


def _by_pair(keys: Sequence[CacheKey]) -> dict[tuple[str, str], list[CacheKey]]:
    pairs: dict[tuple[str, str], list[CacheKey]] = {}
    for key in keys:
        pairs.setdefault((key.source, key.target), []).append(key)
    return pairs
