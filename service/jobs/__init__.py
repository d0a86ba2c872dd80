"""Changes to the index over HTTP: jobs that the service queues in Redis and a worker process does."""
