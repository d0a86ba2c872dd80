"""Changes to an index: sentences added, replaced, deleted by id into a new version.

What stays is taken over with its vectors; only new texts are encoded, by the encoder of the index, and only
added ones are cleaned, by the rules of the index.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from index.build.build_index import Plan, build_index, run_plan
from index.build.inputs import Inputs
from index.build.job import LOCAL, Engine
from index.build.lexicon import WordOptions
from index.build.previous_version import PreviousVersion
from index.build.vectors import SearchOptions
from index.corpus.cleaning import Cleaning, Rule
from index.corpus.reader import Intake, by_language
from index.encoder.bundle import Bundle, open_index_encoder
from index.errors import CorpusError, UsageError, listed
from index.formats.registry import Source
from index.formats.sentence import Sentence
from index.storage.index_manifest import IndexManifest, Scoring
from index.storage.versions import open_version
from index.text.normalisation import clean


@dataclass(frozen=True)
class Changes:
    """Options of a build that a change sets anew; None: as the version that is changed has them.

    `factory` "auto" is by the number of sentences, `store` "files" not in Milvus.
    """

    factory: str | None = None
    store: str | None = None
    scoring: Scoring | None = None
    least_count: int | None = None
    phrases: bool | None = None


KEPT = Changes()


def change_index(
    index: Path,
    *,
    add: Sequence[Source] = (),
    replace: Sequence[Source] = (),
    delete: Collection[str] = (),
    own_ids: bool = False,
    encoder: Bundle | None = None,
    threads: int = 1,
    changes: Changes = KEPT,
    base: str | None = None,
    engine: Engine = LOCAL,
) -> IndexManifest:
    """Publish a version with changes to the one served; its manifest.

    Sentences of `replace` take the place of those of the same ids, LANG:ID: text and metadata, translations
    stay. Ids of added ones are LANG:FILE:ID, or LANG:ID if `own_ids`. `encoder`: what the index must have
    been made with. `changes`: options other than those of the version. `base`: the version to change; what
    has been made so of it already is taken as it is. Raises UsageError for ids that are not there,
    CorpusError for those that are there already and for files that cannot be read, OutdatedError where
    `base` is no longer served, and what `build_index` raises.
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
    intakes = {
        code: Intake(
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
        intakes,
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
    """Publish a version with these corpora alone; encoder, rules and options are those of the one served.

    `since` and what it raises: as `build_index`.
    """
    folder, manifest = open_version(index, since)
    searching, word_options = _options(manifest, KEPT)
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
    """UsageError where an index was made by another encoder: their vectors cannot be compared."""
    if bundle.manifest.files != other.manifest.files:
        raise UsageError(
            f"{index} was made by the encoder {bundle.name}, {other.folder} is another ({other.name}): "
            "build a new index with it"
        )


def _rules(manifest: IndexManifest) -> Cleaning:
    rules = manifest.cleaning
    return Cleaning(frozenset(cast(Sequence[Rule], rules.off)), rules.longest, rules.likeness)


def _options(manifest: IndexManifest, changes: Changes) -> tuple[SearchOptions, WordOptions]:
    """How the new version is searched and which words it has."""
    asked = {name: value for name, value in asdict(changes).items() if value is not None}
    asked = manifest.options.model_dump() | {"scoring": manifest.scoring} | asked
    factory = None if asked["factory"] == "auto" else asked["factory"]
    words = WordOptions(least=asked["least_count"], phrases=asked["phrases"])
    store = None if asked["store"] == "files" else asked["store"]
    return SearchOptions(factory, asked["scoring"], store), words


def _replacements(
    sources: Sequence[Source], known: Collection[str], model: str, formed: bool
) -> dict[str, tuple[str, Sentence]]:
    """Id -> file and sentence, in memory. CorpusError for an empty one or an id given twice."""
    replaced: dict[str, tuple[str, Sentence]] = {}
    for code, files in (by_language(sources, known, model)[0] if sources else {}).items():
        intake = Intake(code, files, known)
        for file, sentence in intake.sentences():
            sentence_id, text = intake.name(file, sentence), clean(sentence.text)
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
    asked = {*deleted, *replaced}
    there = {sentence_id for base in previous.values() for sentence_id in base.holds(asked)}
    if missing := sorted(asked - there):
        raise UsageError(f"{index} has no sentence {listed(missing)}: see `index export` for the ids")


def _digest(replaced: Mapping[str, tuple[str, Sentence]]) -> str:
    digest = hashlib.sha256()
    for sentence_id, (file, sentence) in sorted(replaced.items()):
        values = [sentence_id, file, sentence.text, dict(sentence.metadata), sentence.group]
        digest.update(json.dumps(values, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()
