"""Contrasts: words by which two sentences say opposite things, such as open and closed, left and right, not.

A language is one file, LANG.toml: what its words say on each axis. An axis has values that exclude each
other (`side` has left and right), and a value lists the words that say it. `*` stands for any letters of a
word, `$` after a word for the end of its clause, `^` before one for the beginning of the text. `negation`
is an axis with one value; `mood` tells questions and statements where no mark does, and what may be
`either`: requests and tags ("please", "isn't it"); `detail` has words by which a question is open
("which"). `ignore` lists phrases that say nothing of the kind although they contain such words ("good
night", "no problem"), `affirmative` words that only look like negations (Czech "neděle", Sunday),
`function` words that say nothing by themselves (articles, pronouns, "please"), `relation` those of these
that differ where both sentences have one (before, after), `same` words that mean the same, as far as a
sentence matters. `polite_forms` are endings of what is said to one hearer, familiarly and politely ("st en":
wohnst, wohnen; `^` where it is the first word), `polite` words without which the second are of others (Sie).

Values mean the same in every language, so that sentences of two languages can be compared like those of one.
Numbers are compared in number_words.py.

What words of a language without a file say is what their English translations do, which mining found
(`Meanings`): that finds six of ten opposites, and calls one translation in fifty one.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from index.languages import has_spaces
from index.text.normalisation import ELIDING_LANGUAGES, QUESTION_MARK, bare, clean, words_of
from index.text.number_words import may_have_number, numbers_in

NEGATION, DUTY, ORDER, FORM = "negation", "duty", "order", "form"
ASKED, EXCHANGED, ADDED = "asked", "exchanged", "added"
MOOD, QUESTION, STATEMENT, EITHER, MAY, WANT = "mood", "question", "statement", "either", "may", "want"
DETAIL = "detail"  # adds the value `open` to the mood of a question
IGNORE, AFFIRMATIVE, FUNCTION, RELATION = "ignore", "affirmative", "function", "relation"
SAME, PERSON, YOU, POLITE, POLITE_FORMS = "same", "person", "you", "polite", "polite_forms"
ENGLISH = "en"
# What single words do not tell: "you" and "will" are often left out, and a sentence asks as a whole.
OF_SENTENCES = frozenset({MOOD, DUTY, ASKED, DETAIL, PERSON, "persons", "tense"})
LEAST_WEIGHT, LEAST_SHARE = 0.2, 0.6  # of the translations of a word that say the same
NEGATION_SHARE = 0.01  # of all words, of the one that negates: where none is so frequent, endings do
CLAUSE_ENDS = re.compile(r"[.,;:!?…。，、；：！？؟،؛।]+")
QUESTION_END = re.compile(QUESTION_MARK.pattern + r"\W*$")
STATEMENT_END = re.compile(r"[.!。！।։።]\W*$")
HYPHENATED = re.compile(r"(\w{2,})-(\w{2,})")
NOTHING = "\0"  # in no cleaned text
TEXTS_CACHED, WORDS_CACHED = 1 << 13, 1 << 14
MOST_ADDED = 2  # function words for each word of the other sentence, fewer than these
MOST_LEFT_OUT = 2  # words of one of two sentences whose order is compared
MIN_STEM, LONGEST_ENDING, LONGEST_FUNCTION_WORD = 3, 4, 3  # letters
ROLES = "kin", "who", "weekday", "month"  # axes whose values translations mostly name in the same order
POSTPOSITIONS = {"hi": ("को", "ने", "से", "का", "की", "के", "में", "पर")}  # which say the part of the word before
ARABIC_PREFIX = re.compile("^(?:وال|ال|ي|ت)")
TURKISH_I = str.maketrans({"I": "ı", "İ": "i"})

Said = Mapping[str, Mapping[str, Sequence[str]]]  # axis -> value -> the words that say it
Same = Callable[[str, str], bool]  # whether two words of a language mean the same
Partners = list[int | None]  # of each word, the place in another sentence of the word that says the same


@dataclass(frozen=True)
class Contrast:
    """An `axis` on which two sentences differ, and the words of each that say so; empty where none does."""

    axis: str
    question: tuple[str, ...] = field(default=())
    answer: tuple[str, ...] = field(default=())


class Axis(NamedTuple):
    """A pattern that finds the words of an axis, and its values: group n finds those of value number n."""

    pattern: re.Pattern[str]
    values: Sequence[str]


@dataclass(frozen=True)
class Meanings:
    """What the words of a language without a file say, by their English translations.

    `counts`: how often each word occurs; `translations`: word -> English words, with their weights.
    """

    language: str
    counts: Mapping[str, int]
    translations: Mapping[str, Mapping[str, float]]

    def values(self, word: str) -> list[tuple[str, str]]:
        """The axes and values that most of a word's translations say."""
        weights = self.translations.get(word, {})
        least = max(LEAST_WEIGHT, LEAST_SHARE * sum(weights.values()))
        found = Counter[tuple[str, str]]()
        for meaning, weight in weights.items():
            for axis, values in said(meaning, ENGLISH).items():
                if axis not in OF_SENTENCES:
                    found.update(dict.fromkeys(((axis, value) for value in values), weight))
        return [value for value, weight in found.items() if weight >= least]

    @cached_property
    def negates(self) -> bool:
        """Whether a word negates, which is then seen: prefixes and endings of other words are not."""
        least = NEGATION_SHARE * sum(self.counts.values())
        frequent = (word for word, count in self.counts.items() if count >= least)
        return has_spaces(self.language) and any(
            (NEGATION, NEGATION) in self.values(word) for word in frequent
        )

    def said(self, text: str) -> Said:
        """What the words of a text say, and whether it asks."""
        found: dict[str, dict[str, list[str]]] = {}
        for word in words_of(text, self.language):
            for axis, value in self.values(word):
                found.setdefault(axis, {}).setdefault(value, []).append(word)
        return {**said(text, self.language), **found}


