"""Requests without a body, and uploads, whose path or query costs as much as it can."""

from collections.abc import Iterator
from functools import partial
from urllib.parse import quote, urlencode

from benchmarks.chaos.costs import MEGABYTE, Costly

LONGEST = 60_000  # characters of a request's first line: uvicorn reads 64 kB of a head
BYTES = "application/octet-stream"
Get = partial(Costly, method="GET")
MARKS = "\u0345\u035c\u0301\u0302\u059a\u0316\u031b\u0321\u0334\u0327"


def costly_queries() -> Iterator[Costly]:
    """For each route that reads its path or its query, what costs most under the limits."""
    yield from _concordances()
    for path in ("/teach/pictures", "/download_file/a", "/problems/not-found"):
        yield Get(f"{path}, many options", f"{path}?{_repeated('count=300')}")
    for path in ("/download_file/", "/problems/"):
        yield Get(f"{path} of a long name", path + "a" * LONGEST)
    unit = "/tmserver/en/de/unit/"
    for name, text in (
        ("letters", "a" * 1000),
        ("combining marks", "".join(mark * 100 for mark in MARKS)),
        ("sentences", "A dog. " * 142),
        ("too many letters", "a" * LONGEST),
    ):
        yield Get(f"a unit of {name}", f"{unit}{quote(text)}?max_candidates=50&min_similarity=0")
    yield Get("a unit of options", f"{unit}?{_repeated('source=a')}")
    yield Get("a unit of long languages", f"/tmserver/{'a' * 30_000}/{'b' * 30_000}/unit/a")


def _concordances() -> Iterator[Costly]:
    asked: dict[str, dict[str, object]] = {
        "all sentences": {},
        "a word": {"text": "a"},
        "a long phrase": {"text": "a " * 100},
        "signs": {"text": r".*+?()[]{}|\^$" * 14},
        "combining marks": {"text": "".join(mark * 20 for mark in MARKS)},
        "a far row": {"text": "a", "begin": 2**62},
    }
    for name, options in asked.items():
        yield Get(
            f"concordance of {name}", f"/concordance?{urlencode({'source': 'en', 'count': 100} | options)}"
        )
    yield Get("concordance, unknown targets", f"/concordance?source=en&{_repeated('target=xx', 128)}")
    yield Get("concordance, too many targets", f"/concordance?source=en&{_repeated('target=xx')}")
    yield Get("concordance, many sources", f"/concordance?{_repeated('source=en')}")
    yield Get("concordance, unknown options", f"/concordance?source=en&{_repeated('a=b')}")
    yield Get("concordance of a long word", f"/concordance?source=en&text={'a' * LONGEST}")
    yield Get("concordance of a long language", f"/concordance?source={'a' * LONGEST}")


def costly_changes(job: str) -> Iterator[Costly]:
    """The same for those who have an admin's key, with the ID of a job that has ended."""
    yield Costly("reload", f"/admin/reload?{_repeated('a=b')}")
    for name, query in {
        "bytes": "format=txt&language=en",
        "columns": f"format=tsv&columns={','.join(['en=English'] * 90)}",
        "many columns": f"format=tsv&columns={'=,' * 500}",
        "a long name": f"format=txt&language=en&name={'a' * LONGEST}",
        "a long language": f"format=txt&language={'a' * LONGEST}",
        "many options": _repeated("format=txt"),
    }.items():
        yield Costly(f"an upload of {name}", f"/admin/uploads?{query}", b"a\n" * (MEGABYTE // 2), BYTES)
    for method, path in (
        ("GET", "/admin/uploads"),
        ("DELETE", "/admin/uploads/{}"),
        ("GET", "/admin/versions"),
        ("GET", "/admin/jobs"),
        ("GET", "/admin/jobs/{}"),
        ("POST", "/admin/jobs/{}/cancel"),
        ("GET", "/admin/jobs/{}/events"),
    ):
        yield Costly(f"{method} {path}", f"{path.format(job)}?{_repeated('a=b')}", method=method)
        if "{" in path:
            yield Costly(f"{method} {path}, a long ID", path.format("a" * LONGEST), method=method)


def _repeated(option: str, count: int | None = None) -> str:
    """An option of a query again and again, as often as it is read."""
    return "&".join([option] * (count or LONGEST // (len(option) + 1)))
