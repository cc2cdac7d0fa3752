"""The page about a function and its derivative, in a browser, and pictures of graphs there."""

import importlib.util
import re
import sys
import time

import numpy as np
import pytest
from browser import opened

import tangentc
from tangentc import graph, report


def layer(x, W):
    h = x @ W
    pass  # so that it stays a function
    return np.tanh(h)


def network(W, x, n):
    s = np.zeros(len(x))
    for _ in range(n):
        hidden = layer(x, W)
        s = s + hidden * (
            x + 1)  # fmt: skip
        x = hidden
    scaled = s * 2
    return np.sum(scaled**2)


FIRST = network.__code__.co_firstlineno
ARGS = np.eye(3) * 0.5, np.ones(3), 5


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return report(network, *ARGS, path=tmp_path_factory.mktemp("report") / "network.html")


def row(page, side, text):
    return page.locator(f"#{side} li[data-g]", has_text=text).first


def lit(page, side):
    return [t.strip() for t in page.locator(f"#{side} li.lit").all_inner_texts()]


def test_the_lines_of_both_sides_light_up_together(file):
    with opened(file) as page:
        assert page.locator("h1").inner_text() == "network"
        assert "with respect to W, at W = float64(3, 3) in [0, 0.5]" in page.locator("header p").inner_text()
        row(page, "yours", "scaled = s * 2").hover()
        assert lit(page, "yours") == ["scaled = s * 2"]
        assert "s_bar = 2 * scaled_bar  # scaled = s * 2" in lit(page, "emitted")
        row(page, "yours", "s = s + hidden * (").hover()
        assert lit(page, "yours") == ["s = s + hidden * (", "x + 1)  # fmt: skip"]  # a statement of two lines
        row(page, "emitted", "h_bar = out_bar * (1 - out ** 2)").hover()  # of the function that is called
        assert lit(page, "yours") == ["return np.tanh(h)"]


def test_a_variable_and_its_adjoint_light_up_together(file):
    with opened(file) as page:
        page.locator("#yours [data-v]", has_text=re.compile("^scaled$")).first.hover()
        named = set(page.locator("#emitted .named").all_inner_texts())
        assert named == {"scaled", "scaled_bar"}
        page.locator("#emitted [data-v]", has_text=re.compile("^scaled_bar$")).first.hover()
        assert page.locator("#yours .named").all_inner_texts() == ["scaled", "scaled"]


def test_a_click_shows_values_and_reasons(file):
    with opened(file) as page:
        row(page, "yours", "hidden = layer(x, W)").click()
        told = page.locator("#details").inner_text()
        assert "hidden: f64[3]" in told and "norm" in told and "(the last of 5 times)" in told
        row(page, "yours", "scaled = s * 2").hover()
        page.mouse.move(600, 20)  # what was clicked stays
        assert lit(page, "yours") == ["hidden = layer(x, W)"]
        visible = page.locator("#emitted li.lit").first
        assert visible.bounding_box()["y"] < page.locator("#emitted").bounding_box()["y"] + 450


def test_by_keyboard(file):
    with opened(file) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.matches('header p')")  # all of which is read when it has the focus
        assert page.locator("header p").evaluate("p => getComputedStyle(p).whiteSpace") == "normal"
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "yours"
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        here = page.locator("#yours li.here")
        assert here.count() == 1 and here.evaluate("li => li.classList.contains('lit')")
        assert page.locator("#yours").get_attribute("aria-activedescendant") == here.get_attribute("id")
        page.keyboard.press("ArrowRight")
        assert page.locator("#yours .named").count() >= 1
        page.keyboard.press("Escape")
        assert lit(page, "yours") == []
        page.locator("#tab-0").focus()
        for k, name in enumerate(["Stages", "Values", "Chain rule", "Graph", "Facts"], 1):
            page.keyboard.press("ArrowRight")
            assert page.evaluate("document.activeElement.innerText") == name
            assert page.locator("main > section:visible").count() == 1 and page.locator(f"#panel-{k}").is_visible()