def no_meanings(language: str) -> Meanings | None:
    """Nothing is known of the words of any language."""
    return None


@cache
def known_languages() -> frozenset[str]:
    """The languages whose contrasts are known."""
    return frozenset(path.stem for path in Path(__file__).parent.glob("*.toml"))


def contrasts(
    question: str,
    source: str,
    answer: str,
    target: str,
    same: Same = str.__eq__,
    meanings: Callable[[str], Meanings | None] = no_meanings,
) -> list[Contrast]:
    """Find on which axes an answer in `target` says something else than the question in `source`.

    A negation that only one of them has is a contrast, and so is a statement beside a question ("you can
    go home", "can you go home?") unless that may be a request. Within one language so are "when", and "do
    you take pills?" beside "which pills do you take?". On other axes each must say what the other does
    not: "a man and a woman" does not exclude "a man". Most languages name who does something before whom
    it is done to, so that another order is a contrast ("the man sees the woman"), even where it is but a
    passive. Within any one language other words are a contrast, too, unless they are the `same`:
    exchanged ("in your arm", "in your leg") or added ("in a suit"); and so are the same words in other
    places or forms.
    Of languages without a file only exchanges of longer words, places and forms are known, the marks of
    questions and statements, and what words say by their `meanings`.
    """
    unknown = {source, target} - known_languages()
    by_words = {code: words for code in unknown if (words := meanings(code))}
    asked, answered = (
        by_words[code].said(text) if code in by_words else said(text, code)
        for text, code in ((question, source), (answer, target))
    )
    axes = {*asked, *answered}
    if unknown - by_words.keys():
        axes = {MOOD}
    elif unknown:
        axes -= OF_SENTENCES - {MOOD}
        axes -= set() if all(words.negates for words in by_words.values()) else {NEGATION}
    both_ways = (asked, answered), (answered, asked)
    found = [
        Contrast(axis, *(_words(one.get(axis, {}), other.get(axis, {})) for one, other in both_ways))
        for axis in sorted(axes)
        if _exclude(axis, set(asked.get(axis, ())), set(answered.get(axis, ())), source == target)
        # "must not" and "cannot" forbid alike.
        and not (axis == DUTY and NEGATION in asked and NEGATION in answered)
        and not (axis == MOOD and any(_may_request(*pair) for pair in both_ways))
    ]
    if not unknown:
        found += [
            Contrast(ORDER, _words(asked[axis]), _words(answered[axis]))
            for axis in ROLES
            if axis in asked and axis in answered and _reordered(asked[axis], answered[axis])
        ]
    if source == target and (other := _other_words(question, answer, source, same)):
        found.append(other)
    return found


