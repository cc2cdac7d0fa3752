"""Make the pictures of the documentation: what a terminal, or a browser, shows.

python docs/make_pictures.py            all of them; the page is photographed by a headless Chromium
python docs/make_pictures.py --check    say which of the drawings are out of date
"""

import ast
import contextlib
import doctest
import html
import io
import linecache
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

import tangentc

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(Path(__file__).parent.parent / "examples" / "debugging"))


def typed(name: str, text: str):
    """A function whose lines are counted from its own first, as on the page."""
    linecache.cache[f"{name}.py"] = (len(text), None, text.splitlines(True), f"{name}.py")
    names: dict = {"np": np, "tangentc": tangentc}
    exec(compile(text, f"{name}.py", "exec"), names)
    return names[name]


def on_page(name: str):
    """A function as it stands on the page that the picture is on."""
    examples = doctest.DocTestParser().get_examples((ROOT / "docs" / "howto" / "debugging.md").read_text())
    return typed(name, next(e.source for e in examples if e.source.startswith(f"def {name}(")))


cost, unit, settle, waves, overlap = map(on_page, ("cost", "unit", "settle", "waves", "overlap"))


def drawings() -> dict[str, str]:
    """The pictures that are the same on every machine, by their names."""
    import clipping
    import overflow

    rng = np.random.default_rng(0)
    many = 0.5 * np.eye(4) + 0.5, np.ones(4), rng.normal(size=(12, 4))
    with np.errstate(all="ignore"):
        run = tangentc.trace(overflow.loss, wrt="b")(*many)
        traced = tangentc.trace(unit)(np.zeros(2))
    annotated = tangentc.grad(settle).source_for(np.ones(4), 3, annotate=True)
    return {
        "explain.svg": terminal('explain(cost, 5, 2, 1, 1, wrt="w")', tangentc.explain(cost, 5, 2, 1, 1, wrt="w")),
        "trace.svg": terminal("trace(unit)(np.zeros(2))", _Shortly(traced), 150),
        "first_nonfinite.svg": terminal("trace(loss)(W, b, inputs).first_nonfinite()", _short(run.first_nonfinite())),
        "annotate.svg": terminal("grad(settle).source_for(np.ones(4), 3, annotate=True)",
                                 Syntax(annotated, "python", theme="ansi_light", background_color="default"), 120),
        "finite.svg": terminal('grad(unit, check="finite")(np.zeros(2))', _said(
            tangentc.NotFinite, lambda: tangentc.grad(unit, check="finite")(np.zeros(2)))),
        "changed.svg": terminal("pullback(1.0)", _said(tangentc.UnsafeMutation, _changed)),
        "clipping.svg": terminal("python examples/debugging/clipping.py", clipping.story()),
        "graph.svg": tangentc.graph(cost, 5, 2, 1, 1).svg(),
        "house.svg": house(),
    }  # fmt: skip


def house() -> str:
    """The floors that `make check` holds, each room with the first sentence of its own text."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    floors = next(c["layers"] for c in settings["contracts"] if c["type"] == "layers")
    rows, top = [], 10
    for floor in floors:
        rooms = re.split(r" [|:] ", floor)
        rows.append(f'<rect x="10" y="{top}" width="1080" height="{22 * len(rooms) + 8}" rx="4" class="floor"/>')
        for k, room in enumerate(rooms):
            y = top + 19 + 22 * k
            rows.append(f'<text x="22" y="{y}" class="room">{room}</text>')
            rows.append(f'<text x="150" y="{y}">{html.escape(_idea(room))}</text>')
        top += 22 * len(rooms) + 14
    style = (
        ".floor {fill: #f3f5f8; stroke: #b9c2cf} text {font: 13px ui-monospace, monospace; fill: #24292f} "
        ".room {font-weight: bold}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1100 {top}" role="img"><style>{style}</style>'
        f'<rect width="1100" height="{top}" fill="#fff"/>{"".join(rows)}</svg>\n'
    )


def _idea(room: str) -> str:
    """The first sentence of the text of a module or a folder."""
    path = ROOT / "tangentc" / room
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split())
    return text.split(". ")[0].removesuffix(".").replace("`", "")


def norm(x):
    return np.sqrt(np.sum(x * x))


def energy(A, x):
    return np.sum(np.exp(A @ x))


def _changed() -> None:
    x = np.ones(2)
    _, pullback = tangentc.vjp(lambda x: np.sum(x * x), x, copy=False, check=True)
    x[0] = 3.0
    pullback(1.0)


def _said(kind: type[Exception], run) -> str:
    """What an error says."""
    try:
        with np.errstate(all="ignore"):
            run()
    except kind as error:
        return _short(f"{kind.__module__}.{kind.__name__}: {error}")
    raise AssertionError(f"no {kind.__name__} was raised")


class _Shortly:
    """A table without the folder of the file."""

    def __init__(self, shown):
        self.table = shown.table()

    def __rich__(self):
        self.table.notes = list(map(_short, self.table.notes))
        return self.table


def _short(found) -> str:
    """A place without the folder of the file."""
    return re.sub(r'File ".*/', 'File "', str(found))


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, tangentc
from make_pictures import energy, norm, overlap, settle, waves
"""


