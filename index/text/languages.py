"""Languages by BCP 47 code: their names, script, writing direction and family."""

from dataclasses import dataclass
from functools import cache

# Scripts (ISO 15924) that are written from right to left.

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