def _other_words(question: str, answer: str, language: str, same: Same) -> Contrast | None:
    """What two sentences of one language say differently by other words, or by their order or forms."""
    if question > answer:  # what is found must not depend on which of them was asked
        other = _other_words(answer, question, language, same)
        return other and Contrast(other.axis, other.answer, other.question)
    asked, answered = _units(question, language), _units(answer, language)
    if asked == answered:
        return None
    if _one_hearer(question, answer, language):
        asked = _as_addressed(asked, answered, language)
    partners = _partners(asked, answered, language, same)
    taken = {place for place in partners if place is not None}
    alone = [word for place, word in enumerate(asked) if place not in taken]
    others = [word for word, place in zip(answered, partners, strict=True) if place is None]
    left_out, added = ([word for word in rest if says(word, language)] for rest in (alone, others))
    if not left_out and not added:
        relation = _lexicon(language).relation
        before, after = ([word for word in rest if _head(word) in relation] for rest in (alone, others))
        if before and after:
            return Contrast(EXCHANGED, tuple(before), tuple(after))
        # "Home" says no more of "I am at home" than what it is about.
        part = 0 < len(taken) == min(len(asked), len(answered))
        much = part and len(alone) + len(others) >= MOST_ADDED * len(taken)
        if much or _count_of_numbers(question, language) != _count_of_numbers(answer, language):
            return Contrast(ADDED, tuple(alone), tuple(others))
        return _rearranged(asked, answered, partners, language)
    if left_out and added:
        return Contrast(EXCHANGED, tuple(left_out), tuple(added))
    if language not in known_languages():
        return None  # what is added may be "please", which only a file tells
    return Contrast(ADDED, tuple(left_out), tuple(added))


def _one_hearer(question: str, answer: str, language: str) -> bool:
    """Whether one of two texts may say politely to its hearer what the other says familiarly."""
    polite = _lexicon(language).polite
    # What a capital tells ("Sie") is not told where a text begins.
    told = [bool(polite.search(text[:1].lower() + text[1:])) for text in (question, answer)]
    others = [said(text, language).get(PERSON, {}).keys() - {YOU} for text in (question, answer)]
    return others[0] == others[1] and (not polite.pattern or told[0] != told[1])


def _as_addressed(asked: Sequence[str], answered: Sequence[str], language: str) -> list[str]:
    """The words asked, those that the other text says to the same hearer in another form in that form."""
    found = []
    for place, word in enumerate(asked):
        others = {
            word.removesuffix(one) + other
            for first, *pair in _lexicon(language).polite_forms
            for one, other in (pair, pair[::-1])
            if word.endswith(one) and not (first and place)
        }
        found.append(next(filter(others.__contains__, answered), word))
    return found


def _count_of_numbers(text: str, language: str) -> int:
    return numbers_in(text, words_of(text, language), language).total()


@lru_cache(WORDS_CACHED)
def says(word: str, language: str) -> bool:
    """Whether a word says something by itself: articles, pronouns, "please" do not, numbers are elsewhere."""
    word = _head(word)
    if not any(map(str.isalpha, word)) or may_have_number([word], language):
        return False
    if language in known_languages():
        function = _lexicon(language).function
        return word not in function and (has_spaces(language) or not function.issuperset(word))
    return len(word) > (LONGEST_FUNCTION_WORD if has_spaces(language) else 1)


