"""What one text says: the words by which it negates, asks, or names a side, a day or a person.

A language is one file, LANG.toml: what its words say on each axis. An axis has values that exclude each
other (`side` has left and right), and a value lists the words that say it. `*` stands for any letters of a
word, `$` after a word for the end of its clause, `^` before one for the beginning of the text. `negation`
is an axis with one value; `mood` tells questions and statements where no mark does, and what may be
`either`: requests and tags ("please", "isn't it"); `detail` has words by which a question is open
("which"). `hypothetical` is compared only with statements ("you could go" beside "you can go", but not
"could you go?" beside "can you go?" or "go"); its `either` says nothing ("would like"). `qualifier` has what
one of two sentences of a language must not say alone ("at least"); it and axes that English has not are
compared within a language, so that their values are its own. `ignore` lists
phrases that say nothing of the kind although they contain such words ("good night", "no problem"),
`affirmative` words that only look like negations (Czech "neděle", Sunday), `function` words that say
nothing by themselves (articles, pronouns, "please", but not "if", "again" or "many", which one of two
sentences may not have alone), `relation` those of these that differ where both sentences have one (before,
after), `auxiliary` those that make a tense or mood of another verb, `adverbial` words that begin a phrase
that says the same wherever it stands ("in the kitchen", "today"), `conjunctions` those between two things
in any order, `same` words that mean the same, as far as a sentence matters ("right_away": two words).
`polite_forms` are endings of what is said to one hearer, familiarly and politely ("st en": wohnst, wohnen;
`^` where it is the first word), `polite` words without which the second are of others (Sie), `tense_forms`
endings of one tense with other auxiliaries ("- ed": did swallow, has swallowed), `do_support` those with and
without an auxiliary ("does it hurt", "where it hurts"), `separable` what is before a verb or ends a text
(German "abfährt", "fährt ... ab"). `postpositions` say the part
of the word before, `prefix` is a pattern of what stands before a stem (an article, "and"), `choice` one that
asks by something and its negation ("疼不疼"), or by that alone ("¿No podría ...?"), whose group stays.
`event_first`: whether what something is before stands before that word.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from index.languages import ELIDING_LANGUAGES, has_spaces
from index.text.normalisation import QUESTION_MARK, bare, clean, lowered

NEGATION, DUTY, NEED, ASKED, ACT = "negation", "duty", "need", "asked", "act"
MOOD, QUESTION, STATEMENT, EITHER = "mood", "question", "statement", "either"
MUST, MAY, WANT, HYPOTHETICAL, COULD = "must", "may", "want", "hypothetical", "could"
BEFORE, TENSE, TENSE_FORMS, DO_SUPPORT = "before", "tense", "tense_forms", "do_support"
DETAIL = "detail"  # adds the value `open` to the mood of a question
IGNORE, AFFIRMATIVE, FUNCTION, RELATION = "ignore", "affirmative", "function", "relation"
AUXILIARY, ADVERBIAL, CONJUNCTIONS, SEPARABLE = "auxiliary", "adverbial", "conjunctions", "separable"
POSTPOSITIONS, PREFIX, CHOICE, EVENT_FIRST = "postpositions", "prefix", "choice", "event_first"
KINDS = FUNCTION, RELATION, AUXILIARY, ADVERBIAL, CONJUNCTIONS, SEPARABLE, POSTPOSITIONS
SAME, PERSON, YOU, POLITE, POLITE_FORMS = "same", "person", "you", "polite", "polite_forms"
CLAUSE_ENDS = re.compile(r"[.,;:!?…。，、；：！？؟،؛।]+")
QUESTION_END = re.compile(rf"(?:{QUESTION_MARK.pattern})\W*$")
STATEMENT_END = re.compile(r"[.!。！।։።]\W*$")
JOINT = "_"  # between the words of a phrase that means what a word does
NOTHING = "\0"  # in no cleaned text
TEXTS_CACHED, WORDS_CACHED = 1 << 13, 1 << 14

Said = Mapping[str, Mapping[str, Sequence[str]]]  # axis -> value -> the words that say it


class Axis(NamedTuple):
    """A pattern that finds the words of an axis, and its values: group n ends those of value number n."""

    pattern: re.Pattern[str]
    values: Sequence[str]


class Lexicon(NamedTuple):
    """The file of a language: patterns of what is ignored, of what is affirmative, of the values of each axis
    and of lists of words that mean the same, by first letter; the words of each of KINDS.

    `mood` is an axis of the whole text, the others are of its clauses. `phrases` finds those of several words
    that mean what others do; of `polite_forms`, whether each is of a first word, and both endings. `begins`:
    of each axis, and of what is ignored, a pattern of the words, or characters, that its phrases begin with.
    """

    ignored: re.Pattern[str]
    affirmative: re.Pattern[str]
    axes: Mapping[str, Axis]
    mood: Axis
    kinds: Mapping[str, frozenset[str]]
    same: Mapping[str, Sequence[re.Pattern[str]]]
    phrases: re.Pattern[str]
    polite: re.Pattern[str]
    polite_forms: Sequence[tuple[bool, str, str]]
    tense_forms: Sequence[Sequence[str]]
    do_support: Mapping[str, Sequence[Sequence[str]]]
    prefix: re.Pattern[str]
    choice: re.Pattern[str]
    event_first: bool
    begins: Mapping[str, re.Pattern[str]]


@cache
def known_languages() -> frozenset[str]:
    """The languages whose contrasts are known."""
    return frozenset(path.stem for path in Path(__file__).parent.glob("*.toml"))


@lru_cache(TEXTS_CACHED)
def said(text: str, language: str) -> Said:
    """What a text says on each axis, with the words that say it, lower-cased.

    Of languages without a file the mood alone is known.
    """
    lexicon, clauses = lexicon_of(language), _clauses(text, language)
    found: dict[str, dict[str, list[str]]] = {}
    for clause in clauses:
        begun = frozenset[str]().union(*(_begun_by(begin, language) for begin in _begins(clause, language)))
        rest = lexicon.ignored.sub(" ", clause) if IGNORE in begun else clause
        for axis in filter(begun.__contains__, lexicon.axes):
            pattern, values = lexicon.axes[axis]
            for match in pattern.finditer(lexicon.affirmative.sub(" ", rest) if axis == NEGATION else rest):
                found.setdefault(axis, {}).setdefault(values[match.lastindex or 0], []).append(match.group())
    if mood := _mood(text, language, "".join(clauses).replace("  ", " ")):
        found[MOOD] = mood
    if QUESTION in mood:
        mood |= found.get(DETAIL, {})
    return found


def _mood(text: str, language: str, clauses: str) -> dict[str, list[str]]:
    """Whether a text asks or states, with what says so; {} if it may be either, and where nothing tells."""
    pattern, values = lexicon_of(language).mood
    told: dict[str, list[str]] = {}
    for match in pattern.finditer(clauses):
        told.setdefault(values[match.lastindex or 0], []).append(match.group())
    if EITHER in told:
        return {}
    if marks := QUESTION_MARK.findall(text):  # one of several sentences that are not all questions is either
        return {QUESTION: marks} if QUESTION_END.search(text) else {}
    ended = STATEMENT_END.search(text) is not None
    if QUESTION in told:  # a full stop is typed after "where does it hurt", too
        return {} if ended else {QUESTION: told[QUESTION]}
    return {STATEMENT: told.get(STATEMENT, [])} if ended or STATEMENT in told else {}


def may_say(axis: str, text: str, language: str) -> bool:
    """Whether a text has a word that a phrase of an axis begins with, which is found soon."""
    return any(
        axis in _begun_by(begin, language)
        for clause in _clauses(text, language)
        for begin in _begins(clause, language)
    )


def _begins(clause: str, language: str) -> Sequence[str]:
    """What phrases may begin with: words, or characters where no spaces divide these."""
    return clause.split() if has_spaces(language) else clause


@lru_cache(WORDS_CACHED)
def _begun_by(begin: str, language: str) -> frozenset[str]:
    """The axes, and IGNORE, with a phrase that may begin so: few, and their patterns take long to search."""
    return frozenset(axis for axis, begins in lexicon_of(language).begins.items() if begins.fullmatch(begin))


@lru_cache(TEXTS_CACHED)
def _clauses(text: str, language: str) -> Sequence[str]:
    """The clauses of a text, lower-cased, their words between single spaces; spaces at both ends."""
    text = asked_plainly(lowered(clean(text), language), language).replace("’", "'")
    if language in ELIDING_LANGUAGES:
        text = text.replace("'", "' ")
    clauses = [list(filter(None, map(_bare, clause.split()))) for clause in CLAUSE_ENDS.split(text)]
    return [f" {' '.join(words)} " for words in clauses if words]


def asked_plainly(text: str, language: str) -> str:
    """A text without the choice between something and its negation, which only asks."""
    return lexicon_of(language).choice.sub(r"\1", text)


@lru_cache(WORDS_CACHED)
def _bare(word: str) -> str:
    bared = bare(word)
    # The apostrophe of a clitic ("n' ai") is no quotation mark, which `bare` would drop.
    return bared + "'" if bared and word.endswith("'") else bared


@cache
def lexicon_of(language: str) -> Lexicon:
    """The file of a language, or one that lists nothing."""
    path = Path(__file__).with_name(f"{language}.toml")
    axes = tomllib.loads(path.read_text("utf-8")) if language in known_languages() else {}
    not_said = {name: {name: axes.pop(name, [NOTHING])} for name in (IGNORE, AFFIRMATIVE)}
    ignored, affirmative = (_pattern(values, language).pattern for values in not_said.values())
    synonyms = [words.split() for words in axes.pop(SAME, ())]
    same: dict[str, list[re.Pattern[str]]] = {}
    for words in synonyms:
        pattern = re.compile(_any_of(words))
        for letter in {word[0] for word in words}:
            same.setdefault(letter, []).append(pattern)
    several = [word.replace(JOINT, "\t") for words in synonyms for word in words if JOINT in word]
    joined = _any_of(several).replace("\\\t", "[\t ]") or NOTHING  # a space before a postposition
    polite = _any_of(axes.pop(POLITE, ()))
    axes[NEGATION] = {NEGATION: axes.get(NEGATION, [NOTHING])}
    return Lexicon(
        ignored=ignored,
        affirmative=affirmative,
        mood=_pattern(axes.pop(MOOD, {MOOD: [NOTHING]}), language),
        kinds={kind: frozenset(axes.pop(kind, ())) for kind in KINDS},
        same=same,
        phrases=re.compile(rf"(?<![^\t])(?:{joined})(?![^\t])"),
        polite=re.compile(rf"\b({polite})\b" if polite else ""),
        polite_forms=[(pair[0] == "^", *pair.strip("^").split()) for pair in axes.pop(POLITE_FORMS, ())],
        tense_forms=_endings(axes.pop(TENSE_FORMS, ())),
        do_support={verb: _endings(pairs) for verb, pairs in axes.pop(DO_SUPPORT, {}).items()},
        prefix=re.compile(axes.pop(PREFIX, NOTHING)),
        choice=re.compile(axes.pop(CHOICE, f"({NOTHING})")),
        event_first=axes.pop(EVENT_FIRST, False),
        # What is left.
        axes={axis: _pattern(values, language) for axis, values in axes.items()},
        begins={axis: _beginnings(values, language) for axis, values in {**not_said, **axes}.items()},
    )


def _endings(pairs: Iterable[str]) -> list[list[str]]:
    return [pair.replace("-", "").split(" ") for pair in pairs]


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\*", r"\S*") for word in sorted(words, key=len, reverse=True))


def _pattern(values: Mapping[str, Sequence[str]], language: str) -> Axis:
    """A pattern that finds the phrases of each value, the longest of overlapping ones; its groups' values.

    Those that only begin a text come last: they are many, and looked for in one place.
    """
    phrases = [(phrase, value) for value, phrases in values.items() for phrase in phrases]
    phrases.sort(key=lambda pair: (pair[0].startswith("^"), -len(pair[0])))
    # The groups are empty, after their phrases: one that begins otherwise than the text is passed at once.
    parts = [
        re.escape(phrase.strip("^$")).replace(r"\*", "[^ ]*") + "()" + "(?= $)" * phrase.endswith("$")
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
    return re.compile(_any_of(firsts))
