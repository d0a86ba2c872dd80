"""What is read by one expression is what llhttp reads; whatever is not certain is left to it."""

import httptools
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.http.plain import plain

BODY = b'{"text": "A dog."}'
HEAD = b"POST /translate/sentence HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(BODY)
WHOLE = HEAD + BODY


class Read:
    """A request as llhttp reads it."""

    def __init__(self, data: bytes) -> None:
        self.url, self.body, self.ends = b"", b"", 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.parser = httptools.HttpRequestParser(self)
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.ends += 1


def agrees(data: bytes) -> bool:
    """Whether it is taken; then llhttp must read the same, one whole request that keeps the connection."""
    request = plain(data, 65_536, 100)
    if request is None:
        return False
    read = Read(data)
    assert read.ends == 1
    assert read.parser.get_method() == b"POST"
    assert read.parser.should_keep_alive()
    assert not read.parser.should_upgrade()
    assert (request.path.encode(), request.headers, request.body) == (read.url, read.headers, read.body)
    return True


def test_a_plain_request_is_taken() -> None:
    assert agrees(WHOLE)
    assert agrees(WHOLE.replace(b"Host: x", b"Host:x  \r\nConnection: Keep-Alive\r\nX-Empty:"))
    assert agrees(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        HEAD,
        HEAD + BODY[:-1],
        WHOLE + b"P",
        WHOLE * 2,
        b"\r\n" + WHOLE,
        WHOLE.replace(b"POST", b"GET"),
        WHOLE.replace(b"HTTP/1.1", b"HTTP/1.0"),
        WHOLE.replace(b"sentence HTTP", b"sentence?k=1 HTTP"),
        WHOLE.replace(b"sentence HTTP", b"sentenc%65 HTTP"),
        WHOLE.replace(b"Host", b"Connection: close\r\nHost"),
        WHOLE.replace(b"Host", b"Connection: upgrade\r\nUpgrade: websocket\r\nHost"),
        WHOLE.replace(b"Host", b"Transfer-Encoding: chunked\r\nHost"),
        WHOLE.replace(b"Host", b"Expect: 100-continue\r\nHost"),
        WHOLE.replace(b"Host", b"Content-Length: 18\r\nHost"),
        WHOLE.replace(b"Content-Length: 18", b"Content-Length: +18"),
        WHOLE.replace(b"Content-Length: 18", b"Content-Length : 18"),
        WHOLE.replace(b"Content-Length: 18", b"X: y\r\n Content-Length: 18"),
        WHOLE.replace(b"Host: x\r\n", b"Host: x\n"),
        WHOLE.replace(b"Host: x", b"Host: \xe9"),
        WHOLE.replace(b"Host: x", b"Host: \x00"),
        WHOLE.replace(b"Host: x", b"Ho st: x"),
        b"POST / HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_special_is_left_to_the_parser(data: bytes) -> None:
    assert plain(data, 65_536, 100) is None


def test_heads_beyond_the_limits_are_left_to_the_parser() -> None:
    assert plain(WHOLE, len(HEAD), 2) is not None
    assert plain(WHOLE, len(HEAD) - 1, 2) is None
    assert plain(WHOLE, len(HEAD), 1) is None


DAMAGE = [b"", b"\r\n", b":", b" ", b"\t", b"\x00", b"0", b"A", b"\xff", b"-"]


@given(st.data())
def test_damaged_requests_are_never_read_otherwise(data: st.DataObject) -> None:
    whole = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole) - 1))
        what = data.draw(
            st.sampled_from([b"", b"\r\n", b":", b" ", b"\t", b"\x00", b"0", b"A", b"\xff", b"-"])
        )
        whole[place : place + data.draw(st.integers(0, 2))] = what
    agrees(bytes(whole))


NAMES = st.sampled_from(
    ["Host", "content-length", "CONNECTION", "Transfer-Encoding", "TE", "Expect", "X-A", "Upgrade", "Trailer"]
)
VALUES = st.sampled_from(
    ["", "x", "18", "0018", "18, 18", "close", "keep-alive", "chunked", " x ", "a:b", "-1"]
)


@given(st.lists(st.tuples(NAMES, VALUES), max_size=5))
@example([("content-length", "18")])
def test_whatever_the_headers_both_read_the_same(headers: list[tuple[str, str]]) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    agrees(f"POST /a HTTP/1.1\r\n{lines}\r\n".encode() + BODY)