def _rearranged(
    asked: Sequence[str], answered: Sequence[str], partners: Partners, language: str
) -> Contrast | None:
    """What two sentences of the same words say differently by the order or the forms of these words.

    One phrase that moves changes nothing ("today we eat", "we eat today"), two that change places do, and so
    do other endings of words that stay in place ("the guest is here", "the guests are here"). Only articles
    and other short words may have no partner.
    """
    if abs(len(asked) - len(answered)) > MOST_LEFT_OUT:
        return None
    order = [place for place in partners if place is not None]
    alone = [word for word, place in zip(answered, partners, strict=True) if place is None]
    alone += [word for place, word in enumerate(asked) if place not in order]
    if any(len(word) > LONGEST_FUNCTION_WORD for word in alone):
        return None
    changed = {
        place: word
        for word, place in zip(answered, partners, strict=True)
        if place is not None and _inflected(word, asked[place], language)
    }
    if order == sorted(order):
        if not changed:
            return None
        return Contrast(FORM, tuple(asked[place] for place in changed), tuple(changed.values()))
    exchanged = _exchanged(order, changed)
    if not exchanged:
        return None
    return Contrast(ORDER, *(2 * (tuple(asked[place] for place in exchanged),)))


def _inflected(one: str, other: str, language: str) -> bool:
    """Whether one word is another form of the other: it ends otherwise; what ends alike is misspelled.

    That something is going on ("drinks", "is drinking") is no other form.
    """
    if language == "en" and one.endswith("ing") != other.endswith("ing"):
        return False
    longer = one != other and (one.startswith(other) or other.startswith(one))
    return (longer or one[-1] != other[-1]) and _same_stem(one, other, language)


def _units(text: str, language: str) -> list[str]:
    """The words of a text, compounds with a hyphen as one, postpositions with the word before them."""
    units: list[str] = []
    for word in words_of(HYPHENATED.sub(partial(_joined, language), text), language):
        if units and word in POSTPOSITIONS.get(language, ()):
            units[-1] += f" {word}"
        else:
            units.append(word)
    return units


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
        lambda one, other: _same_stem(one, other, language),
        lambda one, other: _synonyms(_head(one), _head(other), language) or same(_head(one), _head(other)),
    ):
        for number, word in enumerate(answered):
            if partners[number] is None:
                found = next((place for place in free if alike(word, asked[place])), None)
                if found is not None:
                    partners[number] = found
                    del free[found]
    return partners


def _synonyms(one: str, other: str, language: str) -> bool:
    return not _meanings(one, language).isdisjoint(_meanings(other, language))


@lru_cache(WORDS_CACHED)
def _meanings(word: str, language: str) -> frozenset[int]:
    """The numbers of the lists of words that mean the same in which a word is."""
    lists = _lexicon(language).same
    return frozenset(number for number, pattern in enumerate(lists) if pattern.fullmatch(word))


def _same_stem(one: str, other: str, language: str) -> bool:
    one, other = (_plain(word, language) for word in (one, other))
    pairs = enumerate(zip(one, other, strict=False))
    common = next((place for place, (first, second) in pairs if first != second), min(len(one), len(other)))
    return common >= MIN_STEM and max(len(one), len(other)) - common <= LONGEST_ENDING


def _plain(word: str, language: str) -> str:
    """A word without accents, and in Arabic without article and the prefixes of verbs."""
    if language == "ar":
        word = ARABIC_PREFIX.sub("", word)
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if unicodedata.category(sign) != "Mn")


def _exchanged(order: Sequence[int], changed: Collection[int]) -> list[int]:
    """The places that change with each other: A M B becomes B M A; without M only if they change forms."""
    differ = [number for number, place in enumerate(order) if place != sorted(order)[number]]
    now = list(order[differ[0] : differ[-1] + 1])
    before = sorted(now)
    for first in range(1, len(before)):
        for last in range(1, len(before) - first + 1):
            end = len(before) - last
            ends = [*before[:first], *before[end:]]
            moved_alone = first == end and not any(place in changed for place in ends)
            if now == [*before[end:], *before[first:end], *before[:first]] and not moved_alone:
                return ends
    return []


def _exclude(axis: str, asked: set[str], answered: set[str], one_language: bool) -> bool:
    if axis == NEGATION or (axis == ASKED and one_language):
        return asked != answered
    if axis == MOOD and one_language:
        return asked != answered and bool(asked and answered)
    return bool(asked - answered) and bool(answered - asked)


