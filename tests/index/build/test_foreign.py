"""Which lines of a corpus the shipped encoder's build takes for another language."""

from pathlib import Path

from index.build.build_index import build_index
from index.encoder.bundle import open_bundle
from index.formats.registry import Source

ROOT = Path(__file__).parents[3]
ENGLISH = [
    "Press Enter to continue.",
    "It was lovely meeting you all.",
    "Please pass on my regards to Dr. Miller.",
    "Please accept our apologies for the delay.",
    "Congratulations on your new job!",
    "Two dogs are playing in the snow.",
]
FOREIGN = ["Zwei Hunde spielen im Schnee mit einem Ball.", "Veuillez agréer mes salutations distinguées."]


def test_what_is_not_in_captions_is_no_other_language(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("\n".join([*ENGLISH, *FOREIGN]) + "\n", "utf-8")
    bundle = open_bundle(ROOT / "models" / "open")
    manifest = build_index(bundle, [Source(tmp_path / "en.txt", "en")], tmp_path / "index")
    entry = manifest.languages["en"]
    assert (entry.sentences, entry.dropped) == (len(ENGLISH), {"language": len(FOREIGN)})
