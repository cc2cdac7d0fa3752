"""A headless Chromium for the tests that look at pages."""

import os
import shutil
from contextlib import contextmanager

import pytest

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


@contextmanager
def opened(place, width=1200, height=800, scheme="light", within=None):
    """A page with a file, or at an address that ends in ``/``; when it is closed, nothing has been on its console and it
    has asked for nothing else.

    A page of a site may ask for the files ``within`` its folder.
    """
    url = place if isinstance(place, str) else place.as_uri()
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium, which `make browser` installs")
        pytest.skip("there is no Chromium; `make browser` installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=FLAGS)
        try:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            page = context.new_page()
            said, asked = [], []
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("request", lambda request: asked.append(request.url))
            page.goto(url)
            yield page
            assert said == []
            own = f"{within.as_uri()}/" if within is not None else url
            others = [u for u in asked if not u.startswith("data:") and u != url]
            assert others == [] or own.endswith("/") and all(u.startswith(own) for u in others)
        finally:
            browser.close()
