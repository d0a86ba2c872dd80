from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data.captions import Caption, CaptionedPictures
from training.data.sampler import PictureSampler, shares


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


@given(sets, st.integers(0, 3), st.integers(0, 3))
def test_it_depends_on_seed_and_epoch_alone(data: CaptionedPictures, seed: int, epoch: int) -> None:
    sampler = PictureSampler(data, 4, seed)
    sampler.batches(epoch + 1)
    one, other = sampler.batches(epoch), PictureSampler(data, 4, seed).batches(epoch)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(("seed", "epoch"), [(0, 1), (1, 0)])
def test_another_seed_or_epoch_shows_them_otherwise(seed: int, epoch: int) -> None:
    data = pictures([{"en": 4}] * 30)
    first = np.concatenate(PictureSampler(data, 8, 0).batches(0))
    assert not np.array_equal(first, np.concatenate(PictureSampler(data, 8, seed).batches(epoch)))


def test_languages_are_drawn_alike_however_many_captions_they_have() -> None:
    data = pictures([{"en": 8, "de": 1, "pt": 3}] * 20)
    sampler = PictureSampler(data, 10, 0)
    drawn = [data.captions[n] for epoch in range(150) for batch in sampler.batches(epoch) for n in batch]
    shares = Counter(caption.language for caption in drawn)
    assert all(900 < shares[language] < 1100 for language in ("en", "de", "pt")), shares
    english = Counter(caption.text.split()[2] for caption in drawn if caption.language == "en")
    assert all(80 < count < 175 for count in english.values()), english


def disjoint(counts: dict[str, int]) -> CaptionedPictures:
    """So many pictures a language, each with captions in it alone."""
    return pictures([{language: 2} for language, count in counts.items() for _ in range(count)])


def epoch_of(sampler: PictureSampler, data: CaptionedPictures, epoch: int = 0) -> Counter[str]:
    return Counter(data.captions[n].language for batch in sampler.batches(epoch) for n in batch)


temperatures = st.floats(0.3, 50)


@given(sets, st.integers(2, 20), temperatures, st.integers(0, 3))
def test_balanced_epochs_keep_their_size_and_no_picture_twice_in_a_batch(
    data: CaptionedPictures, batch_size: int, temperature: float, epoch: int
) -> None:
    batches = PictureSampler(data, batch_size, 0, temperature).batches(epoch)
    plain = PictureSampler(data, batch_size, 0).batches(epoch)
    assert sorted(map(len, batches)) == sorted(map(len, plain))
    for batch in batches:
        shown = [data.captions[number].picture for number in batch]
        assert len(set(shown)) == len(shown)


@given(sets, temperatures, st.integers(0, 3), st.integers(0, 3))
def test_balanced_epochs_depend_on_seed_and_epoch_alone(
    data: CaptionedPictures, temperature: float, seed: int, epoch: int
) -> None:
    sampler = PictureSampler(data, 4, seed, temperature)
    sampler.batches(epoch + 1)
    one, other = sampler.batches(epoch), PictureSampler(data, 4, seed, temperature).batches(epoch)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


counted = st.dictionaries(st.sampled_from(["en", "de", "pt"]), st.integers(1, 30), min_size=2)


@given(counted, temperatures, st.integers(0, 5))
def test_each_language_has_its_share_of_disjoint_pictures(
    counts: dict[str, int], temperature: float, seed: int
) -> None:
    data = disjoint(counts)
    total = sum(counts.values())
    sampler = PictureSampler(data, 2, seed, temperature)
    batches = len(sampler.batches(0))
    found = epoch_of(sampler, data)
    expected = total * shares(list(counts.values()), temperature)
    if all(share <= count * batches for share, count in zip(expected, counts.values(), strict=True)):
        for language, share in zip(counts, expected, strict=True):
            assert abs(found[language] - share) < 1 + 1e-6
    times = Counter(data.captions[n].picture for batch in sampler.batches(0) for n in batch)
    for language in counts:
        own = [times[p] for p in sampler._pools[language]]
        assert max(own) - min(own) <= 1, "none comes again before all have come"


@given(counted)
def test_temperature_1_shows_each_disjoint_picture_once(counts: dict[str, int]) -> None:
    data = disjoint(counts)
    batches = PictureSampler(data, 5, 0, 1.0).batches(0)
    shown = [data.captions[number].picture for batch in batches for number in batch]
    assert sorted(shown) == list(range(len(data.pictures)))


def test_a_high_temperature_makes_languages_alike() -> None:
    data = disjoint({"en": 200, "de": 20, "pt": 80})
    sampler = PictureSampler(data, 10, 0, 1e6)
    assert set(epoch_of(sampler, data).values()) == {100}
    natural, between = (epoch_of(PictureSampler(data, 10, 0, t), data)["de"] for t in (1.0, 2.0))
    assert natural == 20
    assert natural < between < 100


@given(st.integers(1, 12), st.integers(1, 9), temperatures)
def test_where_all_pictures_have_all_languages_each_comes_once(
    count: int, batch_size: int, temperature: float
) -> None:
    data = pictures([{"en": 1, "de": 2, "pt": 1}] * count)
    sampler = PictureSampler(data, batch_size + 1, 0, temperature)
    shown = [data.captions[n].picture for batch in sampler.batches(0) for n in batch]
    assert sorted(shown) == list(range(count))
    assert max(abs(n - count / 3) for n in epoch_of(sampler, data).values()) < 1 + 1e-6


def test_shared_pictures_are_balanced_as_well() -> None:
    """All have English, one in ten German: alike in the epoch, and no picture much more often than others."""
    data = pictures([{"en": 1} if i % 10 else {"en": 1, "de": 1} for i in range(200)])
    sampler = PictureSampler(data, 20, 0, 1e6)
    found = epoch_of(sampler, data)
    assert found == {"en": 100, "de": 100}
    natural = epoch_of(PictureSampler(data, 20, 0, 1.0), data)
    assert abs(natural["de"] - 200 * 20 / 220) < 1


def test_a_language_of_one_picture_comes_once_a_batch_at_most_and_others_fill_in() -> None:
    data = disjoint({"en": 59, "de": 1})
    batches = PictureSampler(data, 10, 0, 1e6).batches(0)
    assert [sum(data.captions[n].language == "de" for n in batch) for batch in batches] == [1] * 6
    assert sum(map(len, batches)) == 60


def test_shares_are_right_on_average() -> None:
    data = disjoint({"en": 7, "de": 2, "pt": 4})
    sampler = PictureSampler(data, 4, 0, 2.0)
    drawn: Counter[str] = Counter()
    for epoch in range(600):
        drawn += epoch_of(sampler, data, epoch)
    for language, share in zip(("en", "de", "pt"), shares([7, 2, 4], 2.0), strict=True):
        assert drawn[language] / (600 * 13) == pytest.approx(share, abs=0.01)


def test_shares_by_hand() -> None:
    assert shares([9, 1], 1.0) == pytest.approx([0.9, 0.1])
    assert shares([9, 1], 2.0) == pytest.approx([0.75, 0.25])
    assert shares([9, 1], 1e9) == pytest.approx([0.5, 0.5])
