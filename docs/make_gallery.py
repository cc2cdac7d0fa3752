"""Make pages of examples, each with what the program prints and the gradient that it has.

The gallery is made from examples/gallery, and docs/learning from examples/learning.  What a program of learning prints
has digits that differ between machines: the page keeps them until the program changes, or there is --again.

python docs/make_gallery.py              the pages
python docs/make_gallery.py --check      exits with 1 if a page on disk differs
python docs/make_gallery.py --again      the pages, with what all programs print here
python docs/make_gallery.py --pictures   the pages and the pictures, which need matplotlib
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PROGRAMS, LESSONS = HERE.parent / "examples" / "gallery", HERE.parent / "examples" / "learning"
PAGES, PICTURES, LESSON_PAGES = HERE / "gallery", HERE / "pictures" / "gallery", HERE / "learning"
NOTE = "<!-- Made by docs/make_gallery.py; do not edit. -->\n"
NAMES = (
    "curve", "logistic", "mixture", "spirals", "heat", "neural_ode", "pendulum", "journey", "kalman", "image", "arm",
    "chain",
)  # fmt: skip
LESSON_NAMES = ("lecture", "cnn", "characters", "transformer", "word2vec", "vae", "gan", "graph")
SHOWN = {
    "curve": "Noisy points, the curve that was guessed, and the one that was fitted.",
    "logistic": "Two clouds of points, and the line between them.",
    "mixture": "Three clouds of points, with a circle around each.",
    "spirals": "Two spirals of points, and the border that the network draws between them.",
    "heat": "The temperature at the beginning, at the end, and what was found from the end.",
    "neural_ode": "Points on a spiral, the path of the untrained network, and that of the trained one.",
    "pendulum": "The angle swings to and fro until it is upright; below it, the torque.",
    "journey": "The tries from the Earth's orbit; the last one ends on Mars.",
    "kalman": "Measurements, the true path, and what the filter makes of them.",
    "image": "The image, with noise, and with the noise taken out.",
    "arm": "The arm in four poses, its hand on four points.",
    "chain": "The chain on the catenary.",
}
SMALL, GREY, BLUE, ORANGE, GREEN = 12, "#767b84", "#3b82d6", "#e0702b", "#2a9d74"


# ------------------------------------------------------------------ the pages
@cache
def program(name: str, folder: Path = PROGRAMS) -> ModuleType:
    """The module of an example."""
    whole = f"examples_{folder.name}_{name}"
    spec: Any = importlib.util.spec_from_file_location(whole, folder / f"{name}.py")
    sys.modules[whole] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name: str) -> str:
    """A page of the gallery."""
    module = program(name)
    said = printed(module)
    picture = f"![{SHOWN[name]}](../pictures/gallery/{name}.svg)\n\n"
    return _page(PROGRAMS / f"{name}.py", picture, said, "derivative.source", module.derivative.source)


def lesson(name: str, said: str | None = None) -> str:
    """A page of learning; ``said`` is what the program prints, as the page has it if there is nothing else."""
    module = program(name, LESSONS)
    if said is None:
        said = told(name)
    if said is None:
        said = printed(module)
    return _page(LESSONS / f"{name}.py", "", said, "emitted()", module.emitted())


def printed(module: ModuleType) -> str:
    """What a program prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        module.main()
    return said.getvalue()


def told(name: str) -> str | None:
    """What a page of learning says that its program prints, if it shows the program as it is now."""
    path = LESSON_PAGES / f"{name}.md"
    text = path.read_text() if path.exists() else ""
    if "```text\n" not in text or f"```python\n{_code(LESSONS / f'{name}.py')}\n```\n" not in text:
        return None
    return text.split("```text\n")[1].split("\n```\n")[0]


