"""The site is built without a warning, asks for nothing from elsewhere, and works from a folder."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser import opened

pytest.importorskip("material", reason="MkDocs Material is not installed: pip install '.[docs]'")
ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = re.compile(
    r"""(?:\b(?:src|srcset|data|poster)\s*=\s*["']?|<link\b[^>]*?href=["']?|url\(["']?|@import\s+["']?)(?:https?:)?//"""
)
OWN = ("docs/site.css", "docs/iframe-worker.js")


def build(config, folder):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_built(site):
    pages = {p.relative_to(ROOT / "docs").with_suffix(".html") for p in (ROOT / "docs").rglob("*.md")}
    assert pages == {p.relative_to(site) for p in site.rglob("*.html")} - {Path("404.html")}


def test_no_page_asks_for_something_elsewhere(site):
    texts = [*site.rglob("*.html"), *site.rglob("*.css"), *site.rglob("*.svg"), *(ROOT / own for own in OWN)]
    assert [str(p) for p in texts if ELSEWHERE.search(p.read_text())] == []
    assert ELSEWHERE.search('<script src="https://example.org/a.js">') and ELSEWHERE.search("url(//example.org/a.woff)")


def test_no_mark_of_doctest_is_left(site):
    assert [str(p) for p in site.rglob("*.html") if re.search("BLANKLINE|doctest: ", p.read_text())] == []


@pytest.mark.parametrize("link, told", [("howto/nowhere.md", "nowhere"), ("tutorial.md#nowhere", "nowhere")])
def test_a_link_that_leads_nowhere_fails(tmp_path, link, told):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# A page\n\n[somewhere]({link})\n")
    (tmp_path / "docs" / "tutorial.md").write_text("# Another\n")
    text = (ROOT / "mkdocs.yml").read_text().split("\nnav:")[0]
    text = re.sub(r"hooks:\n.*\nextra_css:\n.*\n", "", text).replace(
        "  polyfills:\n    - iframe-worker.js", "  polyfills: [iframe-worker]"
    )
    (tmp_path / "mkdocs.yml").write_text(text)
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode != 0 and told in done.stderr, done.stderr


def shown(site, page, **options):
    """A page in a browser, which may ask for the other files of the site."""
    return opened(site / page, within=site, **options)


@pytest.mark.parametrize("width", [400, 1000, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_the_window(site, width, scheme):
    with shown(site, "index.html", width=width, scheme=scheme) as page:
        for name in ("index.html", "gallery/index.html", "coming_from/jax.html", "reference/limits.html"):
            page.goto((site / name).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_search_finds_a_page_in_a_folder(site):
    with shown(site, "index.html", width=1300) as page:
        page.click("input[name=query]")
        page.get_by_text("Type to start searching").wait_for()
        page.keyboard.type("revolve")  # key by key: the page listens to keys
        page.wait_for_selector(".md-search-result__item h1")
        assert "Memory" in page.locator(".md-search-result__item h1").all_inner_texts()


def test_what_is_copied_is_what_was_typed(site):
    with shown(site, "index.html") as page:
        page.evaluate(
            "document.execCommand = () => {window.copied = getSelection() + '' || document.activeElement.value; return true}"
        )
        page.locator(".md-code__button[data-md-type=copy], .md-clipboard").first.click()
        copied = page.evaluate("window.copied")
    assert copied.startswith("import numpy as np\nimport tangentc\ndef energy(x):\n    return") and ">>>" not in copied


def test_the_gallery_is_in_the_menu_and_in_the_index(site):
    names = {p.stem for p in (ROOT / "examples" / "gallery").glob("*.py")}
    assert len(names) == 12
    text = (site / "gallery" / "index.html").read_text()
    assert all(f'href="{name}.html"' in text and f"gallery/{name}.svg" in text for name in names)
    places = [entry["location"] for entry in json.loads((site / "search" / "search_index.json").read_text())["docs"]]
    assert all(f"gallery/{name}.html" in places for name in names)
