"""The programs of learning reach what they say, to the same bits, with right gradients; their pages show them."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tangentc
from tangentc import learn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import make_gallery  # noqa: E402

NEED_SKLEARN = ("cnn", "vae")
FACTS = {
    "lecture": lambda f, m: f["losses"][-1] < 1e-3 and f["same"],
    "cnn": lambda f, m: f["right"] >= 0.99,
    "characters": lambda f, m: (
        np.mean(f["losses"][-50:]) < f["pair"] / 10
        and np.allclose([f["single"], f["pair"]], m.entropies(m.zen()[0]))
        and f["norms"].max() > 5 * m.LONGEST
        and f["written"].startswith("The Zen ")
    ),
    "transformer": lambda f, m: (
        f["right"] >= 0.99
        and f["right"] == np.mean((f["said"][:, m.DIGITS + 1 :] == np.sort(f["unseen"][:, : m.DIGITS])).all(axis=1))
    ),
    "word2vec": lambda f, m: f["right"] == 1 and all(set(near) | {k} == of_kind(k) for k, near in enumerate(f["near"])),
    "vae": lambda f, m: f["reached"] < 20.5 < 24 < f["apart"] < 25,
    "gan": lambda f, m: min(m.shares(f["points"])) >= 0.03 and sum(m.shares(f["points"])) >= 0.8,
    "graph": lambda f, m: len(f["wrong"]) <= 2 and np.sum(f["said"] == m.club()[3]) == 34 - len(f["wrong"]),
}


def of_kind(k):
    """The four words of one kind stand one after the other."""
    return set(range(4 * (k // 4), 4 * (k // 4) + 4))


def program(name):
    if name in NEED_SKLEARN:
        pytest.importorskip("sklearn")
    return make_gallery.program(name, make_gallery.LESSONS)


def steady(said):
    """What is printed, without the digits, and without the lines that a network wrote or drew."""
    return [re.sub(r"\d[\d.,]*", "0", line) for line in said.strip().splitlines() if not line.startswith("|")]


def test_there_is_a_page_for_each():
    programs = {path.stem for path in make_gallery.LESSONS.glob("*.py")} - {"real_data"}
    pages = {path.stem for path in make_gallery.LESSON_PAGES.glob("*.md")}
    assert set(make_gallery.LESSON_NAMES) == set(FACTS) == programs == pages
    overview = (make_gallery.HERE / "learning.md").read_text()
    assert all(f"(learning/{name}.md)" in overview for name in FACTS)


@pytest.mark.parametrize("name", make_gallery.LESSON_NAMES)
def test_a_program_reaches_what_it_says_and_its_page_shows_it(name, monkeypatch, capsys):
    module = program(name)
    monkeypatch.setattr(sys, "argv", [name])
    found = module.solve()
    assert FACTS[name](found, module)
    monkeypatch.setattr(module, "solve", lambda **options: found)
    module.main()
    said, shown = capsys.readouterr().out, make_gallery.told(name)
    assert shown is not None, "the page shows another program: run python docs/make_gallery.py"
    assert steady(said) == steady(shown)
    assert (make_gallery.LESSON_PAGES / f"{name}.md").read_text() == make_gallery.lesson(name, shown)


MISSED = {
    "lecture": {"losses": np.ones(2), "same": True},
    "characters": {"losses": np.ones(9), "pair": 2.0, "single": 3.0, "norms": np.ones(9), "written": ""},
    "transformer": {"losses": np.ones(9), "said": np.zeros((3, 13), int), "right": 0.98},
    "word2vec": {"losses": np.ones(9), "near": np.zeros((28, 3), int), "right": 0.99},
    "vae": {"reached": 21.0, "apart": 25.0, "painted": np.zeros((6, 8, 8))},
    "gan": {"losses": np.ones((9, 2)), "shares": np.array([0.02] + 7 * [0.13])},
    "graph": {"losses": np.ones(9), "wrong": np.arange(3)},
}


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("name", MISSED)
def test_a_program_that_misses_its_mark_fails(name, lost, monkeypatch):
    module, found = program(name), MISSED[name]
    if lost:  # a loss that is NaN is below nothing
        found = {key: value * np.nan if key in ("losses", "reached") else value for key, value in found.items()}
    monkeypatch.setattr(module, "solve", lambda **options: found)
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert isinstance(ended.value.code, str)


# ------------------------------------------------------------------ to the bit
@pytest.mark.parametrize("name", ["characters", "transformer"])
def test_two_runs_give_the_same_bits(name):
    first, second = (program(name).solve(steps=6)["losses"] for _ in range(2))
    assert len(first) == 6 and first[-1] < first[0] and first.tobytes() == second.tobytes()


def test_another_process_gives_the_same_bits():
    text = "import sys, characters; print(characters.solve(steps=6)['losses'].tobytes().hex())"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(ROOT), str(make_gallery.LESSONS)]!r}\n{text}"],
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stdout.strip() == program("characters").solve(steps=6)["losses"].tobytes().hex()


# ------------------------------------------------------------------ gradients
def cases(name, module, rng):
    """The losses of a program, and arguments of them, small ones."""
    if name == "lecture":
        x, y = module.points(rng)
        return [(module.loss, module.FullBasicModel(rng), x[:5], y[:5])]
    if name == "cnn":
        images = rng.uniform(size=(4, 1, 8, 8))
        model = module.network(rng)
        model.layers = [layer for layer in model.layers if not isinstance(layer, learn.Dropout)]
        for layer in model.layers:
            vars(layer).update({name: a.astype(float) for name, a in vars(layer).items() if isinstance(a, np.ndarray)})
        return [(module.loss, model, images, np.arange(4))]
    if name == "characters":
        windows, state = rng.integers(9, size=(2, 6)), rng.normal(size=(2, 2, 64))
        return [(module.loss, module.Reader(9, rng), windows, state[0], state[1])]
    if name == "transformer":
        return [(module.loss, module.Decoder(rng), module.sentences(2, rng))]
    if name == "word2vec":
        words = rng.integers(28, size=(6, 7))
        return [(module.loss, module.Vectors(rng), words[:, 0], words[:, 1], words[:, 2:])]
    if name == "vae":
        images = rng.uniform(size=(3, 64)).round()
        return [(module.loss, module.AutoEncoder(rng), images, rng.normal(size=(3, module.CODE)))]
    if name == "gan":
        generator, critic = module.both(rng)
        noise = rng.normal(size=(4, module.NOISE))
        return [
            (module.critics_loss, critic, generator, module.real_points(4, rng), noise),
            (module.generators_loss, generator, critic, noise),
        ]
    begin, end, weight, side = module.club()
    x = rng.normal(size=(34, module.MEMBERS))
    return [(module.loss, module.GraphNetwork(rng), x, begin, end, weight, np.arange(0, 34, 5), side)]


@pytest.mark.parametrize("name", make_gallery.LESSON_NAMES)
def test_a_gradient_is_the_slope_along_a_line(name):
    rng = np.random.default_rng(1)
    for loss, model, *rest in cases(name, program(name), rng):
        _, gradient = tangentc.value_and_grad(loss)(model, *rest)
        arrays, slopes = learn.parameters(model), learn.gradients(model, gradient)
        away = {path: rng.normal(size=a.shape) for path, a in arrays.items()}
        start, values = {path: a.copy() for path, a in arrays.items()}, []
        for h in (-1e-6, 1e-6):  # between the kinks of what is rectified
            for path, a in arrays.items():
                a[...] = start[path] + h * away[path]
            values.append(loss(model, *rest))
        slope = sum(np.sum(slopes[path] * away[path]) for path in arrays)
        assert abs(slope) > 1e-3 and np.isclose(slope, (values[1] - values[0]) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["lecture", "characters", "word2vec", "vae", "graph"])
def test_entries_of_a_gradient_agree_with_differences(name):
    rng = np.random.default_rng(2)
    for loss, model, *rest in cases(name, program(name), rng):
        tangentc.check_grads(loss, (model, *rest), order=1, modes=("rev",), quiet=True, wrt=0, limit=2)


def test_the_network_for_digits_has_a_readable_gradient():
    text = program("cnn").emitted()
    assert "conv_weight(" in text and "standardise_adjoint(" in text and "put_back(" in text
    inside = text[text.index("def dropout_adjoint") :].split("\ndef ")[0]  # of a mask whose shape only the run knows
    assert "unbroadcast(" not in text.replace(inside, "")


def test_messages_go_back_along_the_edges():
    text = program("graph").emitted()
    back = text[text.index("def along_edges_adjoint") :].split("\ndef ")[0]
    assert "np.add.at(x_bar, begin, out_bar[end] * weight[:, None])" in back
