"""Mining: pairs sentences of the new language with sentences that the encoder knows, by their vectors."""

from collections.abc import Sequence

import numpy as np

from index.build.probes import PROBE_FOLDER
from index.encoder.bundle import Bundle
from index.encoder.pictures import Pictures
from index.encoder.taught import TaughtLanguage
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import unit
from index.teaching.examples import Examples
from index.vectors.neighbourhoods import csls

MINED_WEIGHT = 0.5  # of a mined line, since some are wrong
KEPT_SHARE = 0.5  # of the pairs that are each other's nearest, those with the highest scores


def known_sentences(encoder: TextEncoder, bundle: Bundle) -> Pictures | None:
    """The sentences of corpora/everyday, each with the mean of its vectors in the encoder's languages.

    None if the encoder knows none of their languages.
    """
    files = {path.stem: path for path in sorted((PROBE_FOLDER / "everyday").glob("*.txt"))}
    codes = [code for code in files if code in bundle.manifest.languages]
    if not codes:
        return None
    lines = {code: files[code].read_text("utf-8").splitlines() for code in codes}
    vectors = unit(np.mean([encoder.encode(texts, language=code) for code, texts in lines.items()], axis=0))
    return Pictures(tuple(lines[codes[0]]), vectors)


def mine(
    encoder: TextEncoder, taught: TaughtLanguage, texts: Sequence[str], known: Pictures
) -> Examples | None:
    """Find texts that are mutual nearest neighbours of known sentences by CSLS; None if there are none."""
    scores = csls(taught(texts, encoder.encode(texts)) @ known.vectors.T)
    nearest = scores.argmax(axis=1)
    mutual = np.flatnonzero(scores.argmax(axis=0)[nearest] == np.arange(len(texts)))
    by_score = mutual[np.argsort(-scores[mutual, nearest[mutual]], kind="stable")]
    kept = np.sort(by_score[: int(np.ceil(KEPT_SHARE * len(by_score)))])
    if not len(kept):
        return None
    return Examples(
        "sentences", tuple(texts[row] for row in kept.tolist()), nearest[kept], known, MINED_WEIGHT
    )
