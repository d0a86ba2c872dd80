"""Stage of a build: what the manifest says of how well a version answers (quality.py)."""

from index.build.calibrate import calibrate, measure_hubness
from index.build.job import Job
from index.confidence.quality import Confidence
from index.encoder.bundle import Bundle
from index.progress import Progress
from index.search.sentence_index import SentenceIndex
from index.storage.index_manifest import IndexManifest


def judged(job: Job, manifest: IndexManifest) -> IndexManifest:
    """The manifest with the hubness and quality of each pair of languages and the confidence to be had."""
    indexes = {
        code: SentenceIndex.open(
            job.work,
            code,
            count=entry.sentences,
            dimension=manifest.dimension,
            sources=manifest.sources(code),
            links=entry.links,
            threads=job.threads,
            search=entry.search,
        )
        for code, entry in manifest.languages.items()
    }
    with Progress(len(indexes) * (len(indexes) - 1), unit="pairs", label="calibrate") as bar:
        found, quality = calibrate(indexes, progress=bar.advance)
    confidence = found or unaligned(job.bundle)
    return manifest.model_copy(
        update={
            "calibrated": confidence.source in ("aligned", "encoder"),
            "confidence": confidence,
            "quality": {f"{source}-{target}": entry for (source, target), entry in quality.items()},
            "hubness": {f"{a}-{b}": entry for (a, b), entry in measure_hubness(indexes).items()},
        }
    )


def unaligned(bundle: Bundle) -> Confidence:
    """The confidence of an index that has not enough aligned sentences."""
    fitted = bundle.manifest.calibration
    return Confidence(source="encoder", n=fitted.n, ece=fitted.ece) if fitted else Confidence()
