"""Compares what two sentences say: on which axes they exclude each other, and by which words.

What a text says is found by the file of its language (lexicon.py), and in a language without one by what its
words mean in English (meanings.py). Values mean the same in every language, so that sentences of two can be
compared like those of one; those of one are also compared word by word (wording.py), numbers in
number_words.py.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from rapidfuzz.distance import DamerauLevenshtein

from index.text.contrasts.contrast import ORDER, Contrast
from index.text.contrasts.lexicon import (
    ACT,
    ASKED,
    COULD,
    DETAIL,
    DUTY,
    EITHER,
    FUNCTION,
    HYPOTHETICAL,
    JOINT,
    MAY,
    MOOD,
    MUST,
    NEED,
    NEGATION,
    PERSON,
    QUESTION,
    STATEMENT,
    WANT,
    Said,
    known_languages,
    lexicon_of,
    may_say,
    said,
)
from index.text.contrasts.meanings import ENGLISH, OF_SENTENCES, Meanings
from index.text.contrasts.wording import Same, other_words, synonyms
from index.text.courtesies import without_courtesies
from index.text.normalisation import words_of
from index.text.spelling import marked, respelled, spellings

INFLECTED = re.compile(r"(?<![\w.,:/-])(\d{1,2})(?:[.'’-]?(\w[\w\u0900-\u0963]{0,3}|°)(?!\w)|\.(?=\s+\w))")
ACCENTED_END = re.compile("[àáâãèéêìíòóôùú]$")
# Axes on which two sentences of one language must say the same: "my knee" may be either.
WHOLE = frozenset({ASKED, "side", "before", "only", "excess", "qualifier"})
# Axes by which a text states something: it is no order.
STATING = frozenset({"agent", "aspect", "subject"})
# Axes of one language alone, beside those that English has not: others say it otherwise.
WITHIN = frozenset({HYPOTHETICAL, "article", "qualifier"})
ROLES = "kin", "who", "weekday", "month"  # axes whose values translations mostly name in the same order


def contrasts(
    question: str,
    source: str,
    answer: str,
    target: str,
    same: Same = lambda *_: (),
    meanings: Callable[[str], Meanings | None] = lambda _: None,
) -> Iterator[Contrast]:
    """Find on which axes an answer in `target` says something else than the question in `source`.

    One after the other, first what is found soonest, so that who asks whether there is any need not wait.

    A negation that only one of them has is a contrast, and so is a statement beside a question ("you can
    go home", "can you go home?") unless that may be a request; within one language "which pills do you
    take?", too. On other axes each must say what the other does not: "a man and a woman" does not exclude
    "a man". Another order is a contrast ("the man sees the woman"), even where it is but a passive. Within
    one language so are words that are not the `same`, exchanged ("in your arm", "in your leg") or added ("in
    a suit"), or in other places or forms. Of languages without a file only longer words, places and forms
    are compared, the marks of questions and statements, and what words say by their `meanings`.
    """
    if source == target and source in known_languages():
        question, answer = _spelled_as(question, answer, source), _spelled_as(answer, question, source)
        question, answer = without_courtesies(question, source), without_courtesies(answer, source)
        if _one_phrase(question, answer, source):
            return
        question, answer = _modal_as(question, answer, source), _modal_as(answer, question, source)
    if source == target and (differ := other_words(question, answer, source, same)):
        yield differ
    unknown = {source, target} - known_languages()
    by_words = {code: words for code in unknown if (words := meanings(code))}
    asked, answered = (
        by_words[code].said(text) if code in by_words else said(text, code)
        for text, code in ((question, source), (answer, target))
    )
    axes = _compared(asked, answered, source == target, unknown, by_words)
    both_ways = (asked, answered), (answered, asked)
    for axis in sorted(axes):
        if _exclude(axis, asked, answered, source == target):
            told = (_words(one.get(axis, {}), other.get(axis, {})) for one, other in both_ways)
            yield Contrast(axis, *told)
    for axis in () if unknown else ROLES if source != target else (*ROLES, PERSON):
        one, other = asked.get(axis, {}), answered.get(axis, {})
        if [value for value in one if value in other] != [value for value in other if value in one]:
            yield Contrast(ORDER, _words(one), _words(other))


def _compared(
    asked: Said,
    answered: Said,
    one_language: bool,
    unknown: Collection[str],
    by_words: Mapping[str, Meanings],
) -> set[str]:
    """The axes of two texts that can be compared; `unknown`: their languages without a file."""
    axes = {*asked, *answered}
    if not one_language:
        axes &= {MOOD, *lexicon_of(ENGLISH).axes} - WITHIN
    if unknown - by_words.keys():
        axes = {MOOD}
    elif unknown:
        axes -= OF_SENTENCES - {MOOD}
        axes -= set() if all(words.negates for words in by_words.values()) else {NEGATION}
    if all(QUESTION in one.get(MOOD, ()) for one in (asked, answered)):
        axes -= {ACT}  # "Sie rauchen?" tells as little as "rauchen Sie?" orders
    return axes


def _spelled_as(text: str, other: str, language: str) -> str:
    """A text with the marks of another one's words, and with its words for figures such as "2nd".

    A mark on the last letter may make another form of a verb ("tome", "tomé"), but of words like "está".
    """

    def in_words(found: re.Match[str]) -> str:
        lists = synonyms(found[1] + (found[2] or ".").lower(), language)
        return next((word for word in words if not lists.isdisjoint(synonyms(word, language))), found[0])

    words, function = words_of(other, language), lexicon_of(language).kinds[FUNCTION]
    text = INFLECTED.sub(in_words, text)
    words = tuple(word for word in words if word in function or not ACCENTED_END.search(word))
    return respelled(text, language, spellings(words, language).get) if marked(other) else text


def _one_phrase(question: str, answer: str, language: str) -> bool:
    """Whether two texts are phrases that mean the same: "where do you live?", "what is your address?"."""
    units = ["\t".join(words_of(text, language)) for text in (question, answer)]
    if not all(map(lexicon_of(language).phrases.fullmatch, units)):
        return False
    one, other = (synonyms(unit.replace("\t", JOINT), language) for unit in units)
    asked, answered = (said(text, language).get(MOOD, {}).keys() for text in (question, answer))
    return not one.isdisjoint(other) and not asked | answered >= {QUESTION, STATEMENT}


def _modal_as(text: str, other: str, language: str) -> str:
    """A text without "can", "must" or "want" with the one of another text that is there with letters swapped.

    A letter that is wrong or missing may make another word, which says what is done: no "can" in it is meant.
    """
    if not may_say(DUTY, other, language) or DUTY in said(text, language):
        return text
    modals = " ".join(_words(said(other, language).get(DUTY, {}))).split()

    def spelled(found: re.Match[str]) -> str:
        word = found[0].lower()
        alike = (modal for modal in modals if sorted(modal) == sorted(word))
        return next((modal for modal in alike if DamerauLevenshtein.distance(modal, word) == 1), found[0])

    return re.sub(r"\w+", spelled, text) if modals else text


def _exclude(axis: str, asked: Said, answered: Said, one_language: bool) -> bool:
    """Whether what two texts say on an axis excludes each other."""
    values, others = {*asked.get(axis, ())}, {*answered.get(axis, ())}
    if axis == NEGATION or (one_language and axis in WHOLE):
        return values != others
    if axis == HYPOTHETICAL:
        moods = [asked.get(MOOD, {}).keys(), answered.get(MOOD, {}).keys()]
        spared = {EITHER} if all(moods) or (DUTY in asked and DUTY in answered) else {EITHER, COULD}
        return moods[0] | moods[1] == {STATEMENT} and bool((values ^ others) - spared)
    if axis == MOOD and (_may_request(asked, answered) or _may_request(answered, asked)):
        return False
    if axis == MOOD and one_language:
        return values != others and bool(values and others)
    if axis == DUTY and one_language and bool(values) != bool(others):
        return _other_modality(*((asked, answered) if others else (answered, asked)))
    # "Must not" and "cannot" forbid alike, "need not" frees; without "not" none of them does.
    negated = NEGATION in asked and NEGATION in answered
    if (axis == DUTY and negated) or (axis == NEED and not negated):
        return False
    return bool(values - others) and bool(others - values)


def _other_modality(plain: Said, modal: Said) -> bool:
    """Whether a text without "can", "must" or "want" says something else than one with it.

    It does ("you eat meat", "you may eat meat") unless it may be a request or an order ("wait here", "you
    must wait here"), or both ask where, when or how ("where do I pay?", "where can I pay?"). That one may,
    or need not, do something is no order, nor is how one can.
    """
    mood = plain.get(MOOD, {})
    if ASKED in plain and ASKED in modal and MUST not in modal[DUTY]:
        return False
    allows = modal[DUTY].keys() == {MAY} and STATEMENT in modal.get(MOOD, ())
    free = modal.get(NEED, {}).keys() == {"free"} if NEGATION in modal else allows
    if free or QUESTION in mood or (DETAIL in modal and DETAIL not in plain):
        return True
    orders = "order" in plain.get(ACT, ()) or _may_request(modal, plain)
    return not orders and (bool(mood.get(STATEMENT)) or not STATING.isdisjoint(plain))


def _may_request(asked: Said, answered: Said) -> bool:
    """Whether what is asked may be a request ("can I have water?"), and what is answered make it.

    A statement says no "can" of it, and what begins as a statement does ("he swims") says that it is wanted.
    """
    duty, stated = answered.get(DUTY, ()), answered.get(MOOD, {}).get(STATEMENT)
    asks = QUESTION in asked.get(MOOD, ()) and MAY in asked.get(DUTY, ())
    return asks and MAY not in duty and (WANT in duty or not stated)


def _words(values: Mapping[str, Sequence[str]], others: Collection[str] = ()) -> tuple[str, ...]:
    """The words that say values, but those of `others`."""
    said = (found for value, found in values.items() if value not in others)
    return tuple(dict.fromkeys(word for found in said for word in found))
