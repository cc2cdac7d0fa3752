"""The figure: a row for each workload, a mark for each tool, time over the expert's on a logarithmic axis."""

from .report import quartiles, ratios

# The colours of Okabe and Ito, which the colour-blind tell apart; each tool has a shape of its own too.
MARKS = {
    "tangentc": ("tangentc, emitted function", "o", "#0072B2", "white"),
    "tangentc, called": ("tangentc", "o", "#0072B2", "#0072B2"),
    "kernels": ("tangentc, kernels", "*", "#E69F00", "#E69F00"),
    "JAX": ("JAX (jit)", "D", "#D55E00", "#D55E00"),
    "PyTorch": ("PyTorch", "s", "#CC79A7", "#CC79A7"),
    "autograd": ("autograd", "^", "#009E73", "#009E73"),
}


def marks(workloads):
    """For each call that was measured anywhere: its rows, and for each of them the three quartiles of its ratio."""
    names = list(workloads)
    found = {}
    for call in MARKS:
        rows = [(row, quartiles(ratios(workloads[name], call))) for row, name in enumerate(names)
                if ratios(workloads[name], call)]  # fmt: skip
        if rows:
            found[call] = [row for row, _ in rows], [q for _, q in rows]
    return found


def draw(record, path):
    """Draw what one thread took; a tool that was not there has no mark."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "tangentc", "font.family": "DejaVu Sans", "font.size": 9})
    from matplotlib import pyplot

    workloads = next(iter(record["threads"].values()))
    figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.27 * len(workloads)), layout="constrained")
    for call, (rows, values) in marks(workloads).items():
        label, shape, edge, face = MARKS[call]
        lower, middle, upper = zip(*values)
        axes.hlines(rows, lower, upper, color=edge, linewidth=1)
        axes.plot(middle, rows, shape, color=edge, markerfacecolor=face, markersize=5.5, label=label, zorder=3)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.set_yticks(range(len(workloads)), list(workloads))
    axes.set_ylim(len(workloads) - 0.5, -0.5)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("value and gradient: time as a multiple of an expert's NumPy, one thread; less is better")
    figure.legend(loc="outside upper center", ncols=5, frameon=False, handletextpad=0.2, columnspacing=1.2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
