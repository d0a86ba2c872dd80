"""Every fact of a language, once: its BCP 47 code in all spellings, its names, script and spaces."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import langcodes

# What we take as a code: it is part of file names.
LANGUAGE_CODE = r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$"
LONGEST_TAG = 35  # characters: RFC 5646, 4.4.1
TAGS_REMEMBERED = 1 << 12  # a hostile file may have a different tag in every unit
# Bokmål goes with Norwegian; Indonesian in tables, where `id` is another column; LibreTranslate's own codes.
OTHER_CODES = {"nb": "no", "ind": "id", "pb": "pt-BR", "zt": "zh-Hant"}
# How gettext and the C library name scripts: sr@latin.
POSIX_SCRIPTS = {"arabic": "Arab", "cyrillic": "Cyrl", "devanagari": "Deva", "latin": "Latn"}
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
# How the Unicode names of such letters begin.
_UNSPACED_NAMES = tuple("CJK" if name == "Han" else f"{name.upper()} " for name in UNSPACED_LETTERS)

# code | English name | own name | script
LANGUAGE_TABLE = """
ach | Acholi | Acoli | Latn
ada | Dangme | Dangme | Latn
adh | Adhola | Dhopadhola | Latn
aeb | Tunisian Arabic | Derja | Latn
af | Afrikaans | Afrikaans | Latn
ak | Akan | Akan | Latn
am | Amharic | አማርኛ | Ethi
an | Aragonese | aragonés | Latn
ar | Arabic | العربية | Arab
as | Assamese | অসমীয়া | Beng
ast | Asturian | asturianu | Latn
az | Azerbaijani | azərbaycan | Latn
ba | Bashkir | башҡорт | Cyrl
be | Belarusian | беларуская | Cyrl
bem | Bemba | Ichibemba | Latn
bg | Bulgarian | български | Cyrl
bn | Bangla | বাংলা | Beng
bo | Tibetan | བོད་སྐད་ | Tibt
br | Breton | brezhoneg | Latn
bs | Bosnian | bosanski | Latn
ca | Catalan | català | Latn
chr | Cherokee | ᏣᎳᎩ | Cher
ckb | Central Kurdish | کوردیی ناوەندی | Arab
cs | Czech | čeština | Latn
cv | Chuvash | чӑваш | Cyrl
cy | Welsh | Cymraeg | Latn
da | Danish | dansk | Latn
dag | Dagbani | Dagbanli | Latn
de | German | Deutsch | Latn
dga | Dagaare | Dagaare | Latn
dje | Zarma | Zarmaciine | Latn
dsb | Lower Sorbian | dolnoserbšćina | Latn
ee | Ewe | Eʋegbe | Latn
el | Greek | Ελληνικά | Grek
en | English | English | Latn
eo | Esperanto | Esperanto | Latn
es | Spanish | español | Latn
et | Estonian | eesti | Latn
eu | Basque | euskara | Latn
fa | Persian | فارسی | Arab
fat | Fante | Mfantse | Latn
ff | Fulah | Pulaar | Latn
fi | Finnish | suomi | Latn
fil | Filipino | Filipino | Latn
fo | Faroese | føroyskt | Latn
fr | French | français | Latn
ga | Irish | Gaeilge | Latn
gaa | Ga | Gã | Latn
gd | Scottish Gaelic | Gàidhlig | Latn
gjn | Gonja | Ngbanyito | Latn
gl | Galician | galego | Latn
gu | Gujarati | ગુજરાતી | Gujr
gur | Frafra | Gurenɛ | Latn
guz | Gusii | Ekegusii | Latn
ha | Hausa | Hausa | Latn
he | Hebrew | עברית | Hebr
hi | Hindi | हिन्दी | Deva
hr | Croatian | hrvatski | Latn
hsb | Upper Sorbian | hornjoserbšćina | Latn
ht | Haitian Creole | Kreyòl ayisyen | Latn
hu | Hungarian | magyar | Latn
hy | Armenian | հայերեն | Armn
hz | Herero | Otjiherero | Latn
id | Indonesian | Indonesia | Latn
ig | Igbo | Igbo | Latn
is | Icelandic | íslenska | Latn
it | Italian | italiano | Latn
iu | Inuktitut | ᐃᓄᒃᑎᑐᑦ | Cans
ja | Japanese | 日本語 | Jpan
jam | Jamaican Creole | Patwa | Latn
jv | Javanese | Jawa | Latn
ka | Georgian | ქართული | Geor
kab | Kabyle | Taqbaylit | Latn
kam | Kamba | Kikamba | Latn
keo | Kakwa | Kutuk na Kakwa | Latn
ki | Kikuyu | Gikuyu | Latn
kj | Kuanyama | Oshikwanyama | Latn
kk | Kazakh | қазақ тілі | Cyrl
kk-Arab | Kazakh (Arabic) | قازاق ٴتىلى | Arab
kln | Kalenjin | Kalenjin | Latn
km | Khmer | ខ្មែរ | Khmr
kn | Kannada | ಕನ್ನಡ | Knda
ko | Korean | 한국어 | Kore
kok | Konkani | कोंकणी | Deva
kr | Kanuri | Kanuri | Latn
kwn | Kwangali | Rukwangali | Latn
ky | Kyrgyz | кыргызча | Cyrl
laj | Lango | Leblango | Latn
lg | Ganda | Luganda | Latn
lgg | Lugbara | Lugbarati | Latn
lko | Khayo | Olukhayo | Latn
lo | Lao | ລາວ | Laoo
loz | Lozi | Silozi | Latn
lsm | Saamia | Olusamia | Latn
lt | Lithuanian | lietuvių | Latn
luc | Aringa | Aringa | Latn
luo | Luo | Dholuo | Latn
lv | Latvian | latviešu | Latn
lwg | Wanga | Oluwanga | Latn
mas | Maasai | ɔl Maa | Latn
mer | Meru | Kimeru | Latn
mfe | Mauritian Creole | kreol morisien | Latn
mk | Macedonian | македонски | Cyrl
ml | Malayalam | മലയാളം | Mlym
mn | Mongolian | монгол | Cyrl
mnw | Mon | ဘာသာမန် | Mymr
mr | Marathi | मराठी | Deva
ms | Malay | Melayu | Latn
my | Burmese | မြန်မာ | Mymr
myx | Masaaba | Lumasaaba | Latn
naq | Nama | Khoekhoegowab | Latn
ne | Nepali | नेपाली | Deva
ng | Ndonga | Oshindonga | Latn
nl | Dutch | Nederlands | Latn
nn | Norwegian Nynorsk | norsk nynorsk | Latn
no | Norwegian | norsk | Latn
nr | South Ndebele | isiNdebele | Latn
nso | Northern Sotho | Sesotho sa Leboa | Latn
nuj | Nyole | Lunyole | Latn
ny | Nyanja | Chinyanja | Latn
nyn | Nyankole | Runyankore | Latn
nzi | Nzima | Nzema | Latn
om | Oromo | Oromoo | Latn
or | Odia | ଓଡ଼ିଆ | Orya
pa | Punjabi | ਪੰਜਾਬੀ | Guru
pcm | Nigerian Pidgin | Naijíriá Píjin | Latn
pl | Polish | polski | Latn
prs | Dari | دری | Arab
ps | Pashto | پښتو | Arab
pt | Portuguese | português | Latn
qu | Quechua | Runasimi | Latn
rki | Rakhine | ရခိုင်ဘာသာ | Mymr
rm | Romansh | rumantsch | Latn
ro | Romanian | română | Latn
ru | Russian | русский | Cyrl
rw | Kinyarwanda | Ikinyarwanda | Latn
sd | Sindhi | سنڌي | Arab
shn | Shan | တႆး | Mymr
si | Sinhala | සිංහල | Sinh
sk | Slovak | slovenčina | Latn
sl | Slovenian | slovenščina | Latn
so | Somali | Soomaali | Latn
son | Songhay | Soŋay | Latn
sq | Albanian | shqip | Latn
sr | Serbian | српски | Cyrl
sr-Latn | Serbian (Latin) | srpski | Latn
ss | Swati | siSwati | Latn
st | Southern Sotho | Sesotho | Latn
sv | Swedish | svenska | Latn
sw | Swahili | Kiswahili | Latn
ta | Tamil | தமிழ் | Taml
te | Telugu | తెలుగు | Telu
teo | Teso | Ateso | Latn
tet | Tetum | Tetun | Latn
th | Thai | ไทย | Thai
ti | Tigrinya | ትግርኛ | Ethi
tk | Turkmen | türkmen dili | Latn
tn | Tswana | Setswana | Latn
to | Tongan | lea fakatonga | Latn
toi | Tonga (Zambia) | Chitonga | Latn
tr | Turkish | Türkçe | Latn
ts | Tsonga | Xitsonga | Latn
tsc | Tswa | Xitswa | Latn
ttj | Tooro | Rutooro | Latn
tuv | Turkana | Ng’aturkana | Latn
tw | Twi | Twi | Latn
uk | Ukrainian | українська | Cyrl
ur | Urdu | اردو | Arab
uz | Uzbek | o‘zbek | Latn
ve | Venda | Tshivenḓa | Latn
vec | Venetian | veneto | Latn
vi | Vietnamese | Tiếng Việt | Latn
xh | Xhosa | isiXhosa | Latn
xog | Soga | Lusoga | Latn
xsm | Kasem | Kasem | Latn
yo | Yoruba | Yorùbá | Latn
yue | Cantonese | 粵語 | Hant
yue-Hans | Cantonese (Simplified) | 粤语 | Hans
zh | Chinese | 中文 | Hans
zh-Hant | Chinese (Traditional) | 繁體中文 | Hant
zu | Zulu | isiZulu | Latn
"""


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
    rows = ([part.strip() for part in line.split("|")] for line in LANGUAGE_TABLE.strip().splitlines())
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
    if (code := _lookup(tag.replace("_", "-").lower(), spelled, shorten=False)) is not None:
        return code
    standard = {standard_code(code).lower(): code for code in known}
    return _lookup(standard_code(tag).lower(), standard, shorten=True)


def _lookup(tag: str, known: Mapping[str, str], *, shorten: bool) -> str | None:
    while tag not in known and shorten and "-" in tag:
        tag = tag.rpartition("-")[0]
    return known.get(tag)


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
    spelled = [OTHER_CODES.get(first.lower(), first), *rest, POSIX_SCRIPTS.get(modifier.lower(), modifier)]
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