def test_every_stage_with_what_it_changed(file):
    with opened(file) as page:
        page.locator("#tab-1").click()
        every = tangentc.stages(network, *ARGS)
        names = page.locator(".stages [role=tab]").evaluate_all("every => every.map(tab => tab.textContent)")
        assert names == [s.name for s in every]
        assert page.locator(".stages [role=tab]:visible").all_inner_texts()[0] == "lower"
        groups = page.locator(".groups [role=tab]")
        assert groups.all_inner_texts() == ["1. read", "2. known", "3. derived", "4. made simple"]
        groups.nth(1).click()
        assert page.locator(".stages [role=tab]:visible").all_inner_texts() == ["types", "aliases", "activity"]
        assert "# x: float64[3]" in page.locator("#panel-1 li:visible").all_inner_texts()
        groups.nth(2).click()
        assert page.locator(".stages [role=tab]:visible").all_inner_texts() == ["reverse"]
        panel = page.locator("#panel-1 .stage:visible")
        assert panel.locator("li.new").count() > 5 and "W_bar" in panel.locator("li.new").last.inner_text()
        groups.nth(3).click()
        tabs = page.locator(".stages [role=tab]:visible")
        for k, stage in enumerate(s for s in every if s.group == "made simple"):  # each made of the one before
            tabs.nth(k).click()
            if "same" in (tabs.nth(k).get_attribute("class") or ""):
                assert panel.count() == 0
                continue
            for more in panel.locator(".more button").all():
                assert re.fullmatch(r"… \d+ rows as before", more.inner_text())
            while panel.locator(".more button").count():
                panel.locator(".more button").first.click()
            shown = [t for t in panel.locator("li:not(.gone)").all_inner_texts() if t.strip()]
            assert shown == [line for line in stage.text.split("\n") if line.strip()]
        assert stage.name == "emit"


def column(page, heading):
    """The texts of a column of the values, and the head of it."""
    heads = page.locator("#panel-2 th").all_inner_texts()
    k = next(k for k, head in enumerate(heads) if head.strip() == heading)
    cells = page.locator(f"#panel-2 tbody tr td:nth-child({k + 1})")
    return lambda: cells.all_inner_texts(), page.locator("#panel-2 th").nth(k)


def test_values_sort_by_each_column(file):
    with opened(file) as page:
        page.locator("#tab-2").click()
        given = page.locator("#panel-2 tbody tr").all_inner_texts()
        for heading in ("least", "greatest", "norm"):
            cells, head = column(page, heading)
            for order, is_down in (("ascending", False), ("descending", True)):
                head.locator("button").click()
                assert head.get_attribute("aria-sort") == order
                numbers = [float(t) for t in cells() if t]
                assert len(numbers) > 20 and numbers == sorted(numbers, reverse=is_down)
                assert "" not in cells()[: len(numbers)]  # what has none stands below
            head.locator("button").click()
            assert page.locator("#panel-2 tbody tr").all_inner_texts() == given
        cells, head = column(page, "shape")
        head.locator("button").click()
        sizes = [np.prod([int(n) for n in re.findall(r"\d+", t)]) for t in cells() if t.startswith("(")]
        assert sizes == sorted(sizes) and len(set(sizes)) >= 3  # by how many entries there are
        box = page.locator("#panel-2 .tangentc")
        box.evaluate("box => box.scrollTo(0, 9999)")
        assert abs(head.bounding_box()["y"] - box.bounding_box()["y"]) < 3  # the heads stay where they are


