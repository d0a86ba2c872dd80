"""Sockets as a server stops: no connection more is taken, and none that was taken is reset."""

import ctypes
import os
import select
import socket
import struct
from collections.abc import Iterable

SO_ATTACH_FILTER = 26  # of Linux, which Python has no name for
DROP = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0), 8)  # BPF_RET | BPF_K, 0 bytes


def something_waits(files: Iterable[int]) -> bool:
    """Whether at one of these sockets a connection or bytes wait: a close would reset them."""
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return bool(poll.poll(0))


def take_no_more(files: Iterable[int]) -> None:
    """These listening sockets get no more connections: who tries is refused once they are closed.

    What was taken before can still be accepted. A small backlog would not do: the system takes one more
    between the last look and the close, and resets it.
    """
    for file in files:
        with socket.socket(fileno=os.dup(file)) as own:
            try:
                own.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, _drop_all())
            except OSError:  # not Linux: the system takes one at most
                own.listen(0)


def _drop_all() -> bytes:
    """A socket filter (Linux, classic BPF) of one instruction, "return 0": no packet comes through."""
    return struct.pack("HP", 1, ctypes.addressof(DROP))
