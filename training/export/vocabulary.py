"""Writes a bundle's word lists (index.encoder.word_list), one per language."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from index.encoder.bundle import words_file
from index.encoder.word_list import Translations, WordList, write_word_list
from index.text.normalisation import words
from training.data.captions import CaptionedPictures
from training.data.pictograms import is_drawing

LEAST_COUNT = 3  # occurrences in training that a listed word has
MOST_WORDS = 6000  # of a language's list, the most frequent
QUOTED = 30.0  # times as large a share of another language's words: the word is quoted from there


def write_word_lists(
    data: CaptionedPictures,
    texts: Mapping[str, Sequence[str]],
    languages: Sequence[str],
    bundle: Path,
    translations: Mapping[str, Translations],
) -> None:
    """Write the list of each of `languages` into a bundle's folder.

    It has the words that occur at least LEAST_COUNT times in the captions and the sentences without pictures,
    MOST_WORDS at most, with their translations, if there are any.

    A pictogram's name counts once, however many artists drew the concept. A word is left out where it is
    QUOTED from another of the languages: *boy* stands in German titles, and is no German for *boy*.
    """
    counts: dict[str, Counter[str]] = {language: Counter() for language in languages}
    captions = {
        (PurePosixPath(name).name if is_drawing(name) else number, caption.language, caption.text)
        for number, caption in enumerate(data.captions)
        for name in (data.pictures[caption.picture],)
    }
    sentences = Counter((language, text) for _, language, text in captions)
    sentences.update((language, line) for language, lines in texts.items() for line in lines)
    for (language, text), times in sentences.items():
        if language in counts:
            for word in words(text, language):
                counts[language][word] += times
    shares: dict[str, float] = {}  # of a word, in the language that says it most
    for frequencies in counts.values():
        total = frequencies.total()
        shares |= {word: max(count / total, shares.get(word, 0.0)) for word, count in frequencies.items()}
    (bundle / "words").mkdir()
    for language, frequencies in counts.items():
        least = frequencies.total() / QUOTED
        listed = sorted(
            (-count, word)
            for word, count in frequencies.items()
            if count >= max(LEAST_COUNT, least * shares[word])
        )
        kept = {word: -count for count, word in listed[:MOST_WORDS]}
        write_word_list(WordList(kept, translations.get(language, {})), bundle / words_file(language))
