"""Encoding on a Ray cluster: shards as tasks of Ray, their vectors written here.

Texts go to the workers and vectors come back through Ray's object store; files, the journal and the order of
shards stay with this process, so a build is resumed and published as if it had encoded by itself. A task
whose worker dies is given to another by Ray, at most TASK_RETRIES times. Its result is taken once, when
its shard is next, so that no vector is lost or stored twice, whichever worker died.

The encoder travels through the object store too, as files that a worker checks like any bundle, so that
workers share no folder with the builder, and only need the same software.
"""

import os
import re
import secrets
import shutil
import socket
import sys
import tempfile
import uuid
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy
import onnxruntime
import tokenizers

from index.build.encoding import Encoded, Pool, Worker
from index.build.job import Job
from index.build.reading import SHARD_LINES
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import PassepartoutError, UsageError
from index.storage.manifest import MANIFEST_NAME
from index.text.identification import Detector
from index.words.vocabulary import count_words

TASK_RETRIES = 3  # of a task whose worker died
MOST_AHEAD = 256  # shards under way: bounds what their vectors take in the object store
CONNECT_SECONDS = 5.0  # within which a cluster must accept a connection
LEAST_STORE = 256 << 20  # bytes of the object store of a cluster that is started here
CLUSTER_ADDRESS = re.compile(
    r"(?:ray://)?(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):(?P<port>[0-9]{1,5})|auto"
)
# Read by Ray when it is imported, or by the processes that it starts; what the user has set stays.
QUIET_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
# A cluster started here listens on the loopback interface only, and gives up if memory is short.
OWN_CLUSTER_ENVIRONMENT = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_task_oom_retries": str(TASK_RETRIES),
}
# If something other than Ray listens there, give up after half a minute instead of ten.
OTHER_CLUSTER_ENVIRONMENT = {"RAY_gcs_server_port_wait_time_s": "1"}
TOKEN_VARIABLES = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


class Cluster:
    """A connection to a Ray cluster; shares the one that this process already has, if any."""

    def __init__(self, address: str | None, threads: int, store: int) -> None:
        """Connect to `address`, or start a cluster here with `threads` cores and `store` bytes for objects.

        Raises UsageError if Ray is not installed or the address is invalid, PassepartoutError for a cluster
        that does not answer.
        """
        self._folder: str | None = None
        if address is not None:
            _check_reachable(address)
        self.ray = _import(local=address is None)
        self._shared = bool(self.ray.is_initialized())
        if not self._shared:
            self._connect(address, threads, store)
        self.cores = max(1, int(self.ray.cluster_resources().get("CPU", 0)))

    def _connect(self, address: str | None, threads: int, store: int) -> None:
        options: dict[str, Any] = {"address": address, "log_to_driver": False, "configure_logging": False}
        if address is None:
            self._folder = tempfile.mkdtemp(
                prefix="ray-", dir="/tmp"
            )  # a longer path has no room for sockets
            options |= {"address": "local", "num_cpus": threads, "include_dashboard": False}
            options |= {"object_store_memory": store, "_temp_dir": self._folder}
        try:
            self.ray.init(**options)
        except (OSError, RuntimeError, ValueError, TimeoutError, self.ray.exceptions.RayError) as error:
            self.close()
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise PassepartoutError(f"Ray at {address or 'this machine'}: {reason}") from error

    def close(self) -> None:
        """Disconnect, and stop the cluster if it was started here."""
        if not self._shared:
            self.ray.shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


class RayPool(Pool):
    """Encodes on a Ray cluster, whatever the number of texts."""

    def __init__(self, job: Job, detector: Detector, address: str | None = None) -> None:
        super().__init__(job, detector)
        self._address = address

    def __enter__(self) -> "RayPool":
        shard = 4 * self._job.encoder.dimension * SHARD_LINES
        threads = self._job.threads
        with ExitStack() as stack:
            # Ray reports dead workers on standard output, which may be read by a program (--json).
            stack.enter_context(redirect_stdout(sys.stderr))
            cluster = Cluster(self._address, threads, max(LEAST_STORE, 4 * threads * shard))
            stack.callback(cluster.close)
            self.ahead = min(2 * cluster.cores, MOST_AHEAD)
            self._remote = cluster.ray.remote(num_cpus=1, max_retries=TASK_RETRIES, retry_exceptions=False)
            self._key = uuid.uuid4().hex
            setup = Setup.of(self._job.bundle, self.detector, self._job.batch_size)
            # In a list, so that Ray passes the reference on and not the files.
            self._setups = [cluster.ray.put(setup)]
            self._leave = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave.close()

    def encode(self, code: str, texts: Sequence[str], check_language: bool) -> "Future[Encoded]":
        """See Pool.encode."""
        return self.submit(_encode, self._setups, self._key, code, list(texts), check_language)

    def count(self, texts: list[str], code: str) -> "Future[dict[str, int]]":
        """See Pool.count."""
        return self.submit(count_words, texts, code)

    def submit(self, function: Any, *values: object) -> "Future[Any]":  # noqa: ANN401 (of any kind)
        """Call a function on a worker. The future raises PassepartoutError if workers keep dying."""
        future: Future[Any] = Future()
        task = self._remote(function).remote(*values)
        task.future().add_done_callback(partial(_hand_on, future))
        return future