def test_values_chain_rule_and_facts(file):
    with opened(file) as page:
        page.locator("#tab-2").click()
        assert "np.zeros(len(x))" in page.locator("#panel-2").inner_text()
        page.locator("#tab-3").click()
        assert re.search(r"np.tanh\(w\d+\)", page.locator("#panel-3").inner_text())
        page.locator("#tab-5").click()
        text = page.locator("#panel-5").inner_text()
        assert re.search(r"hidden\s+network\s+\d+\s+float64\[3\]\s+yes\s+computed from x_1, W", text)
        assert re.search(r"\nn\s+network\s+\d+\s+int\s+no\s+it holds no number that can move", text)
        assert "saved: computing it again costs more" in text


def box(locator):
    b = locator.bounding_box()
    return b["x"], b["y"], b["x"] + b["width"], b["y"] + b["height"]


@pytest.mark.parametrize("width, scheme", [(400, "light"), (400, "dark"), (1000, "light"), (1600, "dark")])
def test_the_panes_fill_the_window_and_nothing_covers_the_code(file, width, scheme):
    height = 800
    with opened(file, width, height, scheme) as page:
        for chosen in (False, True):
            if chosen:
                row(page, "yours", "scaled = s * 2").click()
            boxes = [box(page.locator(name)) for name in ("header", "#yours", "#emitted", "#details")]
            for k, (left, top, right, bottom) in enumerate(boxes):
                assert left >= 0 and top >= 0 and right <= width and bottom <= height
                for left_2, top_2, right_2, bottom_2 in boxes[:k]:
                    assert left >= right_2 or right <= left_2 or top >= bottom_2 or bottom <= top_2
            assert boxes[3][3] > height - 20
            code = sum((right - left) * (bottom - top) for left, top, right, bottom in boxes[1:3])
            assert code > (0.6 if width == 400 else 0.69) * width * height
            assert page.evaluate("document.documentElement.scrollHeight") == height
            for side in ("yours", "emitted"):  # the row in the middle is what is there
                left, top, right, bottom = box(page.locator(f"#{side}"))
                at = f"document.elementFromPoint({(left + right) / 2}, {(top + bottom) / 2}).closest('ol').id"
                assert page.evaluate(at) == side


def colour(locator, of="backgroundColor", before=False):
    return locator.evaluate("(li, [of, part]) => getComputedStyle(li, part)[of]", [of, "::before" if before else None])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sweeps_and_the_lines_have_their_colours(file, scheme):
    with opened(file, scheme=scheme) as page:
        assert page.locator("#theirs ~ .legend span").all_inner_texts() == ["primal sweep", "adjoint sweep"]
        primal, adjoint = row(page, "emitted", "scaled = s * 2"), row(page, "emitted", "s_bar = 2 * scaled_bar")
        assert "primal" in primal.get_attribute("class") and "adjoint" in adjoint.get_attribute("class")
        assert colour(primal) != colour(adjoint)
        assert colour(page.locator("#theirs ~ .legend .primal"), "borderLeftColor") in colour(primal, "boxShadow")
        assert colour(page.locator("#theirs ~ .legend .adjoint"), "borderLeftColor") in colour(adjoint, "boxShadow")
        comment = row(page, "emitted", "# h = x @ W")  # a comment is of the sweep of the row under it
        assert "adjoint" in comment.get_attribute("class")
        mine = row(page, "yours", "scaled = s * 2")
        assert colour(mine, before=True) == colour(primal, before=True) == colour(adjoint, before=True)
        of_lines = [colour(li, before=True) for li in page.locator("#yours li[data-g]").all()[:7]]
        assert len(set(of_lines)) == 6  # one line has two rows


def test_helpers_are_titled_as_they_are_called_and_stand_in_that_order(tmp_path):
    path = report(calls_two, np.ones(3), path=tmp_path / "p.html")
    with opened(path) as page:
        first = calls_two.__code__.co_firstlineno
        assert page.locator("#yours .title").all_inner_texts() == [
            f"test_report.py, line {first}",
            f"written_last(x * 2), called in line {first + 1}: "
            f"test_report.py, line {written_last.__code__.co_firstlineno}",
            f"innermost(v), called in line {written_last.__code__.co_firstlineno + 1}: "
            f"test_report.py, line {innermost.__code__.co_firstlineno}",
            f"written_first(a, k=1.5), called in line {first + 2}: "
            f"test_report.py, line {written_first.__code__.co_firstlineno}",
        ]


