"""The queue of jobs of the settings, if there is one."""

from typing import TYPE_CHECKING

from service.settings import Settings

if TYPE_CHECKING:
    from service.jobs.queue import JobQueue


def open_jobs(settings: Settings) -> "JobQueue | None":
    """None without a Redis for it, and where nobody could send a job."""
    if settings.jobs_url is None or not settings.admins:
        return None
    from service.jobs.queue import JobQueue  # RQ costs memory: only where it is used

    return JobQueue(
        settings.jobs_url.get_secret_value(),
        settings.jobs_queue,
        keep=settings.jobs_keep_seconds,
        seconds=settings.job_seconds,
        patience=settings.jobs_patience_seconds,
    )
