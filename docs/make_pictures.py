"""Make the pictures of the documentation: what a terminal, or a browser, shows.

python docs/make_pictures.py            all of them; the page is photographed by a headless Chromium
python docs/make_pictures.py --check    say which of the drawings are out of date
"""

import contextlib
import io
import re
import shutil
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

import tangentc

PICTURES = Path(__file__).parent / "pictures"
sys.path.insert(0, str(Path(__file__).parent.parent / "examples" / "debugging"))


def cost(y, w, x, b):
    return y - max(0, w * x + b)


def settle(x, w, n):
    for _ in range(n):
        x = np.tanh(x * w)
    return np.sum(x * x)


def drawings() -> dict[str, str]:
    """The pictures that are the same on every machine, by their names."""
    import clipping
    import overflow

    rng = np.random.default_rng(0)
    many = 0.5 * np.eye(4) + 0.5, np.ones(4), rng.normal(size=(12, 4))
    with np.errstate(all="ignore"):
        run = tangentc.trace(overflow.loss, wrt="b")(*many)
    checked = io.StringIO()
    with contextlib.redirect_stdout(checked):
        tangentc.check_grads(settle, (np.array([0.5, -1.0]), 0.9, 3))
    annotated = tangentc.grad(settle, wrt="w").source_for(np.ones(4), 0.9, 3, annotate=True)
    return {
        "explain.svg": terminal("explain(cost, 5, 2, 1, 1)", tangentc.explain(cost, 5, 2, 1, 1)),
        "trace.svg": terminal("trace(settle)(x, 0.9, 3)", tangentc.trace(settle)(np.array([0.5, -1.0]), 0.9, 3), 150),
        "first_nonfinite.svg": terminal("trace(loss)(W, b, inputs).first_nonfinite()", _short(run.first_nonfinite())),
        "check_grads.svg": terminal("check_grads(settle, (x, 0.9, 3))", checked.getvalue().rstrip()),
        "annotate.svg": terminal("grad(settle).source_for(x, 0.9, 3, annotate=True)",
                                 Syntax(annotated, "python", theme="ansi_light", background_color="default"), 120),
        "clipping.svg": terminal("python examples/debugging/clipping.py", clipping.story()),
        "graph.svg": tangentc.graph(cost, 5, 2, 1, 1).svg(),
    }  # fmt: skip


def _short(found) -> str:
    """A place without the folder of the file."""
    return re.sub(r'File ".*/', 'File "', str(found))


def terminal(title: str, shown, width: int = 100) -> str:
    """What a terminal shows, as SVG, in whatever monospaced font there is."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text(shown) if isinstance(shown, str) else shown)
    drawn = console.export_svg(title=title, unique_id="terminal")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S)
    return drawn.replace("Fira Code", "ui-monospace")


def photographs() -> None:
    """The page, as a browser shows it."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    page_file = PICTURES / "report.html"
    tangentc.report(settle, np.array([0.5, -1.0]), 0.9, 3, wrt="w", path=page_file)
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1150, "height": 640})
            page.goto(page_file.resolve().as_uri())
            page.locator("#yours li[data-g]", has_text="np.tanh").click()
            page.wait_for_timeout(700)
            page.screenshot(path=PICTURES / "report.png")
            browser.close()
    finally:
        page_file.unlink()


def main() -> int:
    made = drawings()
    stale = [n for n, text in made.items() if not (PICTURES / n).exists() or (PICTURES / n).read_text() != text]
    if "--check" in sys.argv[1:]:
        print("out of date:", ", ".join(stale) or "none")
        return int(bool(stale))
    PICTURES.mkdir(exist_ok=True)
    for name in stale:
        (PICTURES / name).write_text(made[name])
    photographs()
    return 0


if __name__ == "__main__":
    sys.exit(main())