def _may_request(asked: Said, answered: Said) -> bool:
    """Whether what is asked may be a request ("can I have water?"), and what is answered make it.

    A statement says no "can" of it, and what begins as a statement does ("he swims") says that it is wanted.
    """
    duty, stated = answered.get(DUTY, ()), answered.get(MOOD, {}).get(STATEMENT)
    asks = QUESTION in asked.get(MOOD, ()) and MAY in asked.get(DUTY, ())
    return asks and MAY not in duty and (WANT in duty or not stated)


def _reordered(asked: Mapping[str, object], answered: Mapping[str, object]) -> bool:
    """Whether values that both say come in another order."""
    return [value for value in asked if value in answered] != [value for value in answered if value in asked]


def _words(values: Mapping[str, Sequence[str]], others: Collection[str] = ()) -> tuple[str, ...]:
    """The words that say values, but those of `others`."""
    said = (found for value, found in values.items() if value not in others)
    return tuple(dict.fromkeys(word for found in said for word in found))


@lru_cache(TEXTS_CACHED)
def said(text: str, language: str) -> Said:
    """What a text says on each axis, with the words that say it, lower-cased.

    Of languages without a file the mood alone is known.
    """
    lexicon, clauses = _lexicon(language), _clauses(text, language)
    found: dict[str, dict[str, list[str]]] = {}
    for clause in clauses:
        begins = clause.split() if has_spaces(language) else clause
        begun = frozenset[str]().union(*(_begun_by(begin, language) for begin in begins))
        rest = lexicon.ignored.sub(" ", clause) if IGNORE in begun else clause
        for axis in filter(begun.__contains__, lexicon.axes):
            pattern, values = lexicon.axes[axis]
            for match in pattern.finditer(lexicon.affirmative.sub(" ", rest) if axis == NEGATION else rest):
                value = values[match.lastindex or 0]
                found.setdefault(axis, {}).setdefault(value, []).append(match.group())
    if mood := _mood(text, language, "".join(clauses).replace("  ", " ")):
        found[MOOD] = mood
    by = found.pop(DETAIL, {})
    if QUESTION in mood:
        mood |= by
    return found


def _mood(text: str, language: str, clauses: str) -> dict[str, list[str]]:
    """Whether a text asks or states, with what says so; {} if it may be either, and where nothing tells."""
    pattern, values = _lexicon(language).mood
    told: dict[str, list[str]] = {}
    for match in pattern.finditer(clauses):
        told.setdefault(values[match.lastindex or 0], []).append(match.group())
    if EITHER in told:
        return {}
    text = text.replace(";", "?") if language == "el" else text
    if marks := QUESTION_MARK.findall(text):  # one of several sentences that are not all questions is either
        return {QUESTION: marks} if QUESTION_END.search(text) else {}
    ended = STATEMENT_END.search(text) is not None
    if QUESTION in told:  # a full stop is typed after "where does it hurt", too
        return {} if ended else {QUESTION: told[QUESTION]}
    return {STATEMENT: told.get(STATEMENT, [])} if ended or STATEMENT in told else {}


@lru_cache(WORDS_CACHED)
def _begun_by(begin: str, language: str) -> frozenset[str]:
    """The axes, and IGNORE, with a phrase that may begin so: few, and their patterns take long to search."""
    begins = _lexicon(language).begins
    return frozenset(name for name, pattern in begins.items() if pattern.fullmatch(begin))


def _clauses(text: str, language: str) -> list[str]:
    """The clauses of a text, lower-cased, their words between single spaces; spaces at both ends."""
    text = clean(text).replace("’", "'")
    text = text.translate(TURKISH_I).lower() if language == "tr" else text.lower()
    if language in ELIDING_LANGUAGES:
        text = text.replace("'", "' ")
    clauses = [list(filter(None, map(_bare, clause.split()))) for clause in CLAUSE_ENDS.split(text)]
    return [f" {' '.join(words)} " for words in clauses if words]


