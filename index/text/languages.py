"""Languages by BCP 47 code: their names, script, writing direction and family."""

from dataclasses import dataclass
from functools import cache

# Scripts (ISO 15924) that are written from right to left.

# code | English name | own name | script | family
TABLE = """
af | Afrikaans | Afrikaans | Latn | Germanic
ak | Akan | Akan | Latn | Kwa
am | Amharic | አማርኛ | Ethi | Semitic
ar | Arabic | العربية | Arab | Semitic
as | Assamese | অসমীয়া | Beng | Indo-Aryan
az | Azerbaijani | azərbaycan | Latn | Turkic
ba | Bashkir | башҡорт | Cyrl | Turkic
be | Belarusian | беларуская | Cyrl | Slavic
bg | Bulgarian | български | Cyrl | Slavic
bn | Bangla | বাংলা | Beng | Indo-Aryan
bs | Bosnian | bosanski | Latn | Slavic
ca | Catalan | català | Latn | Romance
chr | Cherokee | ᏣᎳᎩ | Cher | Iroquoian
cs | Czech | čeština | Latn | Slavic
cv | Chuvash | чӑваш | Cyrl | Turkic
cy | Welsh | Cymraeg | Latn | Celtic
da | Danish | dansk | Latn | Germanic
de | German | Deutsch | Latn | Germanic
dsb | Lower Sorbian | dolnoserbšćina | Latn | Slavic
el | Greek | Ελληνικά | Grek | Hellenic
en | English | English | Latn | Germanic
es | Spanish | español | Latn | Romance
et | Estonian | eesti | Latn | Uralic
eu | Basque | euskara | Latn | Basque
fa | Persian | فارسی | Arab | Iranian
fa-AF | Dari | دری | Arab | Iranian
fi | Finnish | suomi | Latn | Uralic
fil | Filipino | Filipino | Latn | Austronesian
fo | Faroese | føroyskt | Latn | Germanic
fr | French | français | Latn | Romance
ga | Irish | Gaeilge | Latn | Celtic
gd | Scottish Gaelic | Gàidhlig | Latn | Celtic
gl | Galician | galego | Latn | Romance
gu | Gujarati | ગુજરાતી | Gujr | Indo-Aryan
ha | Hausa | Hausa | Latn | Chadic
he | Hebrew | עברית | Hebr | Semitic
hi | Hindi | हिन्दी | Deva | Indo-Aryan
hr | Croatian | hrvatski | Latn | Slavic
hsb | Upper Sorbian | hornjoserbšćina | Latn | Slavic
hu | Hungarian | magyar | Latn | Uralic
hy | Armenian | հայերեն | Armn | Armenian
id | Indonesian | Indonesia | Latn | Austronesian
ig | Igbo | Igbo | Latn | Volta-Niger
is | Icelandic | íslenska | Latn | Germanic
it | Italian | italiano | Latn | Romance
ja | Japanese | 日本語 | Jpan | Japonic
jv | Javanese | Jawa | Latn | Austronesian
ka | Georgian | ქართული | Geor | Kartvelian
kk | Kazakh | қазақ тілі | Cyrl | Turkic
kk-Arab | Kazakh (Arabic) | قازاق ٴتىلى | Arab | Turkic
km | Khmer | ខ្មែរ | Khmr | Austroasiatic
kn | Kannada | ಕನ್ನಡ | Knda | Dravidian
ko | Korean | 한국어 | Kore | Koreanic
kok | Konkani | कोंकणी | Deva | Indo-Aryan
ky | Kyrgyz | кыргызча | Cyrl | Turkic
lo | Lao | ລາວ | Laoo | Kra-Dai
lt | Lithuanian | lietuvių | Latn | Baltic
lv | Latvian | latviešu | Latn | Baltic
mk | Macedonian | македонски | Cyrl | Slavic
ml | Malayalam | മലയാളം | Mlym | Dravidian
mn | Mongolian | монгол | Cyrl | Mongolic
mr | Marathi | मराठी | Deva | Indo-Aryan
ms | Malay | Melayu | Latn | Austronesian
my | Burmese | မြန်မာ | Mymr | Sino-Tibetan
ne | Nepali | नेपाली | Deva | Indo-Aryan
nl | Dutch | Nederlands | Latn | Germanic
no | Norwegian | norsk | Latn | Germanic
om | Oromo | Oromoo | Latn | Cushitic
or | Odia | ଓଡ଼ିଆ | Orya | Indo-Aryan
pa | Punjabi | ਪੰਜਾਬੀ | Guru | Indo-Aryan
pcm | Nigerian Pidgin | Naijíriá Píjin | Latn | English creole
pl | Polish | polski | Latn | Slavic
ps | Pashto | پښتو | Arab | Iranian
pt | Portuguese | português | Latn | Romance
qu | Quechua | Runasimi | Latn | Quechuan
rm | Romansh | rumantsch | Latn | Romance
ro | Romanian | română | Latn | Romance
ru | Russian | русский | Cyrl | Slavic
sd | Sindhi | سنڌي | Arab | Indo-Aryan
shn | Shan | တႆး | Mymr | Kra-Dai
si | Sinhala | සිංහල | Sinh | Indo-Aryan
sk | Slovak | slovenčina | Latn | Slavic
sl | Slovenian | slovenščina | Latn | Slavic
so | Somali | Soomaali | Latn | Cushitic
sq | Albanian | shqip | Latn | Albanian
sr | Serbian | српски | Cyrl | Slavic
sr-Latn | Serbian (Latin) | srpski | Latn | Slavic
sv | Swedish | svenska | Latn | Germanic
sw | Swahili | Kiswahili | Latn | Bantu
ta | Tamil | தமிழ் | Taml | Dravidian
te | Telugu | తెలుగు | Telu | Dravidian
th | Thai | ไทย | Thai | Kra-Dai
ti | Tigrinya | ትግርኛ | Ethi | Semitic
tk | Turkmen | türkmen dili | Latn | Turkic
to | Tongan | lea fakatonga | Latn | Austronesian
tr | Turkish | Türkçe | Latn | Turkic
uk | Ukrainian | українська | Cyrl | Slavic
ur | Urdu | اردو | Arab | Indo-Aryan
uz | Uzbek | o‘zbek | Latn | Turkic
vi | Vietnamese | Tiếng Việt | Latn | Austroasiatic
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
    rows = ([part.strip() for part in line.split("|")] for line in TABLE.strip().splitlines())
    return {row[0]: Language(*row) for row in rows}


def language(code: str) -> Language:
    """The language of a code; one that we have no names for goes by its code."""
    return languages().get(code) or Language(code, code, code, "Zyyy", "unknown")