@pytest.mark.parametrize("width, scheme", [(1300, "light"), (360, "light"), (1300, "dark")])
def test_nothing_overflows_in_light_and_dark(file, width, scheme):
    with opened(file, width, 700, scheme) as page:
        row(page, "yours", "scaled = s * 2").click()
        for k in range(6):
            page.locator(f"#tab-{k}").click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            for box in page.locator(f"#panel-{k} > *:visible").all():
                assert box.bounding_box()["x"] + box.bounding_box()["width"] <= width
        red, green, blue = map(
            int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))
        )
        assert (red + green + blue > 600) == (scheme == "light")


def test_loops_and_calls_fold_in_the_graph(file, tmp_path):
    picture = tmp_path / "network.svg"
    picture.write_text(graph(network, *ARGS).svg())
    with opened(picture) as page:
        loop = page.locator("[data-box]", has_text="for _ in range(n):").first
        node = page.locator(".tangentc-node", has_text="np.tanh").first
        assert loop.get_attribute("aria-expanded") == "false" and node.count() == 0
        assert loop.text_content() == "\u25b8 for _ in range(n): (5 trips)"
        small = page.locator("[data-box]").count()
        loop.click()
        assert loop.get_attribute("aria-expanded") == "true"
        trips = page.locator("[aria-expanded]", has_text="trip ").all_text_contents()
        assert trips == ["\u25b8 trip 1", "\u25b8 trip 2", "\u25b8 trip 5"]
        page.locator("[data-box]", has_text="trip 1").last.click()
        assert node.is_visible() and page.locator("[data-box]").count() > small + 6
        assert page.locator("[aria-expanded=true]", has_text="layer()").count() == 1
        apart(page)
        ends = page.evaluate("""() => [...document.querySelectorAll('.tangentc-line')]
            .map(g => [g.dataset.from, g.dataset.to])""")
        shown = page.locator("[data-box]").evaluate_all("every => every.map(g => g.dataset.box)")
        assert ends and all(a != b and a in shown and b in shown for a, b in ends)
        loop.focus()
        page.keyboard.press("Enter")
        assert loop.get_attribute("aria-expanded") == "false" and page.locator("[data-box]").count() == small
        assert page.evaluate("document.activeElement.dataset.box") == loop.get_attribute("data-box")
        apart(page)


def apart(page):
    """No box lies on another, but one that is in it; every box is in the window."""
    every = [(g.get_attribute("class"), box(g.locator("rect"))) for g in page.locator("[data-box]").all()]
    for k, (_, a) in enumerate(every):
        assert a[0] >= 0 and a[1] >= 0
        for kind, b in every[:k]:
            inside = b[0] < a[0] and a[2] < b[2] and b[1] < a[1] and a[3] < b[3]
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3] or inside and "cluster" in kind


def rnn(W, u, xs):
    h = np.zeros(len(u))
    for x in xs:
        h = np.tanh(W @ h + u * x)
    return np.sum(h)


