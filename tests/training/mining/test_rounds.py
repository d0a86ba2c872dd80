"""Rounds of mining in a real run: what is mined, kept, resumed and learned."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file as load_pairs
from safetensors.torch import load_file

from index.errors import DamagedError, RecipeError
from tests.training.loop.test_training_loop import entries
from tests.training.tiny import BAG, recipe, train_until
from training.data.pairs import read_pairs
from training.encoders.stored import BEST, TABLE
from training.loop.prepare import prepare, training_texts
from training.loop.run import Run, create_run
from training.loop.training_loop import train
from training.mining import rounds
from training.mining.rounds import Round, Words, round_span
from training.papers.united.verified_bag import VerifiedBag
from training.recipes.recipe import Recipe
from training.recipes.settings import MiningSettings
from training.smoke.drawings import TEXT_SET

ROUNDS = (
    f"data.texts={TEXT_SET}",
    "text.encoder=verified_bag",
    "text.shared=none",
    "objectives.pseudopairs.temperature=0.05",
    "mining.begin=3",
    "mining.every=2",
    "optimiser.epochs=6",
    "run.checkpoint_every=2",
)

PROBABLE = ("mining.probability=0.3", "mining.pivots=en", "mining.captions=false", "data.pictures=shared")


def mining(folder: Path, *more: str) -> Recipe:
    return recipe(BAG, folder, *ROUNDS, *more)


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A finished run that mined. Not to be changed."""
    folder = tmp_path_factory.mktemp("rounds")
    return train(mining(folder), data, folder / "run")


def test_captions_can_be_kept_out_of_the_pairs(data: Path, tmp_path: Path) -> None:
    settings = mining(tmp_path, "mining.captions=false", "data.pictures=shared")
    run = create_run(tmp_path / "run", settings, resume=False)
    source, texts = prepare(run, data).data.pseudopairs, training_texts(run, data)
    assert {code: len(rows) for code, rows in source.tokens.items()} == {
        code: len(rows) for code, rows in texts.items()
    }


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["mining.captions=false", "data.texts="], r"leaves only the sentences of data\.texts"),
        (["mining.probability=0.3"], "probability and pivots need each other"),
        (["mining.words=3"], "words needs probability and pivots"),
        (["mining.contexts=1"], "contexts needs words"),
        (['mining.languages=["de"]'], "languages needs probability and pivots"),
        ([*PROBABLE, 'mining.languages=["tlh"]'], "tlh is not one of data.languages"),
        (["mining.probability=0.3", "mining.pivots=tlh"], "tlh is not one of data.languages"),
        ([*PROBABLE, 'mining.languages=["de"]'], 'needs text.encoder = "bag" and text.start'),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, more: list[str], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        mining(tmp_path, *more)


def test_some_languages_gain_while_the_subwords_of_the_others_stay(data: Path, tmp_path: Path) -> None:
    start = train(
        recipe(BAG, tmp_path, f"data.texts={TEXT_SET}", "optimiser.epochs=1"), data, tmp_path / "start"
    )
    more = [*PROBABLE, 'mining.languages=["de"]', "text.encoder=bag", f"text.start={start.folder}"]
    given = [key for key in ROUNDS if not key.startswith("text.")]
    run = train(recipe(BAG, tmp_path, *given, *more, "run.keep=last"), data, tmp_path / "run")
    assert set(load_pairs(run.pseudopairs_file(3))) == {"de en", "de en weight"}
    before, after = (load_file(each.folder / BEST)[TABLE] for each in (start, run))
    has_moved = (before != after).any(dim=1)
    sentences = prepare(run, data).data.sentences
    german, english = (set(np.concatenate(sentences[code]).tolist()) for code in ("de", "en"))
    moved = set(has_moved.nonzero()[:, 0].tolist())
    assert (german - english) & moved, "they are trained"
    assert moved <= german
    assert english - german, "there are others"


def test_objective_and_table_need_each_other(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"pseudopairs and the table \[mining\] need each other"):
        recipe(BAG, tmp_path, "objectives.pseudopairs.weight=1")


def test_contexts_count_in_the_first_rounds_that_compare_words() -> None:
    given = {"probability": 0.3, "pivots": "en", "begin": 3, "every": 2}

    def counted(**more: int) -> list[int]:
        settings = MiningSettings.model_validate(given | more)
        return [epoch for epoch in range(3, 12, 2) if settings.counts_contexts(epoch)]

    assert counted(words=0, contexts=1) == [3]
    assert counted(words=4, contexts=2) == [5, 7]
    assert counted(words=4) == counted(words=1000, contexts=1) == []