def _session(code: str, commands: tuple[str, ...] = ()) -> str:
    """What a program shows in a terminal, with the commands that are typed in."""
    here = str(Path(__file__).parent)
    typed = "".join(f"{c}\n" for c in commands)
    done = subprocess.run([sys.executable, "-c", PROGRAM + code, here], input=typed, capture_output=True, text=True)
    shown = done.stdout + done.stderr
    for command in commands:
        shown = re.sub(r"\(Pdb\) (?!\()", lambda m: f"(Pdb\0) {command}\n", shown, count=1)  # noqa: B023
    return _short(shown.replace("\0", "")).rstrip()


def sessions() -> dict[str, str]:
    """The pictures of what depends on the machine, or on the version of Python: rounding errors, debuggers."""
    checked = io.StringIO()
    with contextlib.redirect_stdout(checked):
        tangentc.check_grads(settle, (np.array([0.5, -1.0]), 3))
    stepping = _session("tangentc.debug(waves)(np.array([1.0, 2.0]))", ("list", "next", "p y_bar", "continue"))
    failing = _session("tangentc.grad(overlap)(np.ones(5), 3)")
    folder = Path(__file__).parent.parent
    lines = []
    for command in (
        'show docs/make_pictures.py:norm --at "x=np.ones(2)"',
        'check docs/make_pictures.py:energy --at "A=np.ones((2, 3)), x=np.array([0.5, 1.0, -0.2])"',
        'check docs/make_pictures.py:energy --at "A=np.ones((2, 3))"',
    ):
        parts = [sys.executable, "-m", "tangentc.cli", *shlex.split(command)]
        done = subprocess.run(parts, capture_output=True, text=True, cwd=folder)
        lines += [f"$ tangentc {command}", (done.stdout + done.stderr).rstrip(), ""]
    return {
        "check_grads.svg": terminal("check_grads(settle, (np.array([0.5, -1.0]), 3))", checked.getvalue().rstrip()),
        "stepping.svg": terminal("debug(waves)(np.array([1.0, 2.0]))", stepping),
        "traceback.svg": terminal("grad(overlap)(np.ones(5), 3)", failing[failing.index("ValueError") :]),
        "shell.svg": terminal("tangentc", "\n".join(lines[:-1]), 110),
    }


def terminal(title: str, shown, width: int = 100) -> str:
    """What a terminal shows, as SVG, in whatever monospaced font there is."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text(shown) if isinstance(shown, str) else shown)
    drawn = console.export_svg(title=title, unique_id="terminal")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S)
    return drawn.replace("Fira Code", "ui-monospace")


def photographs() -> None:
    """The pages and a cell of a notebook, as a browser shows them."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    example = re.search(r"```python\n(.*?@tangentc.*?)\n\n\n", (ROOT / "README.md").read_text(), re.S)[1]
    burgers = typed("burgers", f"{example}\n")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1150, "height": 640})
        made = tangentc.report(burgers, np.linspace(0.0, 0.5, 12), 0.2, 5, path=f"{folder}/burgers.html")
        page.goto(made.as_uri())
        page.locator("#yours li[data-g]", has_text="u[1:] -=").click()
        page.screenshot(path=PICTURES / "report.png")
        made = tangentc.report(settle, np.ones(4), 3, path=f"{folder}/settle.html")
        page.goto(made.as_uri())
        page.locator("#yours li[data-g]", has_text="np.tanh").click()
        page.screenshot(path=PICTURES / "settle.png")
        page.set_viewport_size({"width": 620, "height": 190})
        derivative = tangentc.grad(waves)
        derivative(np.ones(2))
        page.set_content(derivative._repr_html_())
        page.screenshot(path=PICTURES / "notebook.png")
        browser.close()


def main() -> int:
    made = drawings()
    stale = [n for n, text in made.items() if not (PICTURES / n).exists() or (PICTURES / n).read_text() != text]
    if "--check" in sys.argv[1:]:
        print("out of date:", ", ".join(stale) or "none")
        return int(bool(stale))
    PICTURES.mkdir(exist_ok=True)
    for name, drawn in {**made, **sessions()}.items():
        (PICTURES / name).write_text(drawn)
    photographs()
    return 0


if __name__ == "__main__":
    sys.exit(main())