@pytest.mark.parametrize("width, scheme", [(400, "dark"), (1000, "light"), (1600, "light")])
def test_the_graph_of_an_rnn_of_50_steps(tmp_path, width, scheme):
    path = report(rnn, np.eye(3) * 0.5, np.ones(3), np.linspace(-1, 1, 50), path=tmp_path / "rnn.html")
    with opened(path, width, 800, scheme) as page:
        page.locator("#tab-4").click()
        svg = page.locator(".picture svg")
        nodes = page.locator("[data-box]")
        assert nodes.count() == 6 and "for x in xs: (50 trips)" in "".join(nodes.all_text_contents())
        if width > 400:
            for g in nodes.all():  # all of it is there, and can be read
                left, top, right, bottom = box(g)
                assert box(svg)[0] <= left and right <= box(svg)[2] and box(svg)[1] <= top and bottom <= box(svg)[3]
                assert bottom - top > 22
        result = nodes.last
        values = [result.locator(".tangentc-is-primal"), result.locator(".tangentc-is-adjoint")]
        assert values[1].text_content() == "1" and colour(values[0], "fill") != colour(values[1], "fill")
        lines = {
            g.get_attribute("class"): colour(g.locator("path"), "stroke") for g in page.locator(".tangentc-line").all()
        }
        assert set(lines.values()) == {colour(values[0], "fill"), colour(values[1], "fill")}
        page.locator("[data-box]", has_text="np.zeros").hover()
        card = page.locator(".tangentc-card").text_content()
        assert "h = np.zeros(3)" in card and f"line {rnn.__code__.co_firstlineno + 1}: h = np.zeros(len(u))" in card
        left, _, right, _ = box(page.locator(".tangentc-card"))
        assert left >= 0 and right <= width and box(page.locator(".tangentc-card text").first)[3] > 0
        before = box(result)
        page.locator(".zoom button").first.click()
        near = box(result)
        assert near[2] - near[0] == pytest.approx(1.25 * (before[2] - before[0]), rel=0.02)
        middle = [(a + b) / 2 for a, b in zip(box(svg)[:2], box(svg)[2:])]
        page.mouse.move(*middle)
        page.mouse.wheel(0, 400)
        assert box(result)[2] - box(result)[0] < 0.5 * (near[2] - near[0])
        far = box(result)
        page.mouse.move(middle[0], box(svg)[3] - 20)
        page.mouse.down()
        page.mouse.move(middle[0] + 50, box(svg)[3] - 50)
        page.mouse.up()
        assert box(result)[0] == pytest.approx(far[0] + 50, abs=2)
        page.locator(".zoom button", has_text="fit").click()
        for g in nodes.all():
            assert box(svg)[0] <= box(g)[0] and box(g)[2] <= box(svg)[2]


def written_first(a, k):
    pass  # so that it stays a function
    return a * k


def innermost(v):
    pass
    return np.exp(v)


def written_last(v):
    e = innermost(v)
    return e * v


def calls_two(x):
    a = written_last(x * 2)
    b = written_first(a, k=1.5)
    return np.sum(a * b)


def long_program():
    """A function of 200 lines: a chain of layers with branches, loops and changes in place."""
    lines = ["import numpy as np", "", "", "def long(x, w):", "    total = 0.0"]
    k = 0
    while len(lines) < 200:
        k += 1
        lines += [
            f"    a{k} = np.tanh(x * w[{k % 5}] + {k % 7}.0)",
            f"    b{k} = a{k} * a{k} - np.exp(-a{k})",
            f"    for i in range(1, len(b{k})):",
            f"        b{k}[i] = b{k}[i] + 0.1 * b{k}[i - 1]",
            f"    if np.sum(b{k}) > {k % 3}.0:",
            f"        total = total + np.sum(b{k} * x)",
            "    else:",
            f"        total = total - np.mean(a{k}) * w[{k % 5}]",
            f"    x = x + 0.01 * b{k}",
        ]
    return "\n".join([*lines, "    return total", ""])


def test_the_page_of_200_lines(tmp_path):
    source = tmp_path / "long_program.py"
    source.write_text(long_program())
    spec = importlib.util.spec_from_file_location("long_program", source)
    module = importlib.util.module_from_spec(spec)
    sys.modules["long_program"] = module
    spec.loader.exec_module(module)
    path = report(
        module.long, np.linspace(-1, 1, 6), np.linspace(0.1, 0.5, 5), wrt=("x", "w"), path=tmp_path / "p.html"
    )
    assert path.stat().st_size < 1_000_000
    with opened(path, 400, 800) as page:
        assert page.locator("#yours li[data-g]").count() > 190
        began = time.perf_counter()
        row(page, "yours", "b20 = a20 * a20 - np.exp(-a20)").hover()
        assert lit(page, "yours") == ["b20 = a20 * a20 - np.exp(-a20)"] and len(lit(page, "emitted")) >= 2
        assert time.perf_counter() - began < 10  # it answers
        a_click_scrolls_both_sides(page)


