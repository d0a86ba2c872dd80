import shutil
from pathlib import Path

import pytest

from evaluation.measures.recall import retrieved_positives
from evaluation.suites.sets import TRANSLATION_KIND, encode
from evaluation.suites.translation import aligned, multi30k, photos, scenes
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from tests.bundles import LANGUAGES, make_corpus, sentences
from tests.evaluation.measures.test_scores import naive
from tests.files import write_lines, write_picture_set


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test set as it lies in the data; de and pt have translations for the even pictures of split test."""
    folder = tmp_path_factory.mktemp("data")
    make_corpus(folder / "benchmark" / "multi30k_test_2016", count=80)
    names = [f"{i}.jpg" for i in range(300)]
    captions = {}
    for language in LANGUAGES:
        captions[language] = rows = list[tuple[str, str, str]]()
        for i, (name, text) in enumerate(zip(names, sentences(language)[::4], strict=False)):
            rows.append((name, text, "human"))
            if language in ("de", "pt") and i % 2 == 0:
                rows.append((name, f"{text} {text}", TRANSLATION_KIND))
    splits = {name: "test" if i < 250 else "train" for i, name in enumerate(names)}
    write_picture_set(folder / "photos", splits, captions)
    return folder


def test_multi30k_is_an_aligned_set_in_a_fixed_folder(encoder: TextEncoder, data: Path) -> None:
    (table,) = multi30k(encoder, data, ["en", "de", "pt"])
    assert (table.name, table.n, table.languages) == ("multi30k_test_2016", 80, ("de", "en", "pt"))
    assert aligned(encoder, data / "benchmark" / "multi30k_test_2016", ["en", "de", "pt"]) == [table]


def test_figures_are_those_of_the_encoded_lines(encoder: TextEncoder, data: Path) -> None:
    folder = data / "benchmark" / "multi30k_test_2016"
    (table,) = aligned(encoder, folder, ["en", "zh"])
    english, chinese = (
        encoder.encode((folder / f"{code}.txt").read_text("utf-8").splitlines()) for code in ("en", "zh")
    )
    expected = naive(english, chinese)
    found = {key: table.pairs[0].measures[key] for key in expected}
    assert found == {key: pytest.approx(value) for key, value in expected.items()}
    assert 2 < found["csls_r1"] < 100


def test_photos_measures_translations_and_the_pool(encoder: TextEncoder, data: Path) -> None:
    translations, pool, english = photos(encoder, data, LANGUAGES)
    assert (translations.languages, translations.n) == (("de", "pt"), 125)
    assert [(pair.source, pair.target) for pair in translations.pairs] == [("de", "pt"), ("pt", "de")]
    assert (pool.languages, pool.n) == (("ar", "de", "en", "pt", "zh"), 200)
    assert 1 < pool.means["all"]["positives"] < 100
    assert (english.name, english.languages) == ("photos, with English", ("ar", "en", "de", "pt", "zh"))


def with_lines(data: Path, folder: Path, language: str, lines: slice) -> Path:
    """A copy of the data that has these lines alone of a language's captions."""
    copy = shutil.copytree(data, folder / "data")
    path = copy / "photos" / "captions" / f"{language}.tsv"
    write_lines(path, path.read_text("utf-8").splitlines()[lines])
    return copy


def test_the_pool_takes_captions_of_pictures_in_split_test_alone(
    encoder: TextEncoder, data: Path, tmp_path: Path
) -> None:
    """Fewer than 200 are all taken; one language's captions of other pictures leave those pictures out."""
    pool, _ = photos(encoder, with_lines(data, tmp_path, "en", slice(200, None)), ["en", "zh"])
    texts = {code: sentences(code)[::4][200:250] for code in ("en", "zh")}
    assert pool.n == 50
    expected = retrieved_positives({code: encoder.encode(rows) for code, rows in texts.items()})
    assert pool.means["all"]["positives"] == pytest.approx(expected)


def test_a_language_with_hardly_a_caption_does_not_shrink_the_pool(
    encoder: TextEncoder, data: Path, tmp_path: Path
) -> None:
    without = photos(encoder, with_lines(data, tmp_path, "ar", slice(10)), ["en", "zh", "ar"])[-2]
    assert (without.languages, without.n) == (("en", "zh"), 200)


def test_without_translations_there_are_the_pool_and_english(encoder: TextEncoder, data: Path) -> None:
    assert [table.name for table in photos(encoder, data, ["en", "zh"])] == [
        "photos, one pool",
        "photos, with English",
    ]
    assert [table.name for table in photos(encoder, data, ["de", "zh"])] == ["photos, one pool"]


def test_english_captions_of_a_picture_find_each_other(encoder: TextEncoder, tmp_path: Path) -> None:
    texts = sentences("en")[:105]
    # The last picture has four.
    rows = [(f"{i // 5}.jpg", text, "human") for i, text in enumerate(texts[:104])]
    splits = {f"{i}.jpg": "test" for i in range(21)}
    write_picture_set(tmp_path / "photos", splits, {"en": rows, "de": rows})
    table = photos(encoder, tmp_path, ["en", "de"])[-1]
    assert (table.name, table.n, len(table.pairs)) == ("photos, paraphrases", 20, 20)
    expected = naive(encoder.encode(texts[1:100:5]), encoder.encode(texts[3:100:5]))
    found = {(pair.source, pair.target): pair.measures for pair in table.pairs}["en 2", "en 4"]
    assert {key: found[key] for key in expected} == {
        key: pytest.approx(value) for key, value in expected.items()
    }


def test_scenes_and_sayings_are_measured_separately(
    encoder: TextEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.suites.translation.SAYINGS", slice(20, 30))
    make_corpus(tmp_path, count=40)
    said, sayings = scenes(encoder, tmp_path, ["en", "de"])
    assert [(said.name, said.n), (sayings.name, sayings.n)] == [
        ("everyday scenes", 30),
        ("everyday sayings", 10),
    ]


def test_pictures_that_no_two_languages_share_are_an_error(encoder: TextEncoder) -> None:
    with pytest.raises(DataError, match="no picture has a caption in each of en, de"):
        encode(encoder, {"en": [], "de": []})
