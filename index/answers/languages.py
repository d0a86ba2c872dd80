"""Languages of an index: which can be asked for, and what to say where one cannot."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

from index.answers.answer import LanguageInfo
from index.errors import Fault, RequestError, UndetectedLanguageError, UnknownLanguageError, listed
from index.languages import TAGS_REMEMBERED, language, lookup
from index.text.identification import likely_languages


class Languages:
    """The languages of an index, found by codes in any spelling (`index.languages.lookup`)."""

    def __init__(self, languages: Iterable[LanguageInfo]) -> None:
        self._by_code = {language.code: language for language in languages}
        self.codes = sorted(self._by_code)
        self._found = lru_cache(TAGS_REMEMBERED)(partial(lookup, known=self._by_code.keys()))

    def __iter__(self) -> Iterator[LanguageInfo]:
        return iter(self._by_code.values())

    def find(self, tag: str) -> str | None:
        """The code of a language, as the index spells it."""
        return tag if tag in self._by_code else self._found(tag)

    def targets(self, source: str) -> tuple[str, ...]:
        return self._by_code[source].targets

    def codes_of(self, given: Sequence[tuple[str, str]]) -> list[str]:
        """The codes, as the index spells them, of (field, code) pairs; UnknownLanguageError for others."""
        found = [self.find(code) for _, code in given]
        if faults := [self.unknown(*pair) for pair, code in zip(given, found, strict=True) if code is None]:
            raise UnknownLanguageError(faults[0].message, faults)
        return [code for code in found if code]

    def check_reachable(
        self, field: str, source: str, targets: Mapping[str, str], *, own: bool = False
    ) -> None:
        """Raise RequestError unless texts in `source` can be translated into each target, as sent -> code.

        `own`: whether they can also be answered in their own language, with what means the same.
        """
        reachable = self.targets(source)
        if own and self._by_code[source].is_source and self._by_code[source].sentences:
            reachable = (*reachable, source)
        faults = [
            self.unreachable(field, source, *target)
            for target in targets.items()
            if target[1] not in reachable
        ]
        if faults:
            raise RequestError(faults[0].message, faults)

    def check_clear(self, texts: Iterable[tuple[str, Mapping[str, float], str | None]]) -> None:
        """Raise UndetectedLanguageError if a text, (field, chances of languages, language), has none."""
        faults = [self.unclear(field, chances) for field, chances, code in texts if code is None]
        if faults:
            raise UndetectedLanguageError(faults[0].message, faults)

    def unknown(self, field: str, code: str) -> Fault:
        """What is wrong with the code of a language that the index does not have."""
        reached = {code for one in self._by_code.values() for code in one.targets}
        allowed = [code for code in self.codes if code in reached or "target" not in field]
        message = f"{field} {code[:40]!r} is not a language of this index: use one of {listed(allowed)}"
        return Fault(field, message, allowed=allowed)

    def unclear(self, field: str, chances: Mapping[str, float]) -> Fault:
        """What is wrong with a text in `field` whose language is not clear, or that is in no language."""
        candidates = likely_languages(chances)
        if not chances:
            message = f"{field} has no letters to tell its language by: give source"
        elif candidates:
            message = f"the language of {field} is not clear, it may be {', '.join(candidates)}: give source"
        else:
            message = f"the language of {field} was not recognised: give source"
        return Fault("source", message, allowed=self.codes, candidates=candidates)

    def unreachable(self, field: str, source: str, sent: str, target: str) -> Fault:
        """What is wrong with a target, `sent` as it is spelled, that the text in `field` cannot have."""
        reachable, name = list(self.targets(source)), language(source).name
        reason = (
            f"is the language of {field} already" if target == source else f"cannot be reached from {name}"
        )
        if not self._by_code[source].is_source:
            sources = [code for code in self.codes if self._by_code[code].is_source]
            fact = f"{name} can only be a target, since the encoder does not know it"
            return Fault("source", f"{fact}: use one of {listed(sources)} as the source", allowed=sources)
        cure = f"use one of {listed(reachable)}" if reachable else "add sentences in another language"
        message = f"target {sent!r} {reason}: {cure}"
        return Fault("target", message, allowed=reachable)
