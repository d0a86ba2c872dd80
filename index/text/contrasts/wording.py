"""Wording: what two sentences of one language say differently by other words, their order or their forms."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache, partial

from rapidfuzz.distance import DamerauLevenshtein, Levenshtein, Postfix, Prefix

from index.languages import has_spaces
from index.text.contrasts.contrast import ADDED, EXCHANGED, FORM, ORDER, Contrast
from index.text.contrasts.lexicon import (
    ADVERBIAL,
    AUXILIARY,
    BEFORE,
    CONJUNCTIONS,
    FUNCTION,
    JOINT,
    PERSON,
    POSTPOSITIONS,
    RELATION,
    SEPARABLE,
    TENSE,
    WORDS_CACHED,
    YOU,
    asked_plainly,
    known_languages,
    lexicon_of,
    said,
)
from index.text.normalisation import words_of
from index.text.number_words import may_have_number, numbers_in
from index.text.speakers import Speakers, speakers_of

HYPHENATED = re.compile(r"(\w{2,})-(\w{2,})")
MOST_ADDED = 2  # function words for each word of the other sentence, fewer than these
MOST_LEFT_OUT = 2  # words of one of two sentences whose order is compared
MIN_STEM, LONGEST_ENDING, LONGEST_FUNCTION_WORD = 3, 4, 3  # letters
ARABIC_FUTURE, ARABIC_WILL = "س", " سوف "  # the letter before a verb, and a word that says the same

# The pairs of words, one of either, that mean the same.
Same = Callable[[Sequence[str], Sequence[str]], Collection[tuple[str, str]]]
Partners = list[int | None]  # of each word, the place in another sentence of the word that says the same


def other_words(question: str, answer: str, language: str, same: Same) -> Contrast | None:
    """What two sentences of one language say differently by other words, or by their order or forms."""
    if question > answer:  # what is found must not depend on which of them was asked
        other = other_words(answer, question, language, same)
        return other and Contrast(other.axis, other.answer, other.question)
    asked, answered = _units(question, language), _units(answer, language)
    asked, answered = _unseparated(asked, answered, language), _unseparated(answered, asked, language)
    other = _other_units(question, answer, asked, answered, language, same)
    # A phrase that is one unit has no partner in a misspelled one, or in one with another word between.
    joined = with_phrases(asked, language), with_phrases(answered, language)
    if other is None or joined == (asked, answered):
        return other
    other = _other_units(question, answer, *joined, language, same)
    return other and Contrast(other.axis, _spaced(other.question), _spaced(other.answer))


def _other_units(
    question: str, answer: str, words: Sequence[str], answered: Sequence[str], language: str, same: Same
) -> Contrast | None:
    """What two texts, of these units, say differently."""
    if words == answered:
        return None
    asked = _in_other_forms(words, answered, question, answer, language)
    partners = _partners(asked, answered, language, same)
    taken = {place for place in partners if place is not None}
    alone = [word for place, word in enumerate(asked) if place not in taken]
    others = [word for word, place in zip(answered, partners, strict=True) if place is None]
    left_out, added = ([word for word in rest if says(word, language)] for rest in (alone, others))
    if not left_out and not added:
        relation = lexicon_of(language).kinds[RELATION]
        before, after = (
            [word for word in rest if not relation.isdisjoint(_head(word).split(JOINT))]
            for rest in (alone, others)
        )
        if before and after:
            return Contrast(EXCHANGED, tuple(before), tuple(after))
        # "Home" says no more of "I am at home" than what it is about.
        part = not taken or len(taken) == min(len(asked), len(answered))
        much = part and len(alone) + len(others) >= MOST_ADDED * len(taken)
        if much or _numbers(question, asked, language) != _numbers(answer, answered, language):
            return Contrast(ADDED, tuple(alone), tuple(others))
        other_time = _other_time(asked, answered, partners, language)
        return other_time or _rearranged(asked, answered, partners, language)
    if left_out and added:
        return Contrast(EXCHANGED, tuple(left_out), tuple(added))
    if language not in known_languages():
        return None  # what is added may be "please", which only a file tells
    return Contrast(ADDED, tuple(left_out), tuple(added))


def _in_other_forms(
    asked: Sequence[str], answered: Sequence[str], question: str, answer: str, language: str
) -> Sequence[str]:
    """The words asked, those that say the same in another form in the form of the other text.

    That is the form for a friend or a stranger, of a woman or a man, or of a tense with another auxiliary.
    """
    if _one_hearer(question, answer, language):
        forms = [_polite_forms(word, language, place == 0) for place, word in enumerate(asked)]
        asked = [_in_form(word, answered, others) for word, others in zip(asked, forms, strict=True)]
    if (speakers := speakers_of(language)) and speakers.alike(asked, answered):
        asked = _as_of_one_sex(asked, answered, speakers)
    tense, other = (said(text, language).get(TENSE, {}).keys() for text in (question, answer))
    if tense and tense == other:
        asked = [_in_form(word, answered, _tense_forms(word, language)) for word in asked]
    for auxiliary, pairs in lexicon_of(language).do_support.items():
        if (auxiliary in asked) != (auxiliary in answered):
            asked = [_in_form(word, answered, _forms(word, pairs)) for word in asked]
    return asked


def _one_hearer(question: str, answer: str, language: str) -> bool:
    """Whether one of two texts may say politely to its hearer what the other says familiarly."""
    polite = lexicon_of(language).polite
    # What a capital tells ("Sie") is not told where a text begins.
    told = [bool(polite.search(text[:1].lower() + text[1:])) for text in (question, answer)]
    others = [said(text, language).get(PERSON, {}).keys() - {YOU} for text in (question, answer)]
    return others[0] == others[1] and (not polite.pattern or told[0] != told[1])


def _as_of_one_sex(asked: Sequence[str], answered: Sequence[str], speakers: Speakers) -> list[str]:
    """The words asked, those of a speaker or hearer in the form of the other text."""
    return [
        _in_form(word, answered, _forms(word, speakers.forms))
        if not speakers.after or before in speakers.after
        else word
        for before, word in zip(["", *asked], asked, strict=False)
    ]


def _in_form(word: str, others: Sequence[str], forms: Collection[str]) -> str:
    """The first of some words that is another form of a word; else the word."""
    return next(filter(forms.__contains__, others), word)


@lru_cache(WORDS_CACHED)
def _polite_forms(word: str, language: str, first: bool) -> Collection[str]:
    """What a word is, said to the same hearer in another form; `first`: of the text."""
    pairs = lexicon_of(language).polite_forms
    return _forms(word, [pair for of_first, *pair in pairs if first or not of_first])


@lru_cache(WORDS_CACHED)
def _tense_forms(word: str, language: str) -> Collection[str]:
    return _forms(word, lexicon_of(language).tense_forms)


def _forms(word: str, pairs: Iterable[Sequence[str]]) -> Collection[str]:
    """A word with the other ending of each pair of endings."""
    return {
        word.removesuffix(one) + other
        for pair in pairs
        for one, other in (pair, pair[::-1])
        if word.endswith(one)
    }


def _numbers(text: str, units: Sequence[str], language: str) -> int:
    """How many numbers a text has but one, which in words is an article."""
    counts = numbers_in(text, list(map(_head, units)), language)
    return counts.total() - counts[1]


@lru_cache(WORDS_CACHED)
def says(word: str, language: str) -> bool:
    """Whether a word says something by itself: articles, pronouns, "please" do not, numbers are elsewhere."""
    word, *others = _head(word).split(JOINT)
    if others:
        return any(says(part, language) for part in (word, *others))
    if not any(map(str.isalpha, word)) or may_have_number([word], language):
        return False
    if language in known_languages():
        function = lexicon_of(language).kinds[FUNCTION]
        return word not in function and (has_spaces(language) or not function.issuperset(word))
    return len(word) > (LONGEST_FUNCTION_WORD if has_spaces(language) else 1)


def _other_time(
    asked: Sequence[str], answered: Sequence[str], partners: Partners, language: str
) -> Contrast | None:
    """What something is before or after, if not the same: "eat before you drink", "before you eat, drink"."""
    lexicon = lexicon_of(language)
    times = lexicon.axes.get(BEFORE)
    if times is None or lexicon.event_first:
        return None

    def next_of(words: Sequence[str], place: int) -> int | None:
        return next((later for later in range(place + 1, len(words)) if says(words[later], language)), None)

    for number, (word, place) in enumerate(zip(answered, partners, strict=True)):
        if place is not None and times.pattern.search(f" {word} "):
            event, other = next_of(asked, place), next_of(answered, number)
            if event is not None and other is not None and partners[other] != event:
                return Contrast(ORDER, (asked[event],), (answered[other],))
    return None


def _rearranged(
    asked: Sequence[str], answered: Sequence[str], partners: Partners, language: str
) -> Contrast | None:
    """What two sentences of the same words say differently by the order or the forms of these words.

    One phrase that moves changes nothing ("today we eat", "we eat today"), two that change places do, and so
    do other endings of words that stay in place ("the guest is here", "the guests are here"). Only articles,
    other short words and auxiliaries may have no partner.
    """
    if abs(len(asked) - len(answered)) > MOST_LEFT_OUT:
        return None
    order = [place for place in partners if place is not None]
    alone = [word for word, place in zip(answered, partners, strict=True) if place is None]
    alone += [word for place, word in enumerate(asked) if place not in order]
    lexicon = lexicon_of(language)
    if any(len(word) > LONGEST_FUNCTION_WORD and word not in lexicon.kinds[AUXILIARY] for word in alone):
        return None
    changed = {
        place: word
        for number, (word, place) in enumerate(zip(answered, partners, strict=True))
        if place is not None
        and _inflected(word, asked[place], language)
        and not _agrees(number, asked, answered, partners, language)
    }
    if order == sorted(order):
        if not changed:
            return None
        return Contrast(FORM, tuple(asked[place] for place in changed), tuple(changed.values()))
    ends, middle = _exchanged(order, changed)
    # "A knife and a fork" is "a fork and a knife", and "in the kitchen" says where, wherever it stands.
    joined = {asked[place] for place in middle} & lexicon.kinds[CONJUNCTIONS]
    if not ends or (joined and not any(says(asked[place], language) for place in middle)):
        return None
    if middle and any(
        asked[end[0]] in lexicon.kinds[ADVERBIAL] and changed.keys().isdisjoint(end) for end in ends
    ):
        return None
    return Contrast(ORDER, *(2 * (tuple(asked[place] for end in ends for place in end),)))


def _agrees(
    number: int, asked: Sequence[str], answered: Sequence[str], partners: Partners, language: str
) -> bool:
    """Whether an answered word is the article of another word than the one asked: ein Ticket, eine Karte."""
    if says(answered[number], language) or number + 1 == len(answered):
        return False
    place, noun = partners[number + 1], answered[number + 1]
    if place is None or noun == asked[place]:
        return False
    return says(noun, language) and not _same_stem(noun, asked[place], language)


def _inflected(one: str, other: str, language: str) -> bool:
    """Whether one word is another form of the other: it ends otherwise; what ends alike is misspelled.

    That something is going on ("drinks", "is drinking") is no other form, and "you're" is two words. In Hindi
    the last letter tells the tense, after which stands a sign.
    """
    if language == "en" and (one.endswith("ing") != other.endswith("ing") or "'" in one + other):
        return False
    if ARABIC_FUTURE + one == other or ARABIC_FUTURE + other == one:
        return language == "ar"
    longer = one != other and (one.startswith(other) or other.startswith(one))
    ends = {(word[-1], re.sub(r"\W", "", word)[-1:]) for word in (one, other)}
    return (longer or len(ends) > 1) and _same_stem(one, other, language)


def _units(text: str, language: str) -> list[str]:
    """The words of a text; as one: compounds with a hyphen, and postpositions with what they follow."""
    units: list[str] = []
    text = HYPHENATED.sub(partial(_joined, language), asked_plainly(text, language))
    for word in words_of(f" {text}".replace(ARABIC_WILL, f" {ARABIC_FUTURE}"), language):
        if units and word in lexicon_of(language).kinds[POSTPOSITIONS]:
            units[-1] += f" {word}"
        else:
            units.append(word)
    return units


def _unseparated(units: list[str], others: Sequence[str], language: str) -> list[str]:
    """The units of a text that ends in what another one has before a verb, put there, too."""
    if units and units[-1] in lexicon_of(language).kinds[SEPARABLE]:
        *rest, prefix = units
        joined = [prefix + unit if prefix + unit in others else unit for unit in rest]
        return joined if joined != rest else units
    return units


def with_phrases(units: Sequence[str], language: str) -> list[str]:
    """The units of a text, phrases that mean what other words do as one."""

    def joined(found: re.Match[str]) -> str:
        return re.sub("[\t ]", JOINT, found.group())

    return lexicon_of(language).phrases.sub(joined, "\t".join(units)).split("\t")


def _spaced(units: Iterable[str]) -> tuple[str, ...]:
    """The words of units, phrases with spaces, as in a text."""
    return tuple(unit.replace(JOINT, " ") for unit in units)


def _head(unit: str) -> str:
    """The word of a unit, without its postpositions."""
    return unit.partition(" ")[0]


def _joined(language: str, parts: re.Match[str]) -> str:
    joins = all(says(part.lower(), language) for part in parts.groups())
    return "".join(parts.groups()) if joins else parts.group()


def _partners(asked: Sequence[str], answered: Sequence[str], language: str, same: Same) -> Partners:
    """The place of each answered word among those asked: by itself, by its stem, or by the same meaning.

    What is at its place already, as the fewest edits would leave it, stays there.
    """
    free = dict.fromkeys(range(len(asked)))
    partners: Partners = [None] * len(answered)
    for edit in Levenshtein.opcodes(asked, answered):
        if edit.tag == "equal":
            for place, number in zip(
                range(edit.src_start, edit.src_end), range(edit.dest_start, edit.dest_end), strict=True
            ):
                partners[number] = place
                del free[place]
    for alike in (
        str.__eq__,
        lambda one, other: says(one, language) == says(other, language) and _same_stem(one, other, language),
    ):
        for number, word in enumerate(answered):
            if partners[number] is None:
                found = next((place for place in free if alike(word, asked[place])), None)
                if found is not None:
                    partners[number] = found
                    del free[found]
    alone = {number: _head(answered[number]) for number, place in enumerate(partners) if place is None}
    heads = {place: _head(asked[place]) for place in free}
    pairs = same([*alone.values()], [*heads.values()])
    for number, word in alone.items():
        found = next((place for place in free if _alike(word, heads[place], language, pairs)), None)
        if found is not None:
            partners[number] = found
            del free[found]
    return partners


def _alike(one: str, other: str, language: str, same: Collection[tuple[str, str]]) -> bool:
    """Whether two words mean the same: by the lists of their language, or `same` if one is in none."""
    lists, others = synonyms(one, language), synonyms(other, language)
    if lists and others:
        return not lists.isdisjoint(others)
    return one == other or (JOINT not in one + other and (one, other) in same)


@lru_cache(WORDS_CACHED)
def synonyms(word: str, language: str) -> frozenset[re.Pattern[str]]:
    """The lists of words that mean the same in which a word is."""
    lists = lexicon_of(language).same.get(word[:1], ())
    return frozenset(words for words in lists if words.fullmatch(word))


def _same_stem(one: str, other: str, language: str) -> bool:
    if JOINT in one + other or one[:1].isdigit():
        return False
    one, other = _plain(one, language), _plain(other, language)
    common = Prefix.similarity(one, other)
    if common < MIN_STEM or max(len(one), len(other)) - common > LONGEST_ENDING:
        return False
    # What differs before the same ending is another stem (солодке, солоне), or a mistake.
    ending = Postfix.similarity(one[common:], other[common:])
    return not ending or DamerauLevenshtein.distance(one, other) <= 1


@lru_cache(WORDS_CACHED)
def _plain(word: str, language: str) -> str:
    """A word without accents and prefixes."""
    word = lexicon_of(language).prefix.sub("", word)
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if unicodedata.category(sign) != "Mn")


def _exchanged(order: Sequence[int], changed: Collection[int]) -> tuple[list[list[int]], list[int]]:
    """The places that change with each other, and those between: A M B becomes B M A.

    Without M only if they change forms; none if nothing else than one phrase moves.
    """
    differ = [number for number, place in enumerate(order) if place != sorted(order)[number]]
    now = list(order[differ[0] : differ[-1] + 1])
    before = sorted(now)
    for first in range(1, len(before)):
        for last in range(1, len(before) - first + 1):
            end = len(before) - last
            one, middle, other = before[:first], before[first:end], before[end:]
            moved_alone = not middle and not any(place in changed for place in (*one, *other))
            if now == [*other, *middle, *one] and not moved_alone:
                return [one, other], middle
    return [], []
