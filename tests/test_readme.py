"""The README says what is so."""

import linecache
import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


def test_the_example_emits_what_the_readme_shows():
    program, shown, _ = BLOCKS
    linecache.cache["example.py"] = (len(program), None, program.splitlines(True), "example.py")
    printed = []
    exec(compile(program, "example.py", "exec"), {"__name__": "__main__", "print": printed.append})
    assert printed[0].strip() == shown.strip()


def test_the_class_is_trained():
    program = "import numpy as np\nimport tangentc\n\n\n" + BLOCKS[2]
    linecache.cache["line.py"] = (len(program), None, program.splitlines(True), "line.py")
    found = {"__name__": "__main__"}
    exec(compile(program, "line.py", "exec"), found)
    assert found["value"] < 1e-12 and found["model"].b == pytest.approx(0.5)


def test_it_is_short():
    assert README.count("\n") < 120


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (Path(__file__).parent.parent / target).exists(), target


def test_the_two_commands_are_targets_of_make():
    makefile = (Path(__file__).parent.parent / "Makefile").read_text()
    assert (
        "\ndemo:" in makefile
        and "\ntest:" in makefile
        and "make test" in (Path(__file__).parent.parent / ".ci/run").read_text()
    )
