"""A headless Chromium for tests and measurements: one process, as many pages as needed.

It is driven over a pair of pipes (``--remote-debugging-pipe``): messages are JSON, each ends with a NUL.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_OPTIONS = """
    --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-extensions
    --disable-component-update --disable-sync --mute-audio --hide-scrollbars --remote-debugging-pipe
    """.split()
_SECONDS = 60.0


class Browser:
    """Pages are opened with ``open`` and asked with ``run``; RuntimeError where a script fails."""

    def __init__(self, send: int, receive: int) -> None:
        self._send = send
        self._receive = receive
        self._number = 0
        self._rest = b""
        self._session = ""
        self.requested: list[str] = []
        """The addresses that the open page requested."""
        self.said: list[str] = []
        """What pages wrote to the console, and their errors."""

    def call(self, method: str, **given: Any) -> Any:
        """Call a method of the protocol; its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        number = self._number
        while True:
            answer = self._read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._receive, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        event, given = message.get("method"), message.get("params", {})
        if event == "Network.requestWillBeSent":
            self.requested.append(given["request"]["url"])
        elif event == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(one.get("value", one.get("description"))) for one in given["args"]))
        elif event == "Runtime.exceptionThrown":
            self.said.append(json.dumps(given["exceptionDetails"]))
        elif event == "Log.entryAdded":
            self.said.append(str(given["entry"]["text"]))
        return message

    def open(self, address: str, width: int = 1280, height: int = 1000, dark: bool = False) -> None:
        """Open a page in a new tab and wait until it is loaded."""
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.requested, self.said = [], []
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(str(done["exceptionDetails"]))
        return done["result"].get("value")

    def wait(self, condition: str, seconds: float = _SECONDS) -> None:
        """Wait until an expression is true; TimeoutError."""
        until = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > until:
                raise TimeoutError(f"{condition}; the page said {self.said}")
            time.sleep(0.02)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser, ended with its children at the end."""
    assert PROGRAM is not None, "no browser on this machine"
    with tempfile.TemporaryDirectory(prefix="exhume-browser-", ignore_cleanup_errors=True) as profile:
        to_browser, from_us = os.pipe()
        to_us, from_browser = os.pipe()
        # The browser reads from 3 and writes to 4. Nothing of Popen's own may be there in the child.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 50) for end in (to_browser, from_browser)]
        for end in (to_browser, from_browser):
            os.close(end)
        taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(5)]

        def give_pipes() -> None:
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        process = subprocess.Popen(
            [PROGRAM, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=give_pipes,
            close_fds=False,  # it would close 3 and 4, too; Python's own files are closed anyway
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for end in (*high, *taken):
            os.close(end)
        try:
            yield Browser(from_us, to_us)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(from_us)
            os.close(to_us)
