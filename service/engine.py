"""The translator and the cache, together answering orders."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from index.encoder import Vectors
from index.translator import Match, Translator
from service.cache import Answers, Cache, cache_key
from service.languages import Asked, Languages
from service.metrics import Metrics
from service.schemas import Answer, Kind

DIGITS = 4  # of scores and confidences
# One search in so many sentences takes about 2 ms: less than it gains to leave the event loop for a thread
# (benchmarks/service_latency.py: 0.3 ms of a request of 4 ms). Beyond, other requests would wait for it.
QUICK_SENTENCES = 50_000


@dataclass(frozen=True)
class Lookup:
    """One text to find in one target language."""

    text: str
    source: str
    target: str


class Engine:
    """Answers from the cache, else from the index, which is searched by at most `threads` threads at once."""

    def __init__(
        self, translator: Translator, cache: Cache, threads: int, metrics: Metrics | None = None
    ) -> None:
        self.translator = translator
        self.languages = Languages(translator.languages)
        self._quick = all(language.sentences <= QUICK_SENTENCES for language in translator.languages)
        self._cache = cache
        self._metrics = metrics or Metrics()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="search")

    async def detect(self, kind: Kind, texts: Sequence[str]) -> list[str | None]:
        """The language of each text, None where it cannot be told."""
        with self._metrics.stage("detect"):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._detect, kind, texts)

    async def language_chances(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """The probability of each language for each sentence, the likeliest first."""
        chances = self.translator.language_chances
        with self._metrics.stage("detect"):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, lambda: [chances(text) for text in texts])

    async def translate(
        self, kind: Kind, asked: Sequence[Asked], k: int, least: float = 0.0
    ) -> list[dict[str, Answers]]:
        """The at most `k` answers, best first, of each text in each of its targets, none less likely than
        `least`."""
        lookups = [Lookup(one.text, one.source, target) for one in asked for target in one.targets]
        found = await self._find(kind, lookups, k)
        shown = {lookup: self._likely(kind, lookup, found[lookup], least) for lookup in lookups}
        return [
            {target: shown[Lookup(one.text, one.source, target)] for target in one.targets} for one in asked
        ]

    def warm_up(self) -> None:
        """One search in each language, so that the first request waits for no page of the index."""
        for language in self.translator.languages:
            for target in language.targets[:1]:
                self._compute("sentence", [Lookup("warm-up", language.code, target)], 1)

    async def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        await self._cache.close()

    def _key(self, kind: Kind, lookup: Lookup, k: int) -> str:
        model, version = self.translator.model, self.translator.version
        return cache_key(model, version, kind, lookup.text, lookup.source, lookup.target, k)

    async def _find(self, kind: Kind, lookups: Sequence[Lookup], k: int) -> dict[Lookup, Answers]:
        """From the cache, else computed and put there."""
        keys = {lookup: self._key(kind, lookup, k) for lookup in lookups}
        with self._metrics.stage("cache"):
            cached = await self._cache.get(list(keys.values()))
        found = {lookup: answers for lookup, answers in zip(keys, cached, strict=True) if answers is not None}
        missing = [lookup for lookup in keys if lookup not in found]
        self._metrics.cached(len(found), len(missing))
        if missing:
            computed = await self._search(kind, missing, k)
            with self._metrics.stage("cache"):
                await self._cache.put({keys[lookup]: answers for lookup, answers in computed.items()})
            found |= computed
        return found

    def _likely(self, kind: Kind, lookup: Lookup, answers: Answers, least: float) -> Answers:
        likely = tuple(answer for answer in answers if answer.confidence >= least)
        best = answers[0].confidence if answers else 0.0
        self._metrics.answered(kind, lookup.source, lookup.target, best, bool(likely))
        return likely

    def _detect(self, kind: Kind, texts: Sequence[str]) -> list[str | None]:
        return [self.translator.detect(text, kind=kind) for text in texts]

    async def _search(self, kind: Kind, lookups: Sequence[Lookup], k: int) -> dict[Lookup, Answers]:
        if len(lookups) == 1 and self._quick:
            return self._compute(kind, lookups, k)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._take, time.perf_counter(), kind, lookups, k)

    def _take(self, asked_at: float, kind: Kind, lookups: Sequence[Lookup], k: int) -> dict[Lookup, Answers]:
        self._metrics.spent("queue", time.perf_counter() - asked_at)
        return self._compute(kind, lookups, k)

    def _compute(self, kind: Kind, lookups: Sequence[Lookup], k: int) -> dict[Lookup, Answers]:
        """Each text is encoded once, whatever the number of targets; each pair of languages is one search."""
        texts = list(dict.fromkeys(lookup.text for lookup in lookups))
        vectors = self._encode(texts) if kind == "sentence" else None
        rows = {text: row for row, text in enumerate(texts)}
        answers: dict[Lookup, Answers] = {}
        for (source, target), batch in _by_pair(lookups).items():
            wanted = [lookup.text for lookup in batch]
            with self._metrics.stage("search"):
                if vectors is None:
                    matches = self.translator.words(wanted, source, target, k)
                else:
                    some = vectors[[rows[text] for text in wanted]]
                    matches = self.translator.sentences(wanted, source, target, k, vectors=some)
            answers |= {lookup: _answers(row) for lookup, row in zip(batch, matches, strict=True)}
        return answers

    def _encode(self, texts: Sequence[str]) -> Vectors:
        self._metrics.batch(len(texts))
        with self._metrics.stage("encode"):
            return self.translator.encode(texts)


def _by_pair(lookups: Sequence[Lookup]) -> dict[tuple[str, str], list[Lookup]]:
    pairs: dict[tuple[str, str], list[Lookup]] = {}
    for lookup in lookups:
        pairs.setdefault((lookup.source, lookup.target), []).append(lookup)
    return pairs


def _answers(matches: Sequence[Match]) -> Answers:
    return tuple(
        Answer(
            text=match.text,
            score=round(match.score, DIGITS),
            confidence=round(match.confidence, DIGITS),
            id=match.id,
            metadata=dict(match.metadata),
        )
        for match in matches
    )