def _hand_on(future: "Future[Any]", done: "Future[Any]") -> None:
    error = done.exception()
    if error is None:
        future.set_result(done.result())
        return
    from ray.exceptions import RayError, RayTaskError

    if isinstance(error, RayTaskError):  # the function's own, with the worker's traceback in its text
        future.set_exception(error.cause if isinstance(error.cause, PassepartoutError) else error)
    elif isinstance(error, RayError):
        failure = PassepartoutError(
            f"Ray gave up a shard after {TASK_RETRIES} further tries ({type(error).__name__}): look into the "
            "cluster's logs, then repeat the command; what is encoded is kept"
        )
        failure.__cause__ = error
        future.set_exception(failure)
    else:
        future.set_exception(error)


def _import(local: bool) -> Any:  # noqa: ANN401 (Ray is an extra)
    """Import Ray, with its environment set. Raises UsageError if it is not installed."""
    for name, value in (
        QUIET_ENVIRONMENT | (OWN_CLUSTER_ENVIRONMENT if local else OTHER_CLUSTER_ENVIRONMENT)
    ).items():
        os.environ.setdefault(name, value)
    if local and not any(name in os.environ for name in TOKEN_VARIABLES):
        # Otherwise Ray would keep a token in the home folder, and print that.
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs Ray: pip install 'passepartout[ray]'") from None
    return ray


def _check_reachable(address: str) -> None:
    """Raise an error if no cluster accepts connections at the address; Ray itself would try for a minute."""
    match = CLUSTER_ADDRESS.fullmatch(address)
    if match is None:
        raise UsageError(f"{address!r} is not a Ray cluster: give HOST:PORT, ray://HOST:PORT or auto")
    if match["host"] is None:
        return
    try:
        socket.create_connection((match["host"].strip("[]"), int(match["port"])), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise PassepartoutError(
            f"no Ray cluster at {address} ({error}): start one with `ray start --head`, or give no address"
        ) from error


@dataclass(frozen=True)
class Setup:
    """What a worker needs to encode: the bundle's files (name: content), and the versions of `software`."""

    files: dict[str, bytes]
    detector: Detector
    batch_size: int
    software: dict[str, str]

    @classmethod
    def of(cls, bundle: Bundle, detector: Detector, batch_size: int) -> "Setup":
        """Read the files of a bundle."""
        names = (MANIFEST_NAME, *bundle.manifest.files)
        files = {name: (bundle.folder / name).read_bytes() for name in names}
        return cls(files, detector, batch_size, software())


def software() -> dict[str, str]:
    """The versions of packages that must be the same on all machines, or vectors would differ."""
    modules = {module.__name__: str(module.__version__) for module in (numpy, onnxruntime, tokenizers)}
    return {"passepartout": version("passepartout"), **modules}


_workers: dict[str, Worker] = {}  # at most one


def _encode(
    setups: Sequence[Any], key: str, code: str, texts: Sequence[str], check_language: bool
) -> Encoded:
    """`Worker.encode`; `setups` holds Ray's reference to the setup of build `key`, fetched once a process."""
    if key not in _workers:
        import ray  # the caller runs in it

        _workers.clear()
        _workers[key] = _worker_of(ray.get(setups[0]))
    return _workers[key].encode(code, texts, check_language)


def _worker_of(setup: Setup) -> Worker:
    """Make the worker of this process. PassepartoutError if its software differs from the builder's."""
    for name, installed in software().items():
        if installed != setup.software[name]:
            raise PassepartoutError(
                f"a Ray worker has {name} {installed}, this machine {setup.software[name]}: "
                "install the same versions on both, or vectors would differ"
            )
    with TemporaryDirectory(prefix="passepartout-") as folder:
        for name, content in setup.files.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return Worker(TextEncoder(open_bundle(Path(folder))), setup.detector, setup.batch_size)
