from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from training.data.captions import Caption, CaptionedPictures
from training.data.sampler import PictureSampler


def pictures(counts: list[dict[str, int]]) -> CaptionedPictures:
    """A picture for each entry, with so many captions a language."""
    captions = [
        Caption(number, language, f"{number} {language} {i}")
        for number, languages in enumerate(counts)
        for language, count in languages.items()
        for i in range(count)
    ]
    return CaptionedPictures(tuple(f"{number}.jpg" for number in range(len(counts))), tuple(captions))


sets = st.lists(
    st.dictionaries(st.sampled_from(["en", "de", "pt"]), st.integers(1, 3), min_size=1),
    min_size=1,
    max_size=40,
).map(pictures)


@given(sets, st.integers(2, 20), st.integers(0, 5), st.integers(0, 5))
def test_an_epoch_shows_each_picture_once(
    data: CaptionedPictures, batch_size: int, seed: int, epoch: int
) -> None:
    batches = PictureSampler(data, batch_size, seed).batches(epoch)
    shown = [data.captions[number].picture for batch in batches for number in batch]
    assert sorted(shown) == list(range(len(data.pictures)))


@given(sets, st.integers(2, 20))
def test_batches_are_about_as_large_as_asked_for(data: CaptionedPictures, batch_size: int) -> None:
    sizes = [len(batch) for batch in PictureSampler(data, batch_size, 0).batches(0)]
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= batch_size * 3 / 2
    assert len(sizes) == 1 or min(sizes) >= batch_size * 3 // 4


def test_languages_are_drawn_alike_however_many_captions_they_have() -> None:
    data = pictures([{"en": 8, "de": 1, "pt": 3}] * 20)
    sampler = PictureSampler(data, 10, 0)
    drawn = [data.captions[n] for epoch in range(150) for batch in sampler.batches(epoch) for n in batch]
    shares = Counter(caption.language for caption in drawn)
    assert all(900 < shares[language] < 1100 for language in ("en", "de", "pt")), shares
    english = Counter(caption.text.split()[2] for caption in drawn if caption.language == "en")
    assert all(80 < count < 175 for count in english.values()), english
