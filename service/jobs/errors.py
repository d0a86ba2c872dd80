"""What may go wrong with the queue. Apart from it, since that loads RQ, which few services need."""


class UnreachableError(Exception):
    """The Redis that keeps the jobs does not answer."""


class ReusedError(Exception):
    """The idempotency key has been used for another request."""
