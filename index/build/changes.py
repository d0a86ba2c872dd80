"""Changes to an index: a new version with sentences added, replaced or deleted by id.

Unchanged sentences keep their vectors. Only new texts are encoded, with the encoder of the index, and only
added sentences are cleaned, by the rules of the index.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from index.build.build_index import Plan, build_index, run_plan
from index.build.corpus import Corpus
from index.build.previous_version import PreviousVersion
from index.build.quick_change import MOST_CHANGED, change_quickly, is_quick
from index.encoder.bundle import open_index_encoder
from index.errors import CorpusError, UsageError, listed
from index.formats.registry import Source
from index.formats.sentence import RecordNumber, Sentence
from index.storage.index_manifest import IndexManifest
from index.storage.versions import locked, made_by, open_version
from index.text.normalisation import clean

Read = tuple[str, Sentence]  # the name of a file, and a sentence of it
Previous = Mapping[str, PreviousVersion]  # by language
QUICK_FROM = 20_000  # sentences of an index, of which a build takes longer than a command should


def change_index(
    index: Path,
    *,
    add: Sequence[Source] = (),
    replace: Sequence[Source] = (),
    delete: Collection[str] = (),
    own_ids: bool = False,
    threads: int = 1,
    base: str | None = None,
    job: str | None = None,
    ray: str | None = None,
    quick: bool | None = None,
) -> IndexManifest:
    """Publish a new version with changes to the one served; return its manifest.

    Sentences of `replace` replace the text of those with the same ids, LANG:ID, and the metadata that they
    have; translations stay. Added sentences get the ids LANG:FILE:ID, or LANG:ID with `own_ids`. `base`: the
    version to change. `job`: who asks; if a version was made for the same job, it is the result. `quick`:
    whether few changes are kept beside the large files (quick_change.py), by default in an index of
    QUICK_FROM sentences; without any change, what was kept beside them is merged. Raises UsageError for ids
    that do not exist, CorpusError for added ids that exist already and for files that cannot be read,
    OutdatedError if `base` is no longer served, and what `build_index` raises.
    """
    if job:
        with locked(index):
            if made := made_by(index, job):
                return made
    folder, manifest = open_version(index, base)
    bundle = open_index_encoder(folder, manifest)
    known = bundle.manifest.languages
    previous = {code: PreviousVersion(folder, manifest, code, delete) for code in manifest.languages}
    given = list(Corpus(replace, {*known, *previous}, bundle.name).sentences())
    replaced = _replacements(given, previous, "form" not in manifest.cleaning.off)
    pending = any(entry.segment for entry in manifest.languages.values())
    if not (add or replaced or delete or pending):
        raise UsageError("nothing to change or merge: give sentences to add or replace, or ids to delete")
    _check_ids(index, previous, delete, replaced)
    for language in previous.values():
        language.replace(replaced)
    kept = {code: language for code, language in previous.items() if language.left}
    if not (kept or add):
        raise UsageError(f"{index}: no sentence would be left: remove the folder instead")
    plan = Plan(
        Corpus(add, known, bundle.name),
        manifest.cleaning,
        manifest.options,
        previous=kept,
        skipped=manifest.skipped,
        own_ids=own_ids,
        base=manifest.version,
        job=job,
    )
    if quick is None:
        quick = manifest.sentences.total() >= QUICK_FROM
    if quick and (add or replaced or delete):
        added: dict[str, list[Read]] = {}
        for file, sentence in plan.corpus.first(MOST_CHANGED + 1):
            added.setdefault(sentence.language, []).append((file, sentence))
        if is_quick(manifest, previous, added):
            return change_quickly(index, bundle, plan, added)
    return run_plan(bundle, plan, index, threads, ray=ray)


def rebuild_index(
    index: Path,
    sources: Sequence[Source],
    *,
    threads: int = 1,
    base: str | None = None,
    job: str | None = None,
) -> IndexManifest:
    """Publish a version made from these corpora only, with the encoder, rules and options of `base`.

    `base` is the version served by default; `job` is as in `Plan`. Raises what `build_index` does.
    """
    folder, manifest = open_version(index, base)
    return build_index(
        open_index_encoder(folder, manifest),
        sources,
        index,
        threads=threads,
        cleaning=manifest.cleaning,
        options=manifest.options,
        job=job,
    )


def _replacements(given: Sequence[Read], previous: Previous, formed: bool) -> dict[str, Read]:
    """Replacements by id: (file, sentence). CorpusError for no text or id, or a repeated id."""
    replaced: dict[str, Read] = {}
    existing = _existing(previous, [f"{sentence.language}:{sentence.id}" for _, sentence in given])
    for file, sentence in given:
        sentence_id, text = f"{sentence.language}:{sentence.id}", clean(sentence.text)
        if sentence_id not in existing and sentence.id.startswith(f"{sentence.language}:"):
            sentence_id = sentence.id
        place = f"{file}, line {sentence.line}"
        if isinstance(sentence.id, RecordNumber):
            raise CorpusError(f"{place}: no id: give each sentence the one that `index export` writes")
        if not text:
            raise CorpusError(f"{place}: empty: use `index delete` to take {sentence_id} out")
        if sentence_id in replaced:
            raise CorpusError(f"{place}: {sentence_id} is given twice: give it once")
        replaced[sentence_id] = file, sentence._replace(text=text) if formed else sentence
    return replaced


def _check_ids(index: Path, previous: Previous, deleted: Collection[str], replaced: Collection[str]) -> None:
    if both := sorted(set(deleted) & set(replaced)):
        raise UsageError(f"{listed(both)}: cannot both be replaced and deleted: leave out one")
    changed = {*deleted, *replaced}
    if missing := sorted(changed - _existing(previous, changed)):
        hint = "an id is LANG:ID, in a table perhaps ID alone: see `index export`"
        raise UsageError(f"{index} has no sentence {listed(missing)}: {hint}")


def _existing(previous: Previous, ids: Collection[str]) -> set[str]:
    return {sentence_id for language in previous.values() for sentence_id in language.holds(ids)}