def _page(path: Path, picture: str, said: str, asked: str, emitted: str) -> str:
    """What an example is about, its picture if it has one, its text, what it prints, and its derivative."""
    title, what = about(path.stem, path.parent)
    emitted = re.sub(r'stands in ".*/', 'stands in "', emitted).strip()
    emitted = re.sub(r'stands in "<(.*) \d+>"', r'stands in "<\1>"', emitted)  # the count of what was made before
    lines = emitted.count("\n") + 1
    return "\n".join([
        f"# {title}\n",
        f"{what}\n",
        f"{picture}`python {path.relative_to(HERE.parent)}` prints:\n",
        f"```text\n{said.strip()}\n```\n",
        "## The program\n",
        f"```python\n{_code(path)}\n```\n",
        "## The derivative that it has\n",
        f"What `print({asked})` shows after that, {lines} lines:\n",
        f"```python\n{emitted}\n```\n",
        NOTE,
    ])  # fmt: skip


def _code(path: Path) -> str:
    """A program without its docstring."""
    return path.read_text().split('"""', 2)[2].strip()


def about(name: str, folder: Path = PROGRAMS) -> tuple[str, str]:
    """The title of a program, and the paragraph after it."""
    title, _, what = (folder / f"{name}.py").read_text().split('"""')[1].partition("\n\n")
    return title.rstrip("."), what.strip()


def index() -> str:
    """All of them with their pictures."""
    parts = [
        "# Gallery\n",
        "Twelve programs of plain NumPy. Each runs in a few seconds, and its page shows the derivative that tangentc\n"
        "wrote for it. They stand in `examples/gallery`; some use the minimisers of SciPy.\n",
        '<div class="gallery" markdown>\n',
    ]
    for name in NAMES:
        title, _ = about(name)
        parts.append(f"[![{SHOWN[name]}](../pictures/gallery/{name}.svg) {title}]({name}.md)\n")
    return "\n".join([*parts, "</div>\n", NOTE])


