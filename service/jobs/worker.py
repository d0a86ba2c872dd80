"""`passepartout jobs`: the worker that runs the jobs of an index, each in its own process.

A job whose worker sends no heartbeat for WORKER_SILENCE_SECONDS is restarted by another worker, or by the
same one after a restart; its build resumes from what it left on disk (index/storage/versions.py).
"""

import logging
import logging.config
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import click
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.job import Job as QueuedJob
from rq.serializers import JSONSerializer

from index.errors import PassepartoutError, UsageError
from service import limits
from service.jobs.queue import QUEUE_NAME, CorpusJob, Record, connect
from service.observability.logs import logging_config
from service.settings import Settings, load_settings

log = logging.getLogger("passepartout.jobs")

HEARTBEATS = 3  # within WORKER_SILENCE_SECONDS
RQ_MARGIN = 15  # seconds that RQ subtracts from a worker's time to live
EVICTING_POLICY = "allkeys"  # Redis policies that evict keys still in use


class LocalJob(CorpusJob):
    """A job that this process can run."""

    settings: ClassVar[Settings]

    def perform(self) -> None:
        from service.jobs.perform import perform

        perform(self.spec, Record(self.connection, self.id), self.settings)


class JobWorker(Worker):
    """RQ's worker, which forks for each job; presumed dead after WORKER_SILENCE_SECONDS."""

    def get_heartbeat_ttl(self, job: QueuedJob, working_time: float = 0.0) -> int:
        return limits.WORKER_SILENCE_SECONDS


def make_worker(settings: Settings) -> JobWorker:
    """Make a worker. Raises UsageError without jobs_url, PassepartoutError if Redis does not answer."""
    if settings.jobs_url is None:
        raise UsageError(
            "no job queue: set PASSEPARTOUT_JOBS_URL to a Redis, such as redis://127.0.0.1:6379/1"
        )
    redis = connect(settings.jobs_url.get_secret_value())
    LocalJob.settings = settings
    interval = max(1, limits.WORKER_SILENCE_SECONDS // HEARTBEATS)
    try:
        policy = str(redis.info("memory").get("maxmemory_policy", ""))
        queue = Queue(QUEUE_NAME, connection=redis, serializer=JSONSerializer, job_class=LocalJob)
        worker = JobWorker(
            [queue],
            connection=redis,
            serializer=JSONSerializer,
            job_class=LocalJob,
            job_monitoring_interval=interval,
            maintenance_interval=interval,
            worker_ttl=interval + RQ_MARGIN,
            log_job_description=False,
        )
    except RedisError as error:
        raise PassepartoutError(f"the Redis of jobs_url does not answer ({type(error).__name__})") from None
    if policy.startswith(EVICTING_POLICY):
        log.warning("the Redis of jobs_url forgets jobs when it is full (%s): use noeviction", policy)
    return worker


def tokenizer_of(index: Path) -> object:
    """The tokenizer of the version served, which jobs share while it is kept; None without an index."""
    from index.encoder.bundle import open_bundle
    from index.encoder.tokenizer import BundleTokenizer
    from index.storage.versions import ENCODER_FOLDER, VERSIONS, current

    with suppress(PassepartoutError):
        return BundleTokenizer.of(open_bundle(index / VERSIONS / current(index) / ENCODER_FOLDER))
    return None


@click.command()
@click.option("--index", type=click.Path(path_type=Path), help="Folder of the index.  [default: var/index]")
def jobs(index: Path | None) -> None:
    """Run the jobs that the service accepts: changes, builds and rollbacks of an index.

    Every further setting is an environment variable: docs/reference/settings.md.
    """
    settings = load_settings(index=index)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until RQ installs its own handler
    os.environ.setdefault("OMP_NUM_THREADS", str(settings.threads))
    config = logging_config(settings.log_format, settings.log_level)
    config["loggers"]["rq"] = config["loggers"]["passepartout"] | {"level": "WARNING"}
    logging.config.dictConfig(config)
    # Once: a job is a fork, which would take half a second for each of these.
    import_module("service.jobs.perform")
    tokenizer = tokenizer_of(settings.index)
    worker = make_worker(settings)
    log.info("jobs are done in %s", settings.index)
    worker.work(logging_level="WARNING")
    del tokenizer  # kept until here
    sys.exit(0)
