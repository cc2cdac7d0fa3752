"""The documentation runs: its pages, the docstrings, and the reference made from the compiler's tables."""

import doctest
import html
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tangentc
import tangentc.inspection.observe  # the rules register themselves
from tangentc.frontend import fence
from tangentc.ops.table import FACTS, every, having, say
from tangentc.rules.registry import REGISTRY

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
NAMES = [str(page.relative_to(DOCS)) for page in PAGES]
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(tangentc.__path__, "tangentc.") if not m.name.endswith("__main__")
)
# an emitted docstring names the place of its function: the pages leave that line out, and the empty one before it
ELIDED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(autouse=True)
def own_rules():
    """Rules and facts that an example registers are gone after it; those of SciPy, which register once, are there before it."""
    for name in REGISTRY.awaited:
        importlib.import_module(f"scipy.{name}")
    REGISTRY.find(None)
    rules = {record.function: record.rule for record in having("rule")}
    facts = {fact: set(every(fact)) for fact in FACTS}
    yield
    for fact, functions in facts.items():
        say(*(every(fact) - functions), **{fact: False})
    for record in having("rule"):
        record.rule = rules.get(record.function)
    REGISTRY.version += 1


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_page(page):
    if page.name == "pandas.md":
        pytest.importorskip("pandas")
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=ELIDED)
    assert failed == 0


@pytest.mark.parametrize("name", ["tangentc", *MODULES])
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_reference_is_up_to_date():
    done = subprocess.run([sys.executable, str(DOCS / "make_reference.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_limits_name_what_the_fence_refuses():
    text = (DOCS / "reference" / "limits.md").read_text()
    missing = [what for what, _ in fence.REFUSED.values() if what not in text]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert [t for t in targets if t and not (page.parent / t).is_file()] == []


def test_pictures_show_what_is_seen_today():
    made = subprocess.run([sys.executable, str(DOCS / "make_pictures.py"), "--check"], capture_output=True, text=True)
    assert made.stdout.strip() == "out of date: none", made.stdout + made.stderr


def test_pictures_are_of_the_calls_that_stand_beside_them():
    """What a picture of a terminal has for a title stands on the page, in the section of the picture."""
    sections = re.split(r"^## ", (DOCS / "howto" / "debugging.md").read_text(), flags=re.M)
    told = 0
    for section in sections:
        for name in re.findall(r"pictures/(\w+\.svg)", section):
            found = re.search(r'class="terminal-title"[^>]*>(.*?)</text>', (DOCS / "pictures" / name).read_text())
            if found is None or name == "shell.svg":  # which shows its own commands
                continue
            title = html.unescape(found[1]).replace("\xa0", " ")
            assert title in section.replace("tangentc.", ""), (name, title)
            told += 1
    assert told >= 8