def test_the_epochs_between_rounds() -> None:
    found = [round_span(epoch, 6, MiningSettings(begin=3, every=2)) for epoch in range(6)]
    assert found == [(0, 3)] * 3 + [(3, 5)] * 2 + [(5, 6)]
    assert round_span(4, 6, None) == (0, 6)


def test_the_rate_falls_before_each_round(run: Run) -> None:
    rates = [entry["learning_rate"] for entry in entries(run) if "step" in entry]
    steps = [entry["step"] for entry in entries(run) if "step" in entry]
    assert run.recipe.optimiser.schedule == "linear"
    each = run.result()["steps"] // 6
    for step, rate in zip(steps, rates, strict=True):
        first, last = next((a, b) for a, b in ((0, 3), (3, 5), (5, 6)) if step // each < b)
        into = step - first * each
        rise = min(1.0, (into + 1) / 2)
        assert rate == pytest.approx(1e-2 * rise * (1 - into / ((last - first) * each)))


def test_pairs_are_mined_before_the_epochs_that_the_recipe_names(run: Run) -> None:
    rounds = [entry for entry in entries(run) if "pseudopairs" in entry and "epoch" in entry]
    logged = {entry["epoch"]: entry["pseudopairs"] for entry in rounds}
    assert list(logged) == [3, 5]
    assert set(logged[3]) == {"en-de", "en-pt", "de-pt"}
    for epoch, counts in logged.items():
        kept = load_pairs(run.pseudopairs_file(epoch))
        assert {key.replace(" ", "-"): len(rows) for key, rows in kept.items()} == counts
        assert all(counts.values())


def test_a_round_looks_at_some_sentences_another_at_others(run: Run, data: Path) -> None:
    prepared = prepare(run, data)
    source = prepared.data.pseudopairs
    seen: list[set[int]] = []
    for epoch in (3, 5, 3):
        few = MiningSettings(begin=3, every=2, keep=1, sentences=20)
        pairs, _ = Round(source, epoch, prepared._embed, few, {}).mined()
        english = np.concatenate([rows[:, key.index("en")] for key, rows in pairs.items() if "en" in key])
        seen.append(set(english.tolist()))
    assert 0 < len(seen[0]) <= 20
    assert seen[0] == seen[2] != seen[1]
    assert max(map(max, seen)) > 20, "they are drawn from all"


def test_a_run_killed_in_a_mining_round_resumes_with_its_pairs(run: Run, data: Path, tmp_path: Path) -> None:
    """Dies in epoch 5, after its round, with the checkpoint of epoch 4."""
    out = tmp_path / "run"
    train_until(run.result()["steps"] - 1, run.recipe, data, out)
    again = train(run.recipe, data, out, resume=True)
    ours, theirs = load_file(again.folder / BEST), load_file(run.folder / BEST)
    assert all(torch.allclose(ours[name], theirs[name], atol=1e-5) for name in theirs)
    assert entries(again) == entries(run)


def test_pairs_that_are_lost_are_missed(run: Run, data: Path, tmp_path: Path) -> None:
    out = shutil.copytree(run.folder, tmp_path / "run")
    (out / "result.json").unlink()
    for epoch in (3, 5):
        Run(out, run.recipe).pseudopairs_file(epoch).unlink()
    longer = mining(tmp_path, "optimiser.epochs=7")
    shutil.copyfile(run.folder / "recipe.json", out / "recipe.json")
    with pytest.raises(DamagedError, match=r"pseudopairs-5\.safetensors is missing"):
        prepare(Run(out, longer), data).begin(6)


def test_pictures_share_some_subwords(data: Path, tmp_path: Path) -> None:
    settings = mining(tmp_path, "text.shared=verified", "optimiser.epochs=1")
    encoder = prepare(train(settings, data, tmp_path / "run"), data).model.text
    assert isinstance(encoder, VerifiedBag)
    vocabulary = len(encoder.rows)
    apart = encoder.rows == torch.arange(vocabulary)[:, None] + vocabulary * torch.arange(3)
    assert 0 < (~apart).any(dim=1).sum() < vocabulary / 2


def test_probable_pairs_are_mined_kept_and_resumed(data: Path, tmp_path: Path) -> None:
    """Two texts of the same sentences: a pair is of one of them."""
    copied = shutil.copytree(data, tmp_path / "data")
    for file in (data / "text").glob(f"{TEXT_SET}.*.txt"):
        shutil.copyfile(file, copied / "text" / f"again.{file.name.split('.')[1]}.txt")
    run = train(mining(tmp_path, *PROBABLE, f'data.texts=["{TEXT_SET}", "again"]'), copied, tmp_path / "run")
    source = prepare(run, copied).data.pseudopairs
    source.pair(*read_pairs(run.pseudopairs_file(5)))
    assert set(source.pairs) == set(source.weights) == {("de", "en"), ("pt", "en")}
    for key, pairs in source.pairs.items():
        halves = [len(source.tokens[code]) // 2 for code in key]
        assert ((pairs[:, 0] < halves[0]) == (pairs[:, 1] < halves[1])).all()
        assert (source.weights[key] >= np.float32(0.3)).all()
        assert len(source.weights[key]) == len(pairs)
    before = dict(source.pairs)
    again = prepare(run, copied)
    again.begin(5)
    assert all(np.array_equal(again.data.pseudopairs.pairs[key], rows) for key, rows in before.items())


@pytest.mark.parametrize(("enough", "further"), [(1e-6, set()), (2.0, {("pt", "de")})])
def test_a_further_pivot_is_asked_for_what_the_first_has_not_paired(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch, enough: float, further: set[tuple[str, str]]
) -> None:
    monkeypatch.setattr(rounds, "ENOUGH_PAIRED", enough)
    prepared = prepare(run, data)
    settings = MiningSettings(begin=3, every=2, probability=0.01, pivots=("en", "de"))
    pairs, probabilities = rounds.Round(prepared.data.pseudopairs, 3, prepared._embed, settings, {}).mined()
    assert set(pairs) == set(probabilities) == {("de", "en"), ("pt", "en")} | further


def test_of_the_pivot_four_times_as_many_sentences_are_drawn(run: Run, data: Path) -> None:
    prepared = prepare(run, data)
    few = MiningSettings(begin=3, every=2, probability=0.3, pivots=("en",), sentences=10)
    mined = rounds.Round(prepared.data.pseudopairs, 3, prepared._embed, few, {})
    pivot, other = (len(set(mined._sentences("en", None, share=share)[0])) for share in (0, 0.3))
    assert pivot == 4 * other == 40


def test_whole_words_are_counted_from_the_epoch_that_the_recipe_names(data: Path, tmp_path: Path) -> None:
    plain = train(mining(tmp_path, *PROBABLE), data, tmp_path / "plain")
    (tmp_path / "words").mkdir()
    more = 'mining.pivots=["en", "tlh"]', "mining.words=5"  # Klingon is no language of the run
    words = train(mining(tmp_path / "words", *PROBABLE, *more), data, tmp_path / "words" / "run")
    rounds = [{epoch: load_pairs(run.pseudopairs_file(epoch)) for epoch in (3, 5)} for run in (plain, words)]
    for key, rows in rounds[0][3].items():
        np.testing.assert_array_equal(rounds[1][3][key], rows, "before that epoch nothing differs")
    assert any(not np.array_equal(rounds[1][5].get(key), rows) for key, rows in rounds[0][5].items())
    texts = training_texts(words, data)
    single = [
        (rows >= [len(texts[code]) for code in key.split()[:2]])
        for key, rows in rounds[1][5].items()
        if rows.ndim == 2
    ]
    assert all((is_word[:, 0] == is_word[:, 1]).all() for is_word in single), "a word is paired with a word"
    assert any(is_word.any() for is_word in single)
    again = prepare(words, data)
    again.begin(5)
    assert again.data.pseudopairs.draw(64, 5, 0), "a resumed run finds the words of its pairs"


def test_the_first_rounds_pair_words_by_their_contexts_too(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "LEAST_IN_CONTEXT", 1)
    settings = mining(tmp_path, *PROBABLE, "mining.words=3", "mining.contexts=1")
    run = train(settings, data, tmp_path / "run")
    texts = training_texts(run, data)
    mined = {epoch: load_pairs(run.pseudopairs_file(epoch)) for epoch in (3, 5)}

    def words(epoch: int) -> int:
        return int((mined[epoch]["de en"] >= [len(texts["de"]), len(texts["en"])]).all(axis=1).sum())

    assert words(3) > 5 * words(5), "the second round pairs what sentences say alone"
    monkeypatch.setattr(rounds, "LEAST_IN_CONTEXT", len(texts["de"]) + 1)
    few = train(settings, data, tmp_path / "few")
    assert len(load_pairs(few.pseudopairs_file(3))["de en"]) < len(mined[3]["de en"])


def test_a_listed_word_need_not_have_a_listed_stem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.mining.words.MOST_WORDS", 2)

    listed = Words.of("en", ["cat dog"] * 3 + ["walking walkings"] * 2)

    assert listed.words.names == ["cat", "dog"]
    assert listed.stems.names == ["walki", "cat"]
    assert listed.stem_of.tolist() == [1, 2]
