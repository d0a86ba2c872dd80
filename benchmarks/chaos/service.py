"""Faults around a running service: Redis, workers, the clock, the network, too few file descriptors."""

import contextlib
import hashlib
import http.client
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.chaos import disk
from benchmarks.chaos.proxy import Network, proxy
from benchmarks.chaos.stage import (
    PASSEPARTOUT,
    Server,
    Stage,
    build,
    children,
    expect,
    free_port,
    kill_group,
    running,
    serving,
    start,
    start_server,
    succeed,
    wait_for,
)

QUICK = 1.5  # seconds an answer may take when something beside the service is broken; the machine is shared
YEAR = 365 * 86400


class Redis:
    """A Redis server without persistence on a free port."""

    def __init__(self, stage: Stage) -> None:
        self.port = free_port()
        self.folder = stage.folder
        self.start()

    def start(self) -> None:
        program = running("redis-server")
        options = ["--port", str(self.port), "--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        self.process = start([program, *options])
        wait_for(self.reachable, 30, "Redis is not up")

    def reachable(self) -> bool:
        try:
            return self.ask(b"PING") == b"+PONG"
        except OSError:
            return False

    def ask(self, command: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(command + b"\r\n")
            return connection.recv(4096).strip()

    def close(self) -> None:
        kill_group(self.process)

    def keys(self) -> int:
        return int(self.ask(b"DBSIZE").lstrip(b":"))


@contextlib.contextmanager
def with_redis(stage: Stage, network: Network | None = None, **more: str) -> Iterator[tuple[Redis, Server]]:
    redis = Redis(stage)
    try:
        with contextlib.ExitStack() as stack:
            port = redis.port if network is None else stack.enter_context(proxy(redis.port, network))
            # Without the cache in the process every question goes to Redis.
            settings = {
                "PASSEPARTOUT_REDIS_URL": f"redis://127.0.0.1:{port}",
                "PASSEPARTOUT_CACHE_BYTES": "0",
                **more,
            }
            yield redis, stack.enter_context(serving(stage.index, **settings))
    finally:
        kill_group(redis.process)


def redis_killed(stage: Stage) -> str:
    with with_redis(stage) as (redis, server):
        server.check(stage)
        expect(redis.keys() > 0, "nothing was cached in Redis")
        kill_group(redis.process)
        slowest = server.check(stage)
        expect(slowest < QUICK, f"an answer took {slowest:.1f} s")
        redis.start()
        back = wait_for(lambda: server.check(stage) > 0 and redis.keys() > 0, 30, "Redis is not used again")
    return f"no request failed, the slowest took {slowest * 1000:.0f} ms; used again after {back:.1f} s"


def redis_frozen(stage: Stage) -> str:
    with with_redis(stage) as (redis, server):
        server.check(stage)
        redis.process.send_signal(signal.SIGSTOP)
        slowest = server.check(stage)
        redis.process.send_signal(signal.SIGCONT)
        expect(slowest < QUICK, f"an answer took {slowest:.1f} s")
    return f"no request failed, the slowest took {slowest * 1000:.0f} ms"


def redis_slow(stage: Stage) -> str:
    network = Network()
    with with_redis(stage, network) as (_, server):
        server.check(stage)
        network.delay = 0.5
        late = server.check(stage)
        network.delay, network.cut_after = 0.0, 0
        cut = server.check(stage)
    expect(max(late, cut) < QUICK, f"an answer took {max(late, cut):.1f} s")
    return f"no request failed; the slowest: {late * 1000:.0f} ms when late, {cut * 1000:.0f} ms when cut"


def worker_killed(stage: Stage) -> str:
    failed = asked = 0
    with serving(stage.index, "--workers", "2") as server:
        workers = [pid for pid in children(server.process.pid) if _is_worker(pid)]
        expect(len(workers) == 2, f"{len(workers)} workers in place of 2")
        os.kill(workers[0], signal.SIGKILL)
        until = time.monotonic() + (5 if stage.small else 15)
        while time.monotonic() < until:
            asked += 1
            try:
                server.best(next(iter(stage.answers)))
            except OSError:
                failed += 1
        back = wait_for(
            lambda: len(list(filter(_is_worker, children(server.process.pid)))) == 2, 60, "no new worker"
        )
        expect(workers[0] not in children(server.process.pid), "the killed worker is still there")
    expect(failed <= 1, f"{failed} of {asked} requests failed")
    return f"{failed} of {asked} requests meanwhile failed; a new worker was there {back:.1f} s after them"


def _is_worker(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def full_spool(stage: Stage) -> str:
    with disk.small_disk(stage, 2) as spool, contextlib.closing(Redis(stage)) as redis:
        settings = {
            "PASSEPARTOUT_ADMIN_KEYS": f"boss:{hashlib.sha256(b'key').hexdigest()}",
            "PASSEPARTOUT_JOBS_URL": f"redis://127.0.0.1:{redis.port}",
            "PASSEPARTOUT_SPOOL": str(spool),
        }
        with serving(stage.index, **settings) as server:
            (spool / "ballast").write_bytes(bytes(1 << 20))
            status, document = _upload(server, bytes(3 << 19))
            expect(status == http.client.INSUFFICIENT_STORAGE, f"status {status}: {document}")
            expect("disk-full" in document, f"said only: {document}")
            expect([path.name for path in spool.iterdir()] == ["ballast"], "something of it stays")
            server.check(stage)
            (spool / "ballast").unlink()
            status, document = _upload(server, bytes(3 << 19))
            expect(status == http.client.CREATED, f"status {status}: {document}")
    return "507 with its reason, nothing stayed, questions were answered; kept with space there"


def _upload(server: Server, content: bytes) -> tuple[int, str]:
    headers = {"X-API-Key": "key", "Content-Type": "application/octet-stream"}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.request("POST", "/admin/uploads?format=tsv", content, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()


def service_killed(stage: Stage) -> str:
    server = start_server(stage.index)
    first = wait_for(server.ready, 60, "the first start")
    kill_group(server.process)
    again = start_server(stage.index)
    try:
        second = wait_for(again.ready, 60, "the second start")
        again.check(stage)
    finally:
        kill_group(again.process)
    return f"nothing to clean up; ready {second:.1f} s after its start ({first:.1f} s before)"


def stopped_while_asked(stage: Stage) -> str:
    """SIGTERM while requests run through a slow network: those that were begun get their answers."""
    network = Network(delay=0.3)
    with serving(stage.index) as server, proxy(server.port, network) as port:
        text, answer = next(iter(stage.answers.items()))
        server.best(text)
        late = _Late(port)
        late.send(text)
        time.sleep(0.8)  # until the request is through the proxy
        server.process.send_signal(signal.SIGTERM)
        expect(answer in late.receive(), "the running request got no answer")
        code = server.process.wait(30)
    expect(code == 0, f"exit code {code}")
    return "the running request got its answer, exit code 0"


class _Late:
    """One request in two parts, for what happens between asking and answering."""

    def __init__(self, port: int) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=30)

    def send(self, text: str) -> None:
        body = b'{"text": "%b", "source": "en", "target": "de", "min_confidence": 0}' % text.encode()
        head = b"POST /translate/sentence HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        self.connection.sendall(head + body)

    def receive(self) -> str:
        with self.connection:
            parts = iter(lambda: self.connection.recv(65536), b"")
            return b"".join(parts).decode("utf-8", "replace")


def clock_jumps(stage: Stage) -> str:
    clock = stage.folder / "clock"
    clock.write_text("+0\n", "ascii")
    faked = {
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "LD_PRELOAD": _libfaketime(),
    }
    slowest = 0.0
    with serving(stage.index, **faked) as server:
        for seconds in (0, YEAR, -YEAR, -40 * YEAR, 3600, 0):
            clock.write_text(f"{seconds:+d}\n", "ascii")
            slowest = max(slowest, server.check(stage))
            expect(server.ready(), f"not ready after a jump to {seconds:+d} s")
    expect(slowest < QUICK, f"an answer took {slowest:.1f} s")
    return f"jumps of an hour, years, decades: no request failed, the slowest took {slowest * 1000:.0f} ms"


def builds_at_the_wrong_time(stage: Stage) -> str:
    index, corpora = stage.new("dated"), stage.corpora("dated-sentences")
    served: list[str] = []
    for offset in (0, 20 * YEAR, -20 * YEAR):
        with (corpora / "de.txt").open("a", encoding="utf-8") as file:
            file.write(f"Ein Hund sitzt {len(served) + 2} Stunden lang am Ufer.\n")
        faked = {
            "LD_PRELOAD": _libfaketime(),
            "FAKETIME": f"{offset:+d}",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        succeed(build(index, corpora), **faked)
        served.append((index / "CURRENT").read_text("utf-8").strip())
        succeed([*PASSEPARTOUT, "index", "verify", str(index)])
    expect(len(set(served)) == 3, f"a version was overwritten: {served}")
    with serving(index) as server:
        server.check(stage)
    return f"versions {', '.join(served)}: each complete, the last one built is the one served"


def _libfaketime() -> str:
    running("faketime")
    libraries = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    expect(bool(libraries), "faketime is there, its library is not")
    return str(libraries[0])


def slow_network(stage: Stage) -> str:
    with serving(stage.index) as server, proxy(server.port, Network(delay=0.2, rate=20_000)) as port:
        for text, answer in stage.answers.items():
            expect(server.best(text, port) == answer, "another answer through the slow network")
        slowest = server.check(stage)
    expect(slowest < QUICK, f"an answer beside it took {slowest:.1f} s")
    return f"all answers as before; beside it the slowest took {slowest * 1000:.0f} ms"


def network_cut(stage: Stage) -> str:
    cuts = 0
    with serving(stage.index) as server:
        for bytes_passed in (0, 1, 100, 300) if stage.small else range(0, 600, 20):
            with proxy(server.port, Network(cut_after=bytes_passed)) as port:
                try:
                    server.best(next(iter(stage.answers)), port)
                except (OSError, ValueError, ConnectionError):
                    cuts += 1
                except Exception as error:  # http.client's own, for half an answer
                    expect("http.client" in type(error).__module__, repr(error))
                    cuts += 1
        server.check(stage)
        expect("Traceback" not in server.log.read_text("utf-8"), "a traceback in the log")
    return f"{cuts} connections cut in the middle, all later answers as before, no traceback in the log"


def slow_clients(stage: Stage) -> str:
    """Connections that send a body a byte at a time, more than the service answers at a time."""
    wanted = 20 if stage.small else 300
    with serving(stage.index, PASSEPARTOUT_REQUEST_SECONDS="3") as server:
        connections = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(wanted)]
        for connection in connections:
            connection.sendall(
                b"POST /translate/sentence HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
            )
        slowest, begun = 0.0, time.monotonic()
        while time.monotonic() - begun < 6:
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.sendall(b"{")
            slowest = max(slowest, server.check(stage))
        closed = sum(map(_closed, connections))
        for connection in connections:
            connection.close()
    expect(closed == wanted, f"{wanted - closed} of {wanted} slow connections were kept")
    expect(slowest < QUICK, f"an answer took {slowest:.1f} s")
    return f"{wanted} of them cut off, beside them the slowest answer took {slowest * 1000:.0f} ms"


def _closed(connection: socket.socket) -> bool:
    connection.settimeout(5)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def few_descriptors(stage: Stage) -> str:
    limited = ["prlimit", "--nofile=64:64", "--"]
    running("prlimit")
    with serving(stage.index, prefix=limited) as server:
        crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
        time.sleep(1)
        expect(server.process.poll() is None, "the server ended")
        for connection in crowd:
            connection.close()
        back = wait_for(server.ready, 30, "no answer after the crowd left")
        server.check(stage)
    return f"100 connections to 64 descriptors: it lived, and answered {back:.1f} s after they left"
