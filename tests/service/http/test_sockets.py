"""A listening socket that is about to be closed."""

import socket
import threading
import time

import pytest

from service.http.sockets import something_waits, take_no_more


def test_what_was_taken_is_accepted_and_what_comes_later_is_refused() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    address = listening.getsockname()
    refused = threading.Event()

    def come_late() -> None:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=20)
        refused.set()

    with socket.create_connection(address) as client:
        assert something_waits([listening.fileno()])
        take_no_more([listening.fileno()])
        late = threading.Thread(target=come_late)
        late.start()
        accepted = listening.accept()[0]
        time.sleep(0.2)  # in which the late one would get in
        assert not something_waits([listening.fileno()])
        listening.close()
        client.sendall(b"question")
        assert something_waits([accepted.fileno()])
        assert accepted.recv(20) == b"question"
        accepted.sendall(b"answer")
        assert client.recv(20) == b"answer"
        accepted.close()
    late.join()
    assert refused.is_set()
