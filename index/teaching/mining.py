"""Mining: sentences of the new language paired with sentences that the encoder knows, by vectors alone."""

from collections.abc import Sequence

import numpy as np

from index.build.probes import CORPORA
from index.encoder.bundle import Bundle
from index.encoder.pictures import Pictures
from index.encoder.taught import TaughtLanguage
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import unit
from index.search.hubness import csls
from index.teaching.material import Material

WEIGHT = 0.5  # of a mined line: some are wrong
KEPT = 0.5  # of the pairs that are each other's nearest, the surest


def known_sentences(encoder: TextEncoder, bundle: Bundle) -> Pictures | None:
    """The sentences of corpora/everyday, each the mean of what the encoder gives in its languages; None where
    it knows none of them."""
    files = {path.stem: path for path in sorted((CORPORA / "everyday").glob("*.txt"))}
    codes = [code for code in files if code in bundle.manifest.languages]
    if not codes:
        return None
    lines = {code: files[code].read_text("utf-8").splitlines() for code in codes}
    vectors = unit(np.mean([encoder.encode(texts, language=code) for code, texts in lines.items()], axis=0))
    return Pictures(tuple(lines[codes[0]]), vectors)


def mine(
    encoder: TextEncoder, taught: TaughtLanguage, texts: Sequence[str], known: Pictures
) -> Material | None:
    """Those of `texts` that are each other's nearest with a known sentence, by CSLS; None where none is."""
    scores = csls(taught(texts, encoder.encode(texts)) @ known.vectors.T)
    best = scores.argmax(axis=1)
    mutual = np.flatnonzero(scores.argmax(axis=0)[best] == np.arange(len(texts)))
    surest = mutual[np.argsort(-scores[mutual, best[mutual]], kind="stable")]
    kept = np.sort(surest[: int(np.ceil(KEPT * len(surest)))])
    if not len(kept):
        return None
    return Material("sentences", tuple(texts[row] for row in kept.tolist()), best[kept], known, WEIGHT)
