"""A real browser for tests of the page, and what no page may leave behind."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

expect.set_options(timeout=20_000)  # milliseconds: the machine may be busy
OpenPage = Callable[[str], Page]

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]


@contextmanager
def launched(chromium: str) -> Iterator[Browser]:
    """The browser at this path, running."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def watched_pages(browser: Browser) -> Iterator[OpenPage]:
    """Opens addresses, each in a context of its own.

    Fails afterwards if a page left an error of its script or a request to elsewhere behind.
    """
    faults: list[str] = []
    with ExitStack() as contexts:

        def open_page(address: str) -> Page:
            context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
            contexts.callback(context.close)
            _watch(context, address, faults)
            page = context.new_page()
            page.goto(address)
            return page

        yield open_page
    assert faults == []


def _watch(context: BrowserContext, address: str, faults: list[str]) -> None:
    url = urlsplit(address)

    def note(message: ConsoleMessage) -> None:
        # A refused request is no fault of the page: it is shown.
        if message.type == "error" and "Failed to load resource" not in message.text:
            faults.append(message.text)

    def note_elsewhere(request: Request) -> None:
        if not request.url.startswith((f"{url.scheme}://{url.netloc}/", "blob:")):
            faults.append(request.url)

    context.on("console", note)
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("request", note_elsewhere)


def violations(page: Page) -> list[str]:
    """What axe finds that keeps people from using the page, or hinders them."""
    return [
        f"{violation['id']}: {violation['nodes'][0]['html']}"
        for violation in Axe().run(page, options={"runOnly": RULES}).response["violations"]
    ]


def assert_fit_for_all(page: Page) -> None:
    """In the light, in the dark and on a small phone."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
