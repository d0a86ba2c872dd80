"""ServiceEngine: does the work of answering for the service, from the cache and in the batcher's threads.

A request uses one engine from beginning to end, so that its answer is from one version. The batcher and the
cache are shared by the engines of all versions (index_manager.py).
"""

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, cast

from index.answers.answer import Answers
from index.answers.request import Query
from index.answers.respond import Work
from index.answers.translator import Translator
from index.confidence import MIN_CONFIDENCE
from index.errors import StoreError
from index.teaching.suggestions import pictures_like, teaching_pictures
from index.text.normalisation import clean
from service.engine.batching import Batcher, Compute, QueueFullError
from service.engine.cache import Cache, CacheKey
from service.http.problems import ProblemType, unavailable
from service.observability.metrics import Metrics, StageName

log = logging.getLogger("passepartout.store")

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class ServiceEngine(Work):
    """The work of answering from one version of an index.

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
        super().__init__(translator)
        self.languages = translator.languages
        self._cache, self._batcher, self._metrics = cache, batcher, metrics
        self._slow_batcher = slow_batcher or batcher
        self._named = translator.model, translator.version

    async def answers(self, queries: Sequence[Query]) -> list[Answers]:
        """Answer queries from the cache or the index. Raises ProblemError if too much is waiting."""
        keys = [CacheKey(*self._named, query) for query in queries]
        found = await self._look_up(list(dict.fromkeys(keys)))
        for key, query in zip(keys, queries, strict=True):
            best = found[key][0].confidence if found[key] else 0.0
            self._metrics.answered(query.kind, query.source, query.target, best, best >= MIN_CONFIDENCE)
        return [found[key] for key in keys]

    async def run(
        self, step: StageName, act: Callable[[Sequence[Item]], list[Outcome]], items: Sequence[Item]
    ) -> list[Outcome]:
        """Call `act` on items in a thread of the batcher; ProblemError if too much is waiting."""
        with self._metrics.stage(step):
            return await self._compute(act, {object(): item for item in items}, self._batcher)

    async def run_slow(self, act: Callable[[], Outcome]) -> Outcome:
        """Call `act` in the thread for slow work; ProblemError if too much is waiting for it."""

        def run(acts: Sequence[Callable[[], Outcome]]) -> list[Outcome]:
            return [act() for act in acts]

        (result,) = await self._compute(run, {object(): act}, self._slow_batcher)
        return cast(Outcome, result)

    async def teaching_pictures(self, like: str | None = None) -> list[tuple[str, str]]:
        """The encoder's pictograms with their emoji: those to caption first, or the nearest to a text."""
        return await self.run_slow(
            lambda: self._pictures_like(clean(like)) if like else self._ordered_pictures
        )

    def warm_up(self) -> None:
        """Ask once in each language of the index, so that the first request need not wait for its pages."""
        self.translator.answer(
            [
                Query("sentence", "warm-up", language.code, language.targets[0])
                for language in self.languages
                if language.sentences and language.targets
            ]
        )

    async def _look_up(self, keys: Sequence[CacheKey]) -> dict[CacheKey, Answers]:
        """Get answers from the cache; compute and cache those that are missing. All `keys` are different."""
        with self._metrics.stage("cache"):
            cached = await self._cache.get(keys)
        answers = {key: answers for key, answers in zip(keys, cached, strict=True) if answers is not None}
        missing: dict[Hashable, CacheKey] = {key: key for key in keys if key not in answers}
        self._metrics.cached(len(answers), len(missing))
        if missing:
            with self._metrics.stage("compute"):
                computed = await self._compute(self._answer, missing, self._batcher)
            new_answers = dict(zip(missing.values(), computed, strict=True))
            await self._cache.put(new_answers)
            answers |= new_answers
        return answers

    async def _compute(self, run: Compute, items: Mapping[Hashable, object], batcher: Batcher) -> list[Any]:
        try:
            return await batcher.compute(run, items)
        except QueueFullError:
            raise unavailable() from None
        except StoreError as error:
            if error.__cause__ is not None:  # otherwise Milvus was not asked, so soon after a failure
                log.warning("%s", error)  # contains no user data
            raise unavailable(ProblemType.STORE_UNREACHABLE) from None

    def _answer(self, keys: Sequence[CacheKey]) -> list[Answers]:
        """Answer, in a thread. Methods of one engine are equal, so requests share a call."""
        queries = [key.query for key in keys]
        self._metrics.batch(len({(query.source, query.text) for query in queries}))
        return self.translator.answer(queries, self._metrics.stage)

    @cached_property
    def _ordered_pictures(self) -> list[tuple[str, str]]:
        pictograms = self.translator.pictograms
        return teaching_pictures(pictograms) if pictograms else []

    def _pictures_like(self, text: str) -> list[tuple[str, str]]:
        pictograms = self.translator.pictograms
        return pictures_like(pictograms, text, self.translator.encode([text])[0]) if pictograms else []