@lru_cache(WORDS_CACHED)
def _bare(word: str) -> str:
    bared = bare(word)
    # The apostrophe of a clitic ("n' ai") is no quotation mark, which `bare` would drop.
    return bared + "'" if bared and word.endswith("'") else bared


class Lexicon(NamedTuple):
    """The file of a language: patterns of what is ignored, of what is affirmative, of the values of each axis
    and of each list of words that mean the same; the function words, and those of them that are relations.

    `mood` is an axis of the whole text, the others are of its clauses. `polite` finds its words as they are
    spelled; of `polite_forms`, whether each is of a first word, and both endings. `begins`: of each axis, and
    of what is ignored, a pattern of the words that its phrases begin with, or of the characters.
    """

    ignored: re.Pattern[str]
    affirmative: re.Pattern[str]
    axes: Mapping[str, Axis]
    mood: Axis
    function: frozenset[str]
    relation: frozenset[str]
    same: Sequence[re.Pattern[str]]
    polite: re.Pattern[str]
    polite_forms: Sequence[tuple[bool, str, str]]
    begins: Mapping[str, re.Pattern[str]]


@cache
def _lexicon(language: str) -> Lexicon:
    """The file of a language, or one that lists nothing."""
    path = Path(__file__).with_name(f"{language}.toml")
    axes = tomllib.loads(path.read_text("utf-8")) if language in known_languages() else {}
    not_said = {name: {name: axes.pop(name, [NOTHING])} for name in (IGNORE, AFFIRMATIVE)}
    ignored, affirmative = (_pattern(values, language).pattern for values in not_said.values())
    function, relation = (frozenset(axes.pop(name, ())) for name in (FUNCTION, RELATION))
    same = [re.compile(_any_of(synonyms.split())) for synonyms in axes.pop(SAME, ())]
    polite = re.compile(rf"\b({words})\b" if (words := _any_of(axes.pop(POLITE, ()))) else "")
    polite_forms = [
        (forms.startswith("^"), *forms.strip("^").split()) for forms in axes.pop(POLITE_FORMS, ())
    ]
    mood = _pattern(axes.pop(MOOD, {MOOD: [NOTHING]}), language)
    axes[NEGATION] = {NEGATION: axes.get(NEGATION, [NOTHING])}
    patterns = {axis: _pattern(values, language) for axis, values in axes.items()}
    begins = {axis: _beginnings(values, language) for axis, values in {**not_said, **axes}.items()}
    return Lexicon(
        ignored, affirmative, patterns, mood, function, relation, same, polite, polite_forms, begins
    )


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\*", r"\w*") for word in words)


def _pattern(values: Mapping[str, Sequence[str]], language: str) -> Axis:
    """A pattern that finds the phrases of each value, the longest of overlapping ones; its groups' values.

    Those that only begin a text come last: they are many, and looked for in one place.
    """
    phrases = [(phrase, value) for value, phrases in values.items() for phrase in phrases]
    phrases.sort(key=lambda pair: (pair[0].startswith("^"), -len(pair[0])))
    parts = [
        f"({re.escape(phrase.strip('^$'))})".replace(r"\*", "[^ ]*") + "(?= $)" * phrase.endswith("$")
        for phrase, _ in phrases
    ]
    anywhere = sum(not phrase.startswith("^") for phrase, _ in phrases)
    begin = [f"(?<=^ )(?:{'|'.join(parts[anywhere:])})"] if parts[anywhere:] else []
    joined = "|".join([*parts[:anywhere], *begin])
    pattern = f"(?:{joined})" if not has_spaces(language) else f"(?<= )(?:{joined})(?= )"
    return Axis(re.compile(pattern), ["", *(value for _, value in phrases)])


def _beginnings(values: Mapping[str, Sequence[str]], language: str) -> re.Pattern[str]:
    """A pattern of the words that phrases begin with; of characters where no spaces divide words."""
    phrases = [phrase.removeprefix("^").removesuffix("$") for value in values.values() for phrase in value]
    firsts = {phrase.split(" ")[0] if has_spaces(language) else phrase[0] for phrase in phrases}
    return re.compile(_any_of(sorted(firsts)))