# ------------------------------------------------------------------ the pictures
def pictures() -> None:
    """Draw each example's results, in colours that can be seen on white and on black."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "tangentc", "font.family": "sans-serif", "font.size": SMALL - 2,
        "axes.edgecolor": GREY, "axes.labelcolor": GREY, "text.color": GREY, "xtick.color": GREY, "ytick.color": GREY,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "savefig.transparent": True,
    })  # fmt: skip
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        module = program(name)
        figure, axes = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
        globals()[f"draw_{name}"](axes, module.solve(), module)
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


def draw_curve(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    t = np.linspace(0, 6, 200)
    axes.plot(t, module.curve(found["start"], t), "--", color=GREY, label="guessed")
    axes.plot(t, module.curve(found["p"], t), color=BLUE, label="fitted")
    axes.plot(found["t"], found["y"], ".", color=ORANGE, label="read")
    axes.legend()
    axes.set_xlabel("time")


def draw_logistic(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    X, w = found["X"], found["w"]
    _classes(axes, X, found["y"])
    across = np.array([X[:, 0].min(), X[:, 0].max()])
    axes.plot(across, -(w[0] * across + w[2]) / w[1], color=GREY)
    axes.set_ylim(X[:, 1].min() - 0.3, X[:, 1].max() + 0.3)


def draw_mixture(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    turn = np.linspace(0, 2 * np.pi, 80)
    axes.plot(*found["X"].T, ".", color=GREY, markersize=3)
    for width, mean, colour in zip(found["widths"], found["means"], (BLUE, ORANGE, GREEN)):
        for times in (1, 2):
            axes.plot(mean[0] + times * width * np.cos(turn), mean[1] + times * width * np.sin(turn), color=colour)
    axes.set_aspect("equal")


def draw_spirals(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    x, y = np.meshgrid(np.linspace(-1.15, 1.15, 90), np.linspace(-1.15, 1.15, 90))
    z = found["model"].logits(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    axes.contour(x, y, z, levels=[0.0], colors=[GREY])
    _classes(axes, found["X"], found["y"])
    axes.set_aspect("equal")


def draw_heat(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    axes.plot(found["x"], found["true"], color=GREY, label="at the beginning")
    axes.plot(found["x"], found["seen"], ".", color=ORANGE, label="seen at the end")
    axes.plot(found["x"], found["found"], "--", color=BLUE, label="found")
    axes.legend()
    axes.set_ylabel("temperature")


def draw_neural_ode(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    axes.plot(*found["start"].T, "--", color=GREY, label="untrained")
    axes.plot(*found["found"].T, color=BLUE, label="trained")
    axes.plot(*found["seen"].T, ".", color=ORANGE, label="seen")
    axes.legend()
    axes.set_aspect("equal")


def draw_pendulum(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    axes.axhline(np.pi, color=GREY, linestyle=":")
    axes.plot(found["t"], found["angles"], color=BLUE, label="angle")
    axes.plot(found["t"], found["torque"], color=ORANGE, label="torque")
    axes.legend()
    axes.set_xlabel("time")


def draw_journey(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    turn = np.linspace(0, 2 * np.pi, 120)
    for radius in (1.0, 1.524):
        axes.plot(radius * np.cos(turn), radius * np.sin(turn), ":", color=GREY, linewidth=1)
    for places in found["tries"][:3]:
        axes.plot(*places.T, "--", color=GREY)
    axes.plot(*found["tries"][-1].T, color=BLUE)
    axes.plot(0, 0, "o", color=ORANGE, markersize=9)
    axes.plot(*module.ARRIVAL, "o", color=ORANGE)
    axes.set_aspect("equal")
    axes.set_axis_off()


def draw_kalman(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    axes.plot(found["ys"], ".", color=ORANGE, markersize=3, label="measured")
    axes.plot(found["places"], color=GREY, label="true")
    axes.plot(found["filtered"], color=BLUE, label="filtered")
    axes.legend()
    axes.set_xlabel("step")


def draw_image(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    gap = np.full((64, 4), np.nan)
    row = [found["true"], gap, found["noisy"], gap, found["found"]]
    axes.imshow(np.concatenate(row, axis=1), cmap="cividis", vmin=-0.1, vmax=1.0, interpolation="nearest")
    axes.set_axis_off()


def draw_arm(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    for k, pose in enumerate(found["poses"]):
        axes.plot(*pose.T, "o-", color=BLUE, alpha=0.35 + 0.2 * k, markersize=4)
    axes.plot(*module.TARGETS.T, "x", color=ORANGE, markersize=9, markeredgewidth=2)
    axes.set_aspect("equal")


def draw_chain(axes: Any, found: dict[str, Any], module: ModuleType) -> None:
    x = np.linspace(-1, 1, 200)
    axes.plot(x, module.catenary(x), color=GREY, linewidth=4, alpha=0.4, label="catenary")
    axes.plot(*found["points"].T, ".-", color=BLUE, linewidth=1, label="chain")
    axes.plot(*module.ENDS.T, "o", color=ORANGE)
    axes.legend(loc="upper center")
    axes.set_aspect("equal")


def _classes(axes: Any, X: np.ndarray, y: np.ndarray) -> None:
    for label, colour in ((0, BLUE), (1, ORANGE)):
        axes.plot(*X[y == label].T, ".", color=colour, markersize=5)


def main(arguments: list[str]) -> int:
    """Write or check the pages; the exit status is 1 if a page on disk differs."""
    made = {PAGES / "index.md": index(), **{PAGES / f"{name}.md": page(name) for name in NAMES}}
    for name in LESSON_NAMES:
        made[LESSON_PAGES / f"{name}.md"] = lesson(
            name, printed(program(name, LESSONS)) if "--again" in arguments else None
        )
    differ = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    if "--check" in arguments:
        for path in differ:
            print(f"{path.relative_to(HERE.parent)} is out of date: run python docs/make_gallery.py")
        return 1 if differ else 0
    for path in differ:
        path.parent.mkdir(exist_ok=True)
        path.write_text(made[path])
    if "--pictures" in arguments:
        pictures()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
