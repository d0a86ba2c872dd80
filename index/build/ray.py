"""Encoding on a Ray cluster: shards as tasks of Ray, their vectors written here.

Texts go to the workers and vectors come back through Ray's object store; files, the journal and the order of
shards stay with this process, so a build goes on and is published as if it had encoded by itself. A task
whose worker dies is given to another by Ray, at most TASK_RETRIES times. The encoder travels through the
object store too, as files that a worker checks like any bundle, so that workers share no folder with the
builder, and only need the same software.
"""

import os
import socket
import sys
import tempfile
import uuid
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from index.build.encoding import BuildJob, Encoded, EncodingPool, Worker
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import PassepartoutError
from index.storage.manifest import MANIFEST_NAME
from index.text.identification import Detector
from index.words.vocabulary import count_words

TASK_RETRIES = 3  # of a task whose worker died
MOST_AHEAD = 256  # shards under way: bounds what their vectors take in the object store
CONNECT_SECONDS = 5.0  # within which a cluster must accept a connection; Ray itself would try for a minute
# Read by Ray when it is imported; what the user has set stays. If something other than Ray listens there,
# give up after half a minute instead of ten.
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_gcs_server_port_wait_time_s": "1",
}
SOFTWARE = ("passepartout", "numpy", "onnxruntime", "tokenizers")  # the same everywhere, or vectors differ


class Setup(NamedTuple):
    """What a worker needs to encode: the bundle's files (name: content), and the versions of `software`."""

    files: dict[str, bytes]
    detector: Detector
    software: dict[str, str]

    @classmethod
    def of(cls, bundle: Bundle, detector: Detector) -> "Setup":
        """Read the files of a bundle."""
        names = (MANIFEST_NAME, *bundle.manifest.files)
        files = {name: (bundle.folder / name).read_bytes() for name in names}
        return cls(files, detector, {name: version(name) for name in SOFTWARE})

    def worker(self) -> Worker:
        """Make the worker of this process. PassepartoutError if its software differs from the builder's."""
        for name, wanted in self.software.items():
            if (installed := version(name)) != wanted:
                raise PassepartoutError(
                    f"a Ray worker has {name} {installed}, this machine {wanted}: "
                    "install the same versions on both, or vectors would differ"
                )
        with tempfile.TemporaryDirectory(prefix="passepartout-") as folder:
            for name, content in self.files.items():
                path = Path(folder) / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
            return Worker(TextEncoder(open_bundle(Path(folder))), self.detector)


class RayPool(EncodingPool):
    """Encodes on the Ray cluster at `address`, HOST:PORT, or at "auto" on the one that this machine is in.

    Raises PassepartoutError for a cluster that does not answer.
    """

    def __init__(self, job: BuildJob, detector: Detector, address: str) -> None:
        super().__init__(job, detector)
        self._address = address

    def __enter__(self) -> "RayPool":
        _check(self._address)
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        import ray  # an extra

        self._ray: Any = ray
        self._shared = bool(ray.is_initialized())
        # Ray reports dead workers on standard output, which may be read by a program (--json).
        with redirect_stdout(sys.stderr):
            try:
                ray.init(
                    self._address, ignore_reinit_error=True, log_to_driver=False, configure_logging=False
                )
            except (OSError, RuntimeError, ValueError, TimeoutError, ray.exceptions.RayError) as error:
                ray.shutdown()
                reason = (str(error).strip() or type(error).__name__).splitlines()[0]
                raise PassepartoutError(f"Ray at {self._address}: {reason}") from error
        cores = max(1, int(ray.cluster_resources().get("CPU", 0)))
        self.ahead, self._key = min(2 * cores, MOST_AHEAD), uuid.uuid4().hex
        # In a list, so that Ray passes the reference on and not the files.
        self._setups = [ray.put(Setup.of(self._job.bundle, self.detector))]
        return self

    def __exit__(self, *_: object) -> None:
        if not self._shared:  # with the rest of this process
            self._ray.shutdown()

    def encode(self, code: str, texts: Sequence[str], check_language: bool) -> "Future[Encoded]":
        """See EncodingPool.encode."""
        return self.submit(_encode, self._setups, self._key, code, list(texts), check_language)

    def count(self, texts: list[str], code: str) -> "Future[dict[str, int]]":
        """See EncodingPool.count."""
        return self.submit(count_words, texts, code)

    def submit(self, function: Any, *values: object) -> "Future[Any]":  # noqa: ANN401 (of any kind)
        """Call a function on a worker."""
        remote = self._ray.remote(num_cpus=1, max_retries=TASK_RETRIES, retry_exceptions=False)
        future: Future[Any] = remote(function).remote(*values).future()
        return future

    def result(self, future: "Future[Any]") -> Any:  # noqa: ANN401 (of any type)
        """See EncodingPool.result. PassepartoutError if workers keep dying."""
        errors = self._ray.exceptions
        try:
            return future.result()
        except errors.RayTaskError as error:  # the function's own, with the worker's traceback in its text
            raise (error.cause if isinstance(error.cause, PassepartoutError) else error) from None
        except errors.RayError as error:
            raise PassepartoutError(
                f"Ray gave up a shard after {TASK_RETRIES} further tries ({type(error).__name__}): look into "
                "the cluster's logs, then repeat the command; what is encoded is kept"
            ) from error


def _check(address: str) -> None:
    """PassepartoutError unless something accepts connections at an address."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        if address != "auto":
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise PassepartoutError(
            f"no Ray cluster at {address} ({error}): give HOST:PORT or auto, or run `ray start --head`"
        ) from error


_workers: dict[str, Worker] = {}  # at most one


def _encode(
    setups: Sequence[Any], key: str, code: str, texts: Sequence[str], check_language: bool
) -> Encoded:
    """`Worker.encode`; `setups` holds Ray's reference to the setup of build `key`, fetched once a process."""
    if key not in _workers:
        import ray  # the caller runs in it

        _workers.clear()
        _workers[key] = ray.get(setups[0]).worker()
    return _workers[key].encode(code, texts, check_language)
