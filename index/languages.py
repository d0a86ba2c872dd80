"""Every fact of a language, once: its BCP 47 code in all spellings, its names, script, family and spaces."""

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

# code | English name | own name | script | family
LANGUAGE_TABLE = """
ach | Acholi | Acoli | Latn | Nilotic
ada | Dangme | Dangme | Latn | Kwa
adh | Adhola | Dhopadhola | Latn | Nilotic
aeb | Tunisian Arabic | Derja | Latn | Semitic
af | Afrikaans | Afrikaans | Latn | Germanic
ak | Akan | Akan | Latn | Kwa
am | Amharic | አማርኛ | Ethi | Semitic
an | Aragonese | aragonés | Latn | Romance
ar | Arabic | العربية | Arab | Semitic
as | Assamese | অসমীয়া | Beng | Indo-Aryan
ast | Asturian | asturianu | Latn | Romance
az | Azerbaijani | azərbaycan | Latn | Turkic
ba | Bashkir | башҡорт | Cyrl | Turkic
be | Belarusian | беларуская | Cyrl | Slavic
bem | Bemba | Ichibemba | Latn | Bantu
bg | Bulgarian | български | Cyrl | Slavic
bn | Bangla | বাংলা | Beng | Indo-Aryan
bo | Tibetan | བོད་སྐད་ | Tibt | Sino-Tibetan
br | Breton | brezhoneg | Latn | Celtic
bs | Bosnian | bosanski | Latn | Slavic
ca | Catalan | català | Latn | Romance
chr | Cherokee | ᏣᎳᎩ | Cher | Iroquoian
ckb | Central Kurdish | کوردیی ناوەندی | Arab | Iranian
cs | Czech | čeština | Latn | Slavic
cv | Chuvash | чӑваш | Cyrl | Turkic
cy | Welsh | Cymraeg | Latn | Celtic
da | Danish | dansk | Latn | Germanic
dag | Dagbani | Dagbanli | Latn | Gur
de | German | Deutsch | Latn | Germanic
dga | Dagaare | Dagaare | Latn | Gur
dje | Zarma | Zarmaciine | Latn | Songhay
dsb | Lower Sorbian | dolnoserbšćina | Latn | Slavic
ee | Ewe | Eʋegbe | Latn | Gbe
el | Greek | Ελληνικά | Grek | Hellenic
en | English | English | Latn | Germanic
eo | Esperanto | Esperanto | Latn | constructed
es | Spanish | español | Latn | Romance
et | Estonian | eesti | Latn | Uralic
eu | Basque | euskara | Latn | Basque
fa | Persian | فارسی | Arab | Iranian
fat | Fante | Mfantse | Latn | Kwa
ff | Fulah | Pulaar | Latn | Atlantic
fi | Finnish | suomi | Latn | Uralic
fil | Filipino | Filipino | Latn | Austronesian
fo | Faroese | føroyskt | Latn | Germanic
fr | French | français | Latn | Romance
ga | Irish | Gaeilge | Latn | Celtic
gaa | Ga | Gã | Latn | Kwa
gd | Scottish Gaelic | Gàidhlig | Latn | Celtic
gjn | Gonja | Ngbanyito | Latn | Kwa
gl | Galician | galego | Latn | Romance
gu | Gujarati | ગુજરાતી | Gujr | Indo-Aryan
gur | Frafra | Gurenɛ | Latn | Gur
guz | Gusii | Ekegusii | Latn | Bantu
ha | Hausa | Hausa | Latn | Chadic
he | Hebrew | עברית | Hebr | Semitic
hi | Hindi | हिन्दी | Deva | Indo-Aryan
hr | Croatian | hrvatski | Latn | Slavic
hsb | Upper Sorbian | hornjoserbšćina | Latn | Slavic
ht | Haitian Creole | Kreyòl ayisyen | Latn | French creole
hu | Hungarian | magyar | Latn | Uralic
hy | Armenian | հայերեն | Armn | Armenian
hz | Herero | Otjiherero | Latn | Bantu
id | Indonesian | Indonesia | Latn | Austronesian
ig | Igbo | Igbo | Latn | Volta-Niger
is | Icelandic | íslenska | Latn | Germanic
it | Italian | italiano | Latn | Romance
iu | Inuktitut | ᐃᓄᒃᑎᑐᑦ | Cans | Eskimo-Aleut
ja | Japanese | 日本語 | Jpan | Japonic
jam | Jamaican Creole | Patwa | Latn | English creole
jv | Javanese | Jawa | Latn | Austronesian
ka | Georgian | ქართული | Geor | Kartvelian
kab | Kabyle | Taqbaylit | Latn | Berber
kam | Kamba | Kikamba | Latn | Bantu
keo | Kakwa | Kutuk na Kakwa | Latn | Nilotic
ki | Kikuyu | Gikuyu | Latn | Bantu
kj | Kuanyama | Oshikwanyama | Latn | Bantu
kk | Kazakh | қазақ тілі | Cyrl | Turkic
kk-Arab | Kazakh (Arabic) | قازاق ٴتىلى | Arab | Turkic
kln | Kalenjin | Kalenjin | Latn | Nilotic
km | Khmer | ខ្មែរ | Khmr | Austroasiatic
kn | Kannada | ಕನ್ನಡ | Knda | Dravidian
ko | Korean | 한국어 | Kore | Koreanic
kok | Konkani | कोंकणी | Deva | Indo-Aryan
kr | Kanuri | Kanuri | Latn | Saharan
kwn | Kwangali | Rukwangali | Latn | Bantu
ky | Kyrgyz | кыргызча | Cyrl | Turkic
laj | Lango | Leblango | Latn | Nilotic
lg | Ganda | Luganda | Latn | Bantu
lgg | Lugbara | Lugbarati | Latn | Central Sudanic
lko | Khayo | Olukhayo | Latn | Bantu
lo | Lao | ລາວ | Laoo | Kra-Dai
loz | Lozi | Silozi | Latn | Bantu
lsm | Saamia | Olusamia | Latn | Bantu
lt | Lithuanian | lietuvių | Latn | Baltic
luc | Aringa | Aringa | Latn | Central Sudanic
luo | Luo | Dholuo | Latn | Nilotic
lv | Latvian | latviešu | Latn | Baltic
lwg | Wanga | Oluwanga | Latn | Bantu
mas | Maasai | ɔl Maa | Latn | Nilotic
mer | Meru | Kimeru | Latn | Bantu
mfe | Mauritian Creole | kreol morisien | Latn | French creole
mk | Macedonian | македонски | Cyrl | Slavic
ml | Malayalam | മലയാളം | Mlym | Dravidian
mn | Mongolian | монгол | Cyrl | Mongolic
mnw | Mon | ဘာသာမန် | Mymr | Austroasiatic
mr | Marathi | मराठी | Deva | Indo-Aryan
ms | Malay | Melayu | Latn | Austronesian
my | Burmese | မြန်မာ | Mymr | Sino-Tibetan
myx | Masaaba | Lumasaaba | Latn | Bantu
naq | Nama | Khoekhoegowab | Latn | Khoe
ne | Nepali | नेपाली | Deva | Indo-Aryan
ng | Ndonga | Oshindonga | Latn | Bantu
nl | Dutch | Nederlands | Latn | Germanic
nn | Norwegian Nynorsk | norsk nynorsk | Latn | Germanic
no | Norwegian | norsk | Latn | Germanic
nr | South Ndebele | isiNdebele | Latn | Bantu
nso | Northern Sotho | Sesotho sa Leboa | Latn | Bantu
nuj | Nyole | Lunyole | Latn | Bantu
ny | Nyanja | Chinyanja | Latn | Bantu
nyn | Nyankole | Runyankore | Latn | Bantu
nzi | Nzima | Nzema | Latn | Kwa
om | Oromo | Oromoo | Latn | Cushitic
or | Odia | ଓଡ଼ିଆ | Orya | Indo-Aryan
pa | Punjabi | ਪੰਜਾਬੀ | Guru | Indo-Aryan
pcm | Nigerian Pidgin | Naijíriá Píjin | Latn | English creole
pl | Polish | polski | Latn | Slavic
prs | Dari | دری | Arab | Iranian
ps | Pashto | پښتو | Arab | Iranian
pt | Portuguese | português | Latn | Romance
qu | Quechua | Runasimi | Latn | Quechuan
rki | Rakhine | ရခိုင်ဘာသာ | Mymr | Sino-Tibetan
rm | Romansh | rumantsch | Latn | Romance
ro | Romanian | română | Latn | Romance
ru | Russian | русский | Cyrl | Slavic
rw | Kinyarwanda | Ikinyarwanda | Latn | Bantu
sd | Sindhi | سنڌي | Arab | Indo-Aryan
shn | Shan | တႆး | Mymr | Kra-Dai
si | Sinhala | සිංහල | Sinh | Indo-Aryan
sk | Slovak | slovenčina | Latn | Slavic
sl | Slovenian | slovenščina | Latn | Slavic
so | Somali | Soomaali | Latn | Cushitic
son | Songhay | Soŋay | Latn | Songhay
sq | Albanian | shqip | Latn | Albanian
sr | Serbian | српски | Cyrl | Slavic
sr-Latn | Serbian (Latin) | srpski | Latn | Slavic
ss | Swati | siSwati | Latn | Bantu
st | Southern Sotho | Sesotho | Latn | Bantu
sv | Swedish | svenska | Latn | Germanic
sw | Swahili | Kiswahili | Latn | Bantu
ta | Tamil | தமிழ் | Taml | Dravidian
te | Telugu | తెలుగు | Telu | Dravidian
teo | Teso | Ateso | Latn | Nilotic
tet | Tetum | Tetun | Latn | Austronesian
th | Thai | ไทย | Thai | Kra-Dai
ti | Tigrinya | ትግርኛ | Ethi | Semitic
tk | Turkmen | türkmen dili | Latn | Turkic
tn | Tswana | Setswana | Latn | Bantu
to | Tongan | lea fakatonga | Latn | Austronesian
toi | Tonga (Zambia) | Chitonga | Latn | Bantu
tr | Turkish | Türkçe | Latn | Turkic
ts | Tsonga | Xitsonga | Latn | Bantu
tsc | Tswa | Xitswa | Latn | Bantu
ttj | Tooro | Rutooro | Latn | Bantu
tuv | Turkana | Ng’aturkana | Latn | Nilotic
tw | Twi | Twi | Latn | Kwa
uk | Ukrainian | українська | Cyrl | Slavic
ur | Urdu | اردو | Arab | Indo-Aryan
uz | Uzbek | o‘zbek | Latn | Turkic
ve | Venda | Tshivenḓa | Latn | Bantu
vec | Venetian | veneto | Latn | Romance
vi | Vietnamese | Tiếng Việt | Latn | Austroasiatic
xh | Xhosa | isiXhosa | Latn | Bantu
xog | Soga | Lusoga | Latn | Bantu
xsm | Kasem | Kasem | Latn | Gur
yo | Yoruba | Yorùbá | Latn | Volta-Niger
yue | Cantonese | 粵語 | Hant | Sinitic
yue-Hans | Cantonese (Simplified) | 粤语 | Hans | Sinitic
zh | Chinese | 中文 | Hans | Sinitic
zh-Hant | Chinese (Traditional) | 繁體中文 | Hant | Sinitic
zu | Zulu | isiZulu | Latn | Bantu
"""


@dataclass(frozen=True)
class Language:
    """A language: `name` in English, `native` as its speakers write it, `script` by ISO 15924."""

    code: str
    name: str
    native: str
    script: str
    family: str


@cache
def languages() -> dict[str, Language]:
    """All languages that we have names for, by code."""
    rows = ([part.strip() for part in line.split("|")] for line in LANGUAGE_TABLE.strip().splitlines())
    return {row[0]: Language(*row) for row in rows}


def language(code: str) -> Language:
    """The language of a code; one that we have no names for goes by its code."""
    return languages().get(code) or Language(code, code, code, "Zyyy", "unknown")


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
