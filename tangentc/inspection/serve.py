"""A page about a file that is being written, for a browser on this machine: its functions and their derivatives, anew
at each save.

The file is run in the main thread, which a browser waits for; the server's own threads only pass on what is asked.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import queue
import secrets
import signal
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tangentc.backend.highlight import STYLE
from tangentc.inspection.linked import asset, sides
from tangentc.inspection.live import File
from tangentc.inspection.view import Asked, View

LOOK = 0.3  # seconds between two looks at the file
PATIENCE = 2.0  # seconds after which a save ends what is running
WAIT = 20.0  # seconds that an answer to "is there something new" may take
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def serve(file: File, first: Asked, port: int = 0, browser: bool = True) -> None:
    """Serve the page about a file until the user interrupts; raises `OSError` if the port cannot be had."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what is in the background without one
    with _Server(port) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            print(f"tangentc: {file.path.name} is at {server.url}", flush=True)
            print("tangentc: it is run at each save; Ctrl-C ends this", flush=True)
            if browser:
                threading.Thread(target=webbrowser.open, args=(server.entry,), daemon=True).start()
            _work(server, file, View(file, first))
        except KeyboardInterrupt:
            pass
        finally:
            server.end()


def _work(server: _Server, file: File, view: View) -> None:
    """Look at the file and answer, for ever.  What takes very long is given up when the file is saved."""
    work = _Work()
    threading.Thread(target=work.give_up, args=(file,), daemon=True).start()
    waits = None
    while True:
        try:
            work.began = time.monotonic()
            file.look()
            server.tell(file.version)
            if waits is not None:
                waits[1](view.state(waits[0]))
            work.began, waits = None, None
            with contextlib.suppress(queue.Empty):
                waits = server.jobs.get(timeout=LOOK)
        except KeyboardInterrupt:
            if not work.is_given_up:
                raise
            work.is_given_up = False


class _Work:
    """What the main thread does: when it began, and whether it has been told to give up."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.is_given_up = False

    def give_up(self, file: File) -> None:
        while True:
            time.sleep(LOOK)
            if self.began is not None and time.monotonic() - self.began > PATIENCE and file.is_saved():
                self.began, self.is_given_up = None, True
                _thread.interrupt_main()


class _Server(ThreadingHTTPServer):
    """The server on the loopback address.  Its pages stand below a token that nobody can guess.

    The browser is started with an address that is good for one visit, since other users of the machine can see with
    what programs were started.
    """

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # where it would let two have one port

    def __init__(self, port: int):
        super().__init__(("127.0.0.1", port), _Handler)
        self.token, self._ticket = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.place = f"http://127.0.0.1:{self.server_port}"
        self.url, self.entry = f"{self.place}/{self.token}/", f"{self.place}/{self._ticket}/"
        self.hosts = {f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"}
        self.jobs: queue.Queue[tuple[Asked, Callable[[dict[str, Any]], None]]] = queue.Queue()
        self._version, self._news, self._ended = 0, threading.Condition(), False
        self._tickets = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone away is no error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def enters(self, ticket: str) -> bool:
        """Whether a visitor brings the ticket of the browser that was started, the first time that it is shown."""
        with self._tickets:
            good = bool(self._ticket) and secrets.compare_digest(ticket.encode(), self._ticket.encode())
            self._ticket = "" if good else self._ticket
        return good

    def state(self, asked: Asked) -> dict[str, Any]:
        """What the main thread answers."""
        answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self.jobs.put((asked, answers.put))
        return answers.get()

    def tell(self, version: int) -> None:
        with self._news:
            self._version = version
            self._news.notify_all()

    def news(self, since: int) -> int:
        """The version of the file, as soon as it is another one."""
        with self._news:
            self._news.wait_for(lambda: self._version != since or self._ended, WAIT)
            return self._version

    def end(self) -> None:
        self._ended = True
        self.tell(self._version)
        self.shutdown()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version, sys_version = "tangentc", ""
    timeout = 60

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        token, _, name = address.path.lstrip("/").partition("/")
        if self.headers.get("Host", "") not in self.server.hosts:
            self._send(403, "text/plain", "This page is for a browser on this machine.\n")
        elif not secrets.compare_digest(token.encode(), self.server.token.encode()):
            if self.server.enters(token):
                self._send(303, "text/plain", "", Location=f"/{self.server.token}/")
            else:
                self._send(403, "text/plain", "The address lacks the token that tangentc serve has printed.\n")
        elif name in PAGES:
            kind, text = PAGES[name]
            self._send(200, kind, text())
        elif name in ("state", "news"):
            given = {k: v[0] for k, v in parse_qs(address.query, keep_blank_values=True).items()}
            self._send(200, "application/json", json.dumps(getattr(self, f"_{name}")(given)))
        else:
            self._send(404, "text/plain", "There is no such page.\n")

    def _state(self, given: dict[str, str]) -> dict[str, Any]:
        return self.server.state(Asked(given.get("function"), given.get("at"), given.get("wrt")))

    def _news(self, given: dict[str, str]) -> dict[str, Any]:
        since = given.get("since", "")
        return {"version": self.server.news(int(since) if since.isdigit() else 0)}

    def _send(self, status: int, kind: str, text: str, **more: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        of_body = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in {**HEADERS, **of_body, **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is the user's."""


def _page() -> str:
    return asset("serve.html").replace("SIDES", sides("", "", ("Your function", "Its derivative")))


def _style() -> str:
    return "\n".join((asset("report.css"), STYLE, asset("serve.css")))


def _script() -> str:
    return "\n".join((asset("linked.js"), asset("serve.js")))


PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "": ("text/html", _page),
    "serve.css": ("text/css", _style),
    "serve.js": ("text/javascript", _script),
}
