"""The page about a file that is being written, in a browser, and what its server lets in."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser import opened

from tangentc.inspection.live import File
from tangentc.inspection.view import Asked, View

ROOT = Path(__file__).parent.parent

MODEL = """
import numpy as np
import tangentc


def layer(x, W):
    h = x @ W
    pass  # so that it stays a function
    return np.tanh(h)


def network(W, x, n: int):
    s = np.zeros(len(x))
    for _ in range(n):
        s = s + layer(x, W)
    scaled = s * 2
    return np.sum(scaled**2)


@tangentc.differentiable(wrt="k")
def energy(x, k):
    return 0.5 * k * np.sum(x * x)


class Line:
    def __init__(self):
        self.w, self.b = np.array([1.0, 2.0]), 0.5

    def loss(self, X, y):
        r = X @ self.w + self.b - y
        return np.mean(r**2)


def pick(x, k):
    y = x[k]
    return y * y


def forever(x):
    while True:
        pass


def example():
    return np.eye(3) * 0.5, np.ones(3), 5
"""


@contextlib.contextmanager
def served(*arguments, environment=None):
    """The address of a page, and its process; Ctrl-C ends it with nothing to say."""
    command = [sys.executable, "-m", "tangentc", "serve", *map(str, arguments)]
    command += ["--no-browser"] * (environment is None)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
                               env={**os.environ, **(environment or {})})  # fmt: skip
    try:
        yield re.search(r"http://\S+", process.stdout.readline())[0], process
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 0 and errors == ""
    finally:
        process.kill()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "model.py"
    path.write_text(MODEL)
    return path


@pytest.fixture(scope="module")
def url(model):
    with served(model, "--function", "network", "--args", "model:example") as (url, _):
        yield url


def row(page, side, text):
    return page.locator(f"#{side} li[data-g]", has_text=text).first


def lit(page, side):
    return page.locator(f"#{side} li.lit").evaluate_all("every => every.map(window.linked.plain)")


def give(page, name, arguments):
    page.locator("nav button", has_text=name).click()
    page.locator("#signature", has_text=name).wait_for()
    page.locator("#at").fill(arguments)
    page.locator("#at").press("Enter")


def test_the_functions_and_what_they_compute(url):
    with opened(url) as page:
        row(page, "yours", "scaled = s * 2").hover()
        names = ["layer", "network", "energy", "Line.loss", "pick", "forever", "example"]
        assert page.locator("nav button").all_inner_texts() == names
        assert page.locator("#signature").inner_text() == "network(W, x, n: int)"
        assert page.locator("#at").input_value() == "*example()"
        assert lit(page, "yours") == ["scaled = s * 2"]
        assert lit(page, "emitted") == ["scaled = s * 2", "s_bar = 2 * scaled_bar"]
        assert row(page, "yours", "s = s + layer").locator(".value").inner_text() == "float64(3,) all 2.311"
        assert re.search(r"network\n64\.07\ndnetwork/dW\nfloat64\(3, 3\) in", page.locator("#told").inner_text())
        page.locator("#parameters button", has_text="x").click()
        page.locator("#told dt", has_text="dnetwork/dx").wait_for()
        assert page.locator("#wrt").input_value() == "W, x"

        page.locator("nav button", has_text="layer").click()
        page.locator("#theirs", has_text="Its derivative, for arguments of any kind").wait_for()
        assert "unbroadcast(" in page.locator("#emitted").inner_text()
        give(page, "layer", "np.array([1.0, 2.0]), W=np.eye(2)")
        page.locator("#theirs", has_text="Its adjoint, with ones for out_bar").wait_for()
        assert "adjoint of x" in page.locator("#told").inner_text()
        give(page, "energy", "x=np.ones(2), k=3.0")  # the decorator says by what
        page.locator("#told dt", has_text="denergy/dk").wait_for()
        page.locator("nav button", has_text="Line.loss").click()
        page.locator("#troubles", has_text="No arguments are given").wait_for()
        page.locator("#at").fill("self=Line(), ")  # which is not run, and is there again
        page.locator("nav button", has_text="layer").click()
        page.locator("#signature", has_text="layer(x, W)").wait_for()
        page.locator("nav button", has_text="Line.loss").click()
        page.locator("#troubles", has_text="missing a required argument: 'X'").wait_for()
        assert page.locator("#at").input_value() == "self=Line(), "
        page.locator("#at").fill("")
        page.locator("form [type=submit]").click()
        page.locator("#troubles", has_text="No arguments are given").wait_for()
        assert page.locator("#at").get_attribute("placeholder") == "self=Line(), X=np.ones(3), y=np.ones(3)"
        give(page, "Line.loss", "self=Line(), X=np.eye(2), y=np.ones(2)")
        page.locator("#told dt", has_text="dloss/dself.w").wait_for()
        assert page.locator("#troubles").inner_text() == ""
        assert row(page, "yours", "return np.mean(r**2)").locator(".value").inner_text() == "= 1.25"
        give(page, "Line.loss", "self=Line(), X=np.eye(2), y=q")
        page.locator("#troubles", has_text="the arguments cannot be read").wait_for()
        assert "NameError: name 'q' is not defined" in page.locator("#troubles").inner_text()
        give(page, "pick", "np.ones(3), 7")
        page.locator(
            "#troubles", has_text="Why: IndexError: index 7 is out of bounds for axis 0 with size 3."
        ).wait_for()
        assert page.locator("#yours li.bad").inner_text().strip() == "y = x[k]"
        give(page, "energy", "x=np.ones(3) * np.nan, k=2.0")
        page.locator("#told .warn dd", has_text="NaN").wait_for()
        page.locator("nav button", has_text="network").click()  # what was in its boxes is there again
        page.locator("#told dt", has_text="dnetwork/dx").wait_for()
        assert page.locator("#at").input_value() == "*example()"
        page.reload()
        page.locator("#told dt", has_text="dnetwork/dx").wait_for()
        page.locator("nav button", has_text="example").click()
        page.locator("#troubles", has_text="example has no parameters").wait_for()


LONG = "".join(f"    x = np.sin(x) + {k}.0\n" for k in range(40))
CHAIN = f"import numpy as np\nfrom helper import scale\n\n\ndef chain(x):\n    x = scale(x)\n{LONG}    return x\n"


def test_anew_at_each_save(tmp_path):
    file, helper = tmp_path / "chain.py", tmp_path / "helper.py"
    helper.write_text("def scale(x):\n    return 2.0 * x\n")
    file.write_text(CHAIN)
    with served(file) as (url, _), opened(url) as page:
        give(page, "chain", "0.5")
        row(page, "yours", "np.sin(x) + 30.0").click()
        page.mouse.move(2, 2)
        page.locator("#yours").evaluate("side => side.scrollTo(0, 300)")
        file.write_text(CHAIN.replace("import numpy", "# a line above\nimport numpy").replace("+ 20.0", "+ 20.5"))
        row(page, "emitted", "20.5").wait_for()
        assert page.locator("#yours").evaluate("side => side.scrollTop") == 300
        assert lit(page, "yours") == ["x = np.sin(x) + 30.0"] and page.locator("#at").input_value() == "0.5"
        assert (
            page.locator("#yours li.fresh").count() == 1
            and row(page, "yours", "20.5").get_attribute("class").split()[-1] == "fresh"
        )

        page.locator("#at").fill("0.25, ")  # and is not yet entered
        file.write_text(CHAIN.replace("+ 20.0", "+ (20.0"))
        page.locator("#troubles", has_text="chain.py cannot be run: it is not Python yet").wait_for()
        told = page.locator("#troubles").inner_text()
        assert 'File "chain.py", line 27' in told and "Why: '(' was never closed." in told
        assert page.locator("#theirs").inner_text() == "Its derivative, as it was before"
        assert row(page, "emitted", "20.5").is_visible() and page.locator("#at").input_value() == "0.25, "
        assert page.locator("#state").inner_text().endswith("cannot be run")
        file.write_text(CHAIN.replace("+ 20.0", "+ 21.5"))
        row(page, "emitted", "21.5").wait_for()
        assert page.locator("#troubles").inner_text() == "" and page.locator(".old").count() == 0

        file.write_text(CHAIN + "\n\n1 / 0\n")
        page.locator("#troubles", has_text="Why: ZeroDivisionError: division by zero.").wait_for()
        file.write_text(CHAIN.replace("np.sin(x) + 30.0", "np.kaiser(x)"))
        page.locator("#troubles", has_text="there is no rule for np.kaiser").wait_for()
        assert "x = np.kaiser(x)" in page.locator("#yours li.bad").inner_text()
        assert page.locator("#theirs").inner_text() == "Its derivative, as it was before"
        file.write_text(CHAIN)
        helper.write_text("def scale(x):\n    return 7.0 * x\n")  # of the same length, in the same second
        row(page, "emitted", "7.0").wait_for()
        file.write_text(CHAIN.replace("    return x", "    while x > -100:\n        x = x * 1.0\n    return x"))
        page.locator("#state", has_text="still running; a save ends it").wait_for()
        file.write_text(CHAIN.replace("chain", "bound"))
        page.locator("#signature", has_text="bound(x)").wait_for()


@pytest.mark.parametrize("width, scheme", [(400, "light"), (1000, "dark"), (1600, "light")])
def test_it_fits(url, width, scheme):
    with opened(url, width, 800, scheme) as page:
        row(page, "yours", "scaled = s * 2").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for name in ("#at", "#wrt", "form [type=submit]", "#yours", "#emitted", "#details", "#state"):
            box = page.locator(name).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["height"] > 15, name
        red, green, blue = map(
            int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))
        )
        assert (red + green + blue > 600) == (scheme == "light")


def ask(url, path=None, method="GET", **headers):
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    connection.request(method, place.path if path is None else path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), answer


def test_who_may_come_in(url, model):
    place = urlsplit(url)
    status, text, answer = ask(url)
    assert status == 200 and "<title>tangentc serve</title>" in text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    for path in ("/", "/state", place.path[:-2] + "/", place.path[:-1] + "x/state", "/%C3%A9/"):
        status, text, _ = ask(url, path)
        assert status == 403 and "lacks the token" in text and place.path[1:-1] not in text
    for host in ("evil.example", f"evil.example:{place.port}", "127.0.0.1", f"127.0.0.1:{place.port + 1}"):
        status, text, _ = ask(url, Host=host)
        assert status == 403 and "on this machine" in text
    for name in (model.name, "../model.py", "%2e%2e/model.py", f"/{model}", "report.css", "serve.html"):
        assert ask(url, place.path + name)[0] == 404
    assert ask(url, method="POST")[0] == 501
    with pytest.raises(OSError):  # of all the addresses of the machine it has one
        socket.create_connection(("127.0.0.2", place.port), timeout=5)


def test_the_browser_is_started_with_a_ticket_for_one_visit(model, tmp_path):
    opener, note = tmp_path / "opener", tmp_path / "note"
    opener.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{note}"\n')
    opener.chmod(0o755)
    with served(model, environment={"BROWSER": f"{opener} %s"}) as (url, _):
        deadline = time.monotonic() + 20
        while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        entry = note.read_text()
        assert entry != url
        status, _, answer = ask(entry)
        assert status == 303 and answer.headers["Location"] == urlsplit(url).path
        assert ask(entry)[0] == 403 and ask(url)[0] == 200


def test_ctrl_c_ends_it_also_where_a_function_does_not(model):
    with served(model) as (url, _):
        place = urlsplit(url)
        waiting = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
        waiting.request("GET", f"{place.path}state?function=forever&at=1.0&wrt=")
        time.sleep(0.5)
        assert ask(url)[0] == 200  # the page is there, while the function runs
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((place.hostname, place.port), timeout=5)
    assert sorted(p.name for p in model.parent.iterdir()) == ["model.py"]


def test_a_fault_of_the_page_itself_ends_nothing(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "model", None)  # it is put back
    file = File(model)
    file.look()
    view = View(file, Asked())
    monkeypatch.setattr(view, "_texts", lambda *_: {}["absent"])
    state = view.state(Asked("energy", "", ""))
    assert state["function"] is None and "this is a fault of tangentc itself: KeyError" in state["troubles"][0]


def test_wrong_calls(model, url):
    port = urlsplit(url).port
    for arguments, told in (
        (["nowhere.py"], "there is no file nowhere.py"),
        ([model, "--function", "absent"], f"{model} has no function absent"),
        ([model, "--args", "model"], "'model' is not MODULE:FUNCTION"),
        ([model, "--port", port, "--no-browser"], f"port {port} cannot be used: "),
    ):
        command = [sys.executable, "-m", "tangentc", "serve", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, stdin=subprocess.DEVNULL)
        assert done.returncode == 2 and done.stderr.startswith(f"tangentc: {told}") and done.stderr.count("\n") == 1
