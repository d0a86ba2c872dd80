"""Changes to the index over HTTP: jobs that the service takes and a worker process does."""
