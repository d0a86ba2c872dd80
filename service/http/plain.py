"""Requests that came whole and plain: a POST, head and body in one piece.

llhttp calls Python for each part of a request, a dozen times. Of what nearly all clients send one regular
expression tells as much. Whatever does not fit it, or might be read in two ways, is left to llhttp.
"""

import re
from typing import NamedTuple

Headers = list[tuple[bytes, bytes]]

HEAD = re.compile(rb"POST (/[A-Za-z0-9/_.-]*) HTTP/1\.1\r\n((?:[A-Za-z0-9-]+:[ -~]*\r\n)+)\r\n")
LENGTH, CONNECTION, KEEP = b"content-length", b"connection", b"keep-alive"
DIGITS = 9  # of a length
# Change how a request is read, or what follows it.
CHANGING = frozenset({b"transfer-encoding", b"te", b"trailer", b"expect", b"upgrade", b"proxy-connection"})


class Plain(NamedTuple):
    """A request; the names of `headers` are in lower case."""

    path: str
    headers: Headers
    body: bytes


def plain(data: bytes, most_head: int, most_headers: int) -> Plain | None:
    """The one request that `data` is, None where that is not certain.

    Its head has at most `most_head` bytes and `most_headers` headers.
    """
    match = HEAD.match(data, 0, most_head)
    if match is None:
        return None
    headers: Headers = []
    length = -1
    for line in match[2].split(b"\r\n")[:-1]:
        name, _, value = line.partition(b":")
        name, value = name.lower(), value.lstrip(b" ")
        if name == LENGTH:
            if length >= 0 or not value.isdigit() or len(value) > DIGITS:
                return None
            length = int(value)
        elif name in CHANGING or (name == CONNECTION and value.lower() != KEEP):
            return None
        headers.append((name, value))
    if len(headers) > most_headers or len(data) - match.end() != length:
        return None
    return Plain(match[1].decode(), headers, data[match.end() :])
