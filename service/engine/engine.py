"""One version of an index and the cache, together answering orders.

What a request asks goes through one engine from beginning to end, so that its answer is of one version; the
batcher and the cache are shared by the engines of all versions (generations.py).
"""

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from index.encoder.text_encoder import Vectors
from index.errors import StoreError
from index.search.translator import Match, Translator
from index.text.pre_tokens import Tokens
from service.api.answers import answers_of, likely
from service.api.explanations import explain_answers
from service.api.schemas import Kind
from service.engine.batching import Batcher, QueueFullError, Run
from service.engine.cache import Answers, Cache, Lookup
from service.engine.languages import Asked, Languages
from service.http.limits import overloaded, store_unreachable
from service.observability.metrics import Metrics, Stage

log = logging.getLogger("passepartout.store")

SHORT = 128  # answers that the event loop may make at once, of what a thread has found: a millisecond or two

Found = tuple[Asked, Mapping[str, Answers]]


class Engine:
    """Answers from the cache, else from the index, which the batcher's threads search."""

    def __init__(
        self, translator: Translator, cache: Cache, batcher: Batcher, metrics: Metrics, patience: float = 10.0
    ) -> None:
        """`patience`: seconds after which a request that is not computed yet is refused."""
        self.translator = translator
        self.languages = Languages(translator.languages)
        self._cache, self._batcher, self._metrics, self._patience = cache, batcher, metrics, patience

    async def detect(self, kind: Kind, texts: Sequence[str]) -> list[str | None]:
        """The language of each text, None where it cannot be told."""
        run = self._detect_sentences if kind == "sentence" else self._detect_words
        return await self._batched("detect", run, texts)

    async def language_chances(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """The probability of each language for each sentence, the likeliest first."""
        return await self._batched("detect", self._chances, texts)

    async def translate(
        self, kind: Kind, asked: Sequence[Asked], k: int, least: float = 0.0
    ) -> list[dict[str, Answers]]:
        """The at most `k` answers, best first, of each text in each of its targets, none less likely than
        `least`. ProblemError where there is more to do than can be done soon."""
        rows = [self._lookups(kind, one, k) for one in asked]
        found = await self._find(kind, list(dict.fromkeys(lookup for row in rows for lookup in row)))
        return [{lookup.target: self._likely(lookup, found[lookup], least) for lookup in row} for row in rows]

    async def explain(
        self, kind: Kind, asked: Sequence[Asked], found: Sequence[Mapping[str, Answers]]
    ) -> list[dict[str, Answers]]:
        """The answers of `translate`, each with the reasons for it."""
        run = self._explain_sentences if kind == "sentence" else self._explain_words
        return await self._batched("explain", run, list(zip(asked, found, strict=True)))

    def warm_up(self) -> None:
        """One search in each language, so that the first request waits for no page of the index."""
        for language in self.translator.languages:
            if language.targets:
                asked = Asked("warm-up", language.code, language.targets[:1])
                self._begun(self._lookups("sentence", asked, 1))()

    def _lookups(self, kind: Kind, asked: Asked, k: int) -> list[Lookup]:
        model, version = self.translator.model, self.translator.version
        return [Lookup(model, version, kind, asked.text, asked.source, target, k) for target in asked.targets]

    async def _find(self, kind: Kind, lookups: Sequence[Lookup]) -> dict[Lookup, Answers]:
        """From the cache, else computed and put there; `lookups` are all different."""
        with self._metrics.stage("cache"):
            cached = await self._cache.get(lookups)
        found = {
            lookup: answers for lookup, answers in zip(lookups, cached, strict=True) if answers is not None
        }
        missing: dict[Hashable, Lookup] = {lookup: lookup for lookup in lookups if lookup not in found}
        self._metrics.cached(len(found), len(missing))
        if missing:
            run = self._sentences if kind == "sentence" else self._words
            with self._metrics.stage("compute"):
                computed = await self._wait(run, missing)
            fresh = dict(zip(missing.values(), computed, strict=True))
            await self._cache.put(fresh)
            found |= fresh
        return found

    async def _batched(self, stage: Stage, run: Run, items: Sequence[Any]) -> list[Any]:
        """Results that are not cached, computed together with each other."""
        with self._metrics.stage(stage):
            return await self._wait(run, {object(): item for item in items})

    async def _wait(self, run: Run, items: Mapping[Hashable, object]) -> list[Any]:
        try:
            return await self._batcher.compute(run, items, self._patience)
        except (QueueFullError, TimeoutError):
            raise overloaded() from None
        except StoreError as error:
            if error.__cause__ is not None:  # else it was not asked, so soon after it failed
                log.warning("%s", error)  # nothing in it is a user's
            raise store_unreachable() from None

    def _likely(self, lookup: Lookup, answers: Answers, least: float) -> Answers:
        found = likely(answers, least)
        best = answers[0].confidence if answers else 0.0
        self._metrics.answered(lookup.kind, lookup.source, lookup.target, best, bool(found))
        return found

    # What the batcher runs. Methods of the same engine are equal, so requests share a call.

    def _sentences(self, lookups: Sequence[Lookup]) -> list[Answers] | Callable[[], list[Answers]]:
        finish = self._begun(lookups)
        return finish if sum(lookup.k for lookup in lookups) <= SHORT else finish()

    def _words(self, lookups: Sequence[Lookup]) -> list[Answers]:
        found: list[tuple[list[Lookup], list[list[Match]]]] = []
        for (source, target), batch in _by_pair(lookups).items():
            with self._metrics.stage("search"):
                asked, most = [lookup.text for lookup in batch], max(lookup.k for lookup in batch)
                found.append((batch, self.translator.words(asked, source, target, most)))
        return _in_order(lookups, found)

    def _detect_sentences(self, texts: Sequence[str]) -> list[str | None]:
        return [self.translator.detect(text) for text in texts]

    def _detect_words(self, texts: Sequence[str]) -> list[str | None]:
        return [self.translator.detect(text, kind="word") for text in texts]

    def _chances(self, texts: Sequence[str]) -> list[dict[str, float]]:
        return [self.translator.language_chances(text) for text in texts]

    def _explain_sentences(self, found: Sequence[Found]) -> list[dict[str, Answers]]:
        return explain_answers(self.translator, "sentence", *zip(*found, strict=True))

    def _explain_words(self, found: Sequence[Found]) -> list[dict[str, Answers]]:
        return explain_answers(self.translator, "word", *zip(*found, strict=True))

    def _begun(self, lookups: Sequence[Lookup]) -> Callable[[], list[Answers]]:
        """Each text is encoded once, whatever the number of targets; each pair of languages is one search."""
        texts = list(dict.fromkeys(lookup.text for lookup in lookups))
        vectors = self._encode(texts)
        rows = {text: row for row, text in enumerate(texts)}
        begun: list[tuple[list[Lookup], Callable[[], list[list[Match]]]]] = []
        for (source, target), batch in _by_pair(lookups).items():
            with self._metrics.stage("search"):
                asked, most = [lookup.text for lookup in batch], max(lookup.k for lookup in batch)
                own = vectors[[rows[text] for text in asked]]
                begun.append((batch, self.translator.begin(asked, own, source, target, most)))
        return lambda: _in_order(lookups, [(batch, finish()) for batch, finish in begun])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        self._metrics.batch(len(texts))
        encoder = self.translator.encoder
        with self._metrics.stage("tokenise"):
            tokens = Tokens.of(encoder.tokenizer.encode(texts))
        with self._metrics.stage("encode"):
            return encoder.encode_tokens(tokens)


def _in_order(
    lookups: Sequence[Lookup], found: Iterable[tuple[Sequence[Lookup], list[list[Match]]]]
) -> list[Answers]:
    """The answers to `lookups`, of which matches were found pair by pair."""
    answers = {
        one: answers_of(row[: one.k]) for batch, rows in found for one, row in zip(batch, rows, strict=True)
    }
    return [answers[lookup] for lookup in lookups]


def _by_pair(lookups: Sequence[Lookup]) -> dict[tuple[str, str], list[Lookup]]:
    pairs: dict[tuple[str, str], list[Lookup]] = {}
    for lookup in lookups:
        pairs.setdefault((lookup.source, lookup.target), []).append(lookup)
    return pairs
