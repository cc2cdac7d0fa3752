"""The floors of the house: `make check` fails on an import upward, and on a circle; and how large its parts are."""

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINT = Path(sysconfig.get_path("scripts")) / "lint-imports"


def lint(house):
    environment = {**os.environ, "PYTHONPATH": str(house)}
    command = [str(LINT), "--no-cache", "--config", str(house / "pyproject.toml")]
    done = subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the package, in which something may be planted."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(ROOT / "tangentc", folder / "tangentc", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def planted(house, module, line):
    path = house / "tangentc" / module
    text = path.read_text()
    path.write_text(text + line)
    try:
        return lint(house)
    finally:
        path.write_text(text)


def test_the_house_keeps_its_floors(house):
    code, told = lint(house)
    assert code == 0, told
    assert "2 kept, 0 broken" in told


@pytest.mark.parametrize(
    "module, line, told",
    [
        (
            "core/walk.py",
            "\nfrom tangentc.derive import link\n",
            "tangentc.core is not allowed to import tangentc.derive",
        ),
        (
            "analysis/masks.py",
            "\n\ndef late():\n    from tangentc import api\n",
            "tangentc.analysis is not allowed to import tangentc.api",
        ),
        ("simplify/dead.py", "\nfrom tangentc.frontend import fence\n", "tangentc.simplify is not allowed to import"),
        ("core/nodes.py", "\nfrom tangentc.core import walk\n", "No cycles are allowed in tangentc.core"),
    ],
)
def test_an_import_upward_or_in_a_circle_is_caught(house, module, line, told):
    code, printed = planted(house, module, line)
    assert code != 0 and told in printed, printed


def test_a_room_without_a_floor_is_caught(house):
    room = house / "tangentc" / "attic"
    room.mkdir()
    (room / "__init__.py").write_text("")
    try:
        code, printed = lint(house)
    finally:
        shutil.rmtree(room)
    assert code != 0 and "attic" in printed, printed


def test_make_check_asks():
    assert "lint-imports" in (ROOT / "Makefile").read_text()
    assert LINT.exists(), sys.executable


FILES = sorted((ROOT / "tangentc").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_and_a_function_can_be_read_at_once(path):
    """No file has more than 500 lines, and no function more than 60."""
    text = path.read_text()
    assert len(text.splitlines()) <= 500
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    assert [(f.name, f.lineno) for f in functions if f.end_lineno - f.lineno >= 60] == []


def lines(paths):
    return sum(len(p.read_text().splitlines()) for p in paths)


def test_the_house_does_not_grow():
    """What a change adds it takes away elsewhere: these numbers may fall, and not rise."""
    toolkit = [p for p in FILES if "learn" in p.relative_to(ROOT).parts]
    assert lines(toolkit) <= 6_750
    assert lines(FILES) - lines(toolkit) <= 76_380
