"""Other scripts' letters as Latin ones, so that what two languages both call alike is spelled alike.

A letter for a letter, whatever stands beside it, as steps of a tokenizer.json: an encoder that was trained so
reads so, wherever it runs. Cyrillic is written as Slavists do, which is how Czech spells the same sounds.
Devanagari's consonants go without the vowel that they imply: Hindi speaks it in places that spelling doesn't
show.
"""

from collections.abc import Iterator, Sequence

from tokenizers.normalizers import Replace

from training.data.settings import Script

# In lower case, as NFKC leaves them; what has two characters comes before those that it is made of.
_LETTERS: dict[Script, str] = {
    "Cyrillic": (
        "а=a б=b в=v г=h ґ=g д=d е=e є=je ж=ž з=z и=y і=i ї=ji й=j к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u"
        " ф=f х=ch ц=c ч=č ш=š щ=šč ь= ю=ju я=ja ё=jo ъ= ы=y э=e ў=w ђ=đ ј=j љ=lj њ=nj ћ=ć џ=dž ѓ=ǵ ќ=ḱ"
        " ѕ=dz ʼ="
    ),
    "Devanagari": (
        "क़=q ख़=kh ग़=g ज़=z ड़=r ढ़=rh फ़=f क=k ख=kh ग=g घ=gh ङ=n च=ch छ=chh ज=j झ=jh ञ=n ट=t ठ=th ड=d ढ=dh"
        " ण=n त=t थ=th द=d ध=dh न=n प=p फ=f ब=b भ=bh म=m य=y र=r ल=l ळ=l व=v श=sh ष=sh स=s ह=h अ=a आ=a इ=i"
        " ई=i उ=u ऊ=u ऋ=ri ए=e ऐ=ai ओ=o औ=au ऍ=e ऑ=o ा=a ि=i ी=i ु=u ू=u ृ=ri े=e ै=ai ो=o ौ=au ॅ=e ॉ=o ं=n ँ=n"
        " ः=h ्= ़= ।=."
    ),
}


def letters(script: Script) -> dict[str, str]:
    """Letter, or letter and sign -> the Latin letters for it, in the order in which they are replaced."""
    pairs = (pair.partition("=") for pair in _LETTERS[script].split())
    return {letter: latin for letter, _, latin in pairs}


def romanised(scripts: Sequence[Script], *, lowercase: bool) -> Iterator[Replace]:
    """Steps of a tokenizer's normaliser, after NFKC and lower case; without lower case for capitals, too."""
    for script in scripts:
        for letter, latin in letters(script).items():
            yield Replace(letter, latin)
            if not lowercase and letter.upper() != letter:
                yield Replace(letter.upper(), latin.capitalize())