def a_click_scrolls_both_sides(page):
    mine, emitted = row(page, "yours", "b20 = a20 * a20 - np.exp(-a20)"), page.locator("#emitted")

    def seen():
        """Where the other side has been scrolled to: the row, and whether it is in sight."""
        there = page.locator("#emitted li.there")
        assert there.count() == 1
        top, bottom = emitted.evaluate("side => [side.scrollTop, side.scrollTop + side.clientHeight]")
        at = there.evaluate("li => li.offsetTop")
        assert top <= at < bottom
        return page.evaluate("window.linked.plain(document.querySelector('#emitted li.there'))"), at

    mine.click()
    first, at = seen()
    assert first == "exp_minus_a20 = np.exp(-a20)" and "place 1 of 2" in page.locator("#details").inner_text()
    marks = page.locator("#emitted ~ .marks i")
    assert marks.count() == page.locator("#emitted li.lit").count()
    share = marks.first.evaluate("i => parseFloat(i.style.top)") / 100
    assert abs(share - at / emitted.evaluate("side => side.scrollHeight")) < 0.01
    kinds = marks.evaluate_all("every => every.map(i => i.className.split(' ')[0])")
    assert kinds == sorted(kinds, reverse=True) and set(kinds) == {"primal", "adjoint"}
    inside = box(emitted)
    assert all(inside[1] <= box(i)[1] and box(i)[3] <= inside[3] for i in marks.all())
    assert all(inside[2] <= box(i)[0] and box(i)[2] <= 400 for i in marks.all())  # where bars are thin, beside them
    mine.click()
    seen()
    assert page.locator("#emitted li.there.adjoint", has_text="# b20 = a20 * a20").count() == 1
    assert "place 2 of 2" in page.locator("#details").inner_text()
    page.keyboard.press("Enter")  # goes round
    assert seen() == (first, at)
    page.locator("#yours").evaluate("side => side.scrollTo(0, 0)")
    row(page, "emitted", "exp_minus_a20 = np.exp(-a20)").click()  # the other way
    assert page.locator("#yours li.there").evaluate("li => window.linked.plain(li)").startswith("b20 = ")
    assert page.locator("#yours").evaluate("side => side.scrollTop") > 500


def test_what_has_no_number_as_its_value_has_a_page_too(tmp_path):
    squares = tangentc.adjoint(lambda x: x * x)
    path = report(squares, np.ones(2), np.array([1.0, 2.0]), path=tmp_path / "squares.html")
    with opened(path) as page:
        assert page.locator("main > [role=tablist] [role=tab]").all_inner_texts() == [
            "Code",
            "Stages",
            "Values",
            "Facts",
        ]


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(OSError):
        report(network, *ARGS, path=tmp_path / "missing" / "page.html")
    with pytest.raises(tangentc.NotDifferentiable):
        report(lambda n: n * 1.0, 3, path=tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def dense(x, W):
    return np.tanh(x @ W)


def through_one_expression(W, x):
    h = dense(x, W)
    return np.sum(h**2)


def test_a_call_that_is_written_in_place_belongs_to_what_it_computes(tmp_path):
    page = report(through_one_expression, np.eye(3), np.ones(3), path=tmp_path / "p.html").read_text()
    rows = re.findall(r'<li [^>]*data-g="([^"]*)"[^>]*>(.*?)</li>', page)
    plain = [(key, re.sub(r"<[^>]*>", "", row)) for key, row in rows]
    call = next(key for key, row in plain if row.strip() == "h = dense(x, W)")
    assert any(key == call and "np.tanh(" in row and "return" not in row for key, row in plain)
