"""What a service frees goes back to the system."""

import subprocess
import sys

# As in a service: threads take large blocks for a request, and keep small ones, such as cached answers.
REQUESTS = """
import threading
from pathlib import Path
from index.malloc import return_freed_memory

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

return_freed_memory()
bytes(30_000_000)  # which makes glibc take smaller blocks from the heap from now on
kept, before = [], megabytes()

def request():
    for _ in range(4):
        taken = [(b"a" * 2_000_000, kept.append(b"a" * 2_000)) for _ in range(10)]

threads = [threading.Thread(target=request) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(megabytes() - before)
"""


def test_large_blocks_are_returned_when_they_are_freed() -> None:
    command = [sys.executable, "-c", REQUESTS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert float(done.stdout) < 10  # megabytes; glibc left alone keeps more than 40
