"""Facts of languages, each once: codes (BCP 47) in all spellings, names, scripts, how they are written."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import langcodes

# What we take as a code: it is part of file names.
LANGUAGE_CODE = r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$"
LONGEST_TAG = 35  # characters: RFC 5646, 4.4.1
TAGS_REMEMBERED = 1 << 12  # a hostile file may have a different tag in every unit
# Bokmål goes with Norwegian; Indonesian in tables, where `id` is another column; LibreTranslate's own codes.
OTHER_CODES = {"nb": "no", "ind": "id", "pb": "pt-BR", "zt": "zh-Hant"}
# Our codes that have other names in fastText; otherwise the name is the first part of the code.
FASTTEXT_NAMES = {"fil": "tl", "sr-Latn": "sh", "nb": "no"}
# How gettext and the C library name scripts: sr@latin.
POSIX_SCRIPTS = {"arabic": "Arab", "cyrillic": "Cyrl", "devanagari": "Deva", "latin": "Latn"}
# With clitics that are joined to the next word: "l'homme" is two words.
ELIDING_LANGUAGES = frozenset({"ca", "fr", "it"})
# With a dotless i, whose capital is I.
DOTLESS_LANGUAGES = frozenset({"az", "crh", "tr"})
# Where an ordinal number is written with a full stop: "am 3. Mai".
ORDINAL_LANGUAGES = frozenset(
    {"bs", "cs", "da", "de", "et", "fi", "fo", "hr", "hu", "is"}
    | {"lv", "nb", "nn", "no", "pl", "sk", "sl", "sr", "tr"}
)
# Scripts without spaces between words (ISO 15924): the Unicode scripts of their letters.
UNSPACED_SCRIPTS = {
    "Hans": ("Han",),
    "Hant": ("Han", "Bopomofo"),
    "Jpan": ("Han", "Hiragana", "Katakana"),
    "Thai": ("Thai",),
    "Laoo": ("Lao",),
    "Khmr": ("Khmer",),
    "Mymr": ("Myanmar",),
    "Tibt": ("Tibetan",),
    "Yiii": ("Yi",),
}
UNSPACED_LETTERS = tuple(dict.fromkeys(name for names in UNSPACED_SCRIPTS.values() for name in names))
LANGUAGE_TABLE = Path(__file__).with_name("languages.tsv")  # code, name in English, own name, script
# How the Unicode names of such letters begin.
_UNSPACED_NAMES = tuple("CJK" if name == "Han" else f"{name.upper()} " for name in UNSPACED_LETTERS)


@dataclass(frozen=True)
class Language:
    """A language: `name` in English, `native` as its speakers write it, `script` by ISO 15924."""

    code: str
    name: str
    native: str
    script: str


@cache
def languages() -> dict[str, Language]:
    """All languages that we have names for, by code."""
    rows = (line.split("\t") for line in LANGUAGE_TABLE.read_text("utf-8").splitlines()[1:])
    return {row[0]: Language(*row) for row in rows}


def language(code: str) -> Language:
    """The language of a code; one that we have no names for goes by its code."""
    return languages().get(code) or Language(code, code, code, "Zyyy")


def is_named(tag: str) -> bool:
    """Whether a tag, as a column or an extension, is the code of a language that we have names for.

    Of codes with three letters, which many words are, only our own count, and qaa to qtz: these are for
    languages that have none.
    """
    first = tag.replace("_", "-").partition("-")[0].lower()
    if re.fullmatch("q[a-t][a-z]", first):
        return True
    standard = standard_code(tag)
    return (
        re.match(LANGUAGE_CODE, standard) is not None
        and (len(first) == 2 or first in languages() or first in OTHER_CODES)
        and standard.partition("-")[0] in languages()
    )


def is_language(code: str) -> bool:
    """Whether a code, as we write it, is registered: no test of whether we have names for its language."""
    return re.match(LANGUAGE_CODE, code) is not None and langcodes.tag_is_valid(code)


def has_spaces(code: str) -> bool:
    """Whether a language is written with spaces between its words."""
    found = languages().get(code) or language(code.partition("-")[0])
    return found.script not in UNSPACED_SCRIPTS


def is_unspaced(character: str) -> bool:
    """Whether a character is a letter of a script without spaces between words."""
    return unicodedata.name(character, "").startswith(_UNSPACED_NAMES)


def lookup(tag: str, known: Collection[str]) -> str | None:
    """The known code of a tag in any spelling, dropping last parts (RFC 4647, 3.4); None without a match.

    `nb` is found as `no`, `zh-TW` as `zh-Hant`, `en-US` as `en`; what is spelled the same goes first.
    """
    if len(tag) > LONGEST_TAG:
        return None
    spelled = {code.lower(): code for code in known}
    if (code := spelled.get(tag.replace("_", "-").lower())) is not None:
        return code
    standard, tag = {standard_code(code).lower(): code for code in known}, standard_code(tag).lower()
    while tag not in standard and "-" in tag:
        tag = tag.rpartition("-")[0]
    return standard.get(tag)


@lru_cache(TAGS_REMEMBERED)
def standard_code(tag: str) -> str:
    """A tag in any spelling as BCP 47 writes it: `iw` -> `he`, `sr@latin` -> `sr-Latn`.

    The languages above keep their codes; another goes by its macrolanguage (ISO 639-3). A territory
    that implies another script than the language's own gives way to it: `zh_TW` -> `zh-Hant`. What is not a
    tag comes back as it is.
    """
    if len(tag) > LONGEST_TAG:
        return tag
    name, _, modifier = tag.replace("_", "-").partition("@")
    first, *rest = name.partition(".")[0].split("-")  # en_GB.UTF-8
    # Of modifiers only scripts count: de_DE@euro is German.
    spelled = [OTHER_CODES.get(first.lower(), first), POSIX_SCRIPTS.get(modifier.lower()), *rest]
    try:
        found = langcodes.Language.get("-".join(filter(None, spelled)), normalize=False)
        if found.language not in languages():
            found = langcodes.Language.get(str(found)).prefer_macrolanguage()
    except ValueError:
        return tag
    make, code, script, territory = langcodes.Language.make, found.language, found.script, found.territory
    own_script = make(language=code).maximize().script
    if script is None and territory and (script := found.maximize().script) != own_script:
        likely = make(language=code, script=script).maximize().territory
        territory = None if territory == likely else territory
    return "-".join(filter(None, (code, None if script == own_script else script, territory))) or tag
