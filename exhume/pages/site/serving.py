"""Serves the site on this machine: SQL needs a host, since a page opened from disk may not read files."""

from __future__ import annotations

import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from solvers.errors import EnvironmentProblem

ADDRESS = "127.0.0.1"
_NAMES = (ADDRESS, "localhost")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".wasm": "application/wasm",
    ".json": "application/json",
}
_POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'wasm-unsafe-eval';"
    " worker-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def make_server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of the files in ``folder``, on the loopback address only; port 0 takes any that is free.

    EnvironmentProblem if the port is taken.
    """
    try:
        return _Server((ADDRESS, port), partial(_Files, directory=str(folder.resolve())))
    except OSError as problem:
        raise EnvironmentProblem(
            f"cannot serve on port {port}: {problem.strerror}; name another with --port"
        ) from (problem)


class _Server(ThreadingHTTPServer):
    """A client that ends its connection is no error."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Called in the ``except`` block of a request."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Files(SimpleHTTPRequestHandler):
    """Files of the folder: no lists of them, nothing outside by a link, and only for pages of this host."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> Any:
        """Called for GET and HEAD."""
        name = (self.headers.get("Host") or "").partition(":")[0]  # no port if that is 80
        if name not in _NAMES:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        if not self._has(Path(self.translate_path(self.path))):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def _has(self, file: Path) -> bool:
        try:
            file = file / "index.html" if file.is_dir() else file
            return file.is_file() and file.resolve().is_relative_to(self.directory)
        except OSError:  # longer than a name may be
            return False

    def guess_type(self, path: Any) -> str:
        """Types do not depend on the machine's table of them; what is not known is not shown."""
        return _TYPES.get(Path(path).suffix, "application/octet-stream")

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests are not printed."""
