"""Changes to an index: a new version with sentences added, replaced or deleted by id.

Unchanged sentences keep their vectors. Only new texts are encoded, with the encoder of the index, and only
added sentences are cleaned, by the rules of the index.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from index.build.build_index import Plan, build_index, run_plan
from index.build.cleaning import Cleaning, Rule
from index.build.corpus import CorpusReader, by_language
from index.build.inputs import Inputs
from index.build.job import LOCAL_ENGINE, Engine
from index.build.lexicon import WordOptions
from index.build.previous_version import PreviousVersion
from index.build.vectors import SearchOptions
from index.encoder.bundle import Bundle, open_index_encoder
from index.errors import CorpusError, UsageError, listed
from index.formats.registry import Source
from index.formats.sentence import Sentence
from index.storage.index_manifest import IndexManifest, Scoring
from index.storage.versions import open_version
from index.text.normalisation import clean


@dataclass(frozen=True)
class Changes:
    """Build options that a change sets; None keeps the option of the version that is changed.

    `factory` "auto" chooses by the number of sentences; `store` "files" stores vectors in files, not Milvus.
    """

    factory: str | None = None
    store: str | None = None
    scoring: Scoring | None = None
    least_count: int | None = None
    phrases: bool | None = None


NO_CHANGES = Changes()


def change_index(
    index: Path,
    *,
    add: Sequence[Source] = (),
    replace: Sequence[Source] = (),
    delete: Collection[str] = (),
    own_ids: bool = False,
    encoder: Bundle | None = None,
    threads: int = 1,
    changes: Changes = NO_CHANGES,
    base: str | None = None,
    engine: Engine = LOCAL_ENGINE,
) -> IndexManifest:
    """Publish a new version with changes to the one served; return its manifest.

    Sentences of `replace` replace the text and metadata of those with the same ids, LANG:ID; translations
    stay. Added sentences get the ids LANG:FILE:ID, or LANG:ID with `own_ids`. `encoder`: raise unless the
    index was made with it. `base`: the version to change; if it was already changed in this way, the result
    is that version. Raises UsageError for ids that do not exist, CorpusError for added ids that exist already
    and for files that cannot be read, OutdatedError if `base` is no longer served, and what `build_index`
    raises.
    """
    folder, manifest = open_version(index, base)
    bundle = open_index_encoder(folder, manifest)
    if encoder is not None:
        check_encoder(index, bundle, encoder)
    known = bundle.manifest.languages
    inputs = Inputs.of(add)
    added, skipped, expected = by_language(add, known, bundle.name) if add else ({}, {}, {})
    replaced = _replacements(replace, known, bundle.name, "form" not in manifest.cleaning.off)
    deleted = frozenset(delete)
    if not (added or replaced or deleted):
        raise UsageError("nothing to change: give sentences to add or replace, or ids to delete")
    previous = {
        code: PreviousVersion(folder, manifest, code, deleted, replaced) for code in manifest.languages
    }
    _check_ids(index, previous, deleted, replaced)
    kept = {code: base for code, base in previous.items() if base.left or code in added}
    if not (kept or added):
        raise UsageError(f"{index}: no sentence would be left: remove the folder instead")
    readers = {
        code: CorpusReader(
            code,
            added.get(code, ()),
            known,
            expected.get(code, 0),
            by_file=not own_ids and (code in kept or len(added[code]) > 1),
            strict=code in kept or own_ids,
        )
        for code in (*kept, *(code for code in added if code not in kept))
    }
    plan = Plan(
        readers,
        {**manifest.skipped, **skipped},
        _rules(manifest),
        [inputs.fingerprints(added), own_ids, _digest(replaced), sorted(deleted), manifest.digest],
        inputs,
        kept,
        manifest.version,
        *_options(manifest, changes),
        since=base,
    )
    return run_plan(bundle, plan, index, threads, engine=engine)


def rebuild_index(
    index: Path, sources: Sequence[Source], *, threads: int = 1, since: str | None = None
) -> IndexManifest:
    """Publish a version made from these corpora only, with the encoder, rules and options of the one served.

    `since` is as in `Plan`. Raises what `build_index` does.
    """
    folder, manifest = open_version(index, since)
    searching, word_options = _options(manifest, NO_CHANGES)
    return build_index(
        open_index_encoder(folder, manifest),
        sources,
        index,
        threads=threads,
        cleaning=_rules(manifest),
        searching=searching,
        word_options=word_options,
        since=since,
    )


def check_encoder(index: Path, bundle: Bundle, other: Bundle) -> None:
    """Raise UsageError if an index was made with another encoder, whose vectors cannot be compared."""
    if bundle.manifest.files != other.manifest.files:
        raise UsageError(
            f"{index} was made by the encoder {bundle.name}, {other.folder} is another ({other.name}): "
            "build a new index with it"
        )


def _rules(manifest: IndexManifest) -> Cleaning:
    rules = manifest.cleaning
    return Cleaning(frozenset(cast(Sequence[Rule], rules.off)), rules.longest, rules.likeness)


def _options(manifest: IndexManifest, changes: Changes) -> tuple[SearchOptions, WordOptions]:
    """The search and word options of the new version."""
    changed = {name: value for name, value in asdict(changes).items() if value is not None}
    options = manifest.options.model_dump() | {"scoring": manifest.scoring} | changed
    factory = None if options["factory"] == "auto" else options["factory"]
    words = WordOptions(least=options["least_count"], phrases=options["phrases"])
    store = None if options["store"] == "files" else options["store"]
    return SearchOptions(factory, options["scoring"], store), words


def _replacements(
    sources: Sequence[Source], known: Collection[str], model: str, formed: bool
) -> dict[str, tuple[str, Sentence]]:
    """Read replacements into memory: id -> (file, sentence). CorpusError for an empty text, a repeated id."""
    replaced: dict[str, tuple[str, Sentence]] = {}
    for code, files in (by_language(sources, known, model)[0] if sources else {}).items():
        reader = CorpusReader(code, files, known)
        for file, sentence in reader.sentences():
            sentence_id, text = reader.id_of(file, sentence), clean(sentence.text)
            if not text:
                raise CorpusError(
                    f"{file}, line {sentence.line}: empty: use `index delete` to take {sentence_id} out"
                )
            if sentence_id in replaced:
                raise CorpusError(f"{file}, line {sentence.line}: {sentence_id} is given twice: give it once")
            replaced[sentence_id] = file, sentence._replace(text=text) if formed else sentence
    return replaced


def _check_ids(
    index: Path,
    previous: Mapping[str, PreviousVersion],
    deleted: Collection[str],
    replaced: Mapping[str, object],
) -> None:
    if both := sorted(set(deleted) & set(replaced)):
        raise UsageError(f"{listed(both)}: to be replaced and deleted: decide")
    changed = {*deleted, *replaced}
    existing = {sentence_id for base in previous.values() for sentence_id in base.holds(changed)}
    if missing := sorted(changed - existing):
        raise UsageError(f"{index} has no sentence {listed(missing)}: see `index export` for the ids")


def _digest(replaced: Mapping[str, tuple[str, Sentence]]) -> str:
    digest = hashlib.sha256()
    for sentence_id, (file, sentence) in sorted(replaced.items()):
        values = [sentence_id, file, sentence.text, dict(sentence.metadata), sentence.group]
        digest.update(json.dumps(values, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()
