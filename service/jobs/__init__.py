"""Changes to the index over HTTP: jobs that the service queues in Redis and that a worker process runs."""
