"""Which machines encode the shards of a build: processes of this one (encoding.py), or a Ray cluster."""

from dataclasses import dataclass
from typing import Literal

from index.build.encoding import Encoders
from index.build.job import Job
from index.text.identification import Detector

Kind = Literal["local", "ray"]


@dataclass(frozen=True)
class Engine:
    """`address` of a Ray cluster, HOST:PORT, ray://HOST:PORT or auto; None: start one on this machine."""

    kind: Kind = "local"
    address: str | None = None


LOCAL = Engine()


def encoders_of(engine: Engine, job: Job, detector: Detector) -> Encoders:
    """What encodes; whatever it is, it makes the same bytes. To be entered as a context."""
    if engine.kind == "local":
        return Encoders(job, detector)
    from index.build.ray_encoding import RayEncoders  # Ray is an extra

    return RayEncoders(job, detector, engine.address)
