"""A headless Chromium, driven over its DevTools pipe: real rendering without any further package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Names of the browser on Debian and elsewhere.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Seconds for one command; far more than any needs.
PATIENCE = 60.0


def installed() -> str | None:
    """The path of the browser; None when there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one page."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="skillevo-browser-", ignore_cleanup_errors=True)
        command_read, command_write = os.pipe()
        answer_read, answer_write = os.pipe()
        flags = [
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",  # needed as root; the pages are our own files
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        # The browser reads commands from file 3 and answers on file 4; bash moves both pipes there
        # (a plain shell knows no numbers over 9).
        script = f'exec "$0" "$@" 3<&{command_read} 4>&{answer_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, program, *flags],
            pass_fds=(command_read, answer_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(command_read)
        os.close(answer_write)
        self._commands = os.fdopen(command_write, "wb", buffering=0)
        self._answers = os.fdopen(answer_read, "rb", buffering=0)
        self._left = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        target = next(one for one in self.send("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._session = None
        self._session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    _session: str | None = None

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Run one DevTools command and give its result; events that come meanwhile are kept."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        chunks = [self._left]
        while b"\0" not in chunks[-1]:
            assert select.select([self._answers], [], [], PATIENCE)[0], "the browser does not answer"
            chunk = self._answers.read(1 << 20)
            assert chunk, "the browser has gone"
            chunks.append(chunk)
        answer, _, self._left = b"".join(chunks).partition(b"\0")
        return json.loads(answer)

    def open(self, path: Path, *, width: int = 1280, height: int = 800, scheme: str = "light") -> None:
        """Show a file at this size; waits until it is loaded."""
        mobile = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.send("Page.navigate", url=path.as_uri())
        ends = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < ends, "the page did not load"
            self.events.append(self._read())

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression. It runs beside the page's own policy, which forbids scripts."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release one key."""
        for kind in ("keyDown", "keyUp"):
            given = {"text": text} if text and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **given)

    def complaints(self) -> list[str]:
        """What the console, the log and the policy said, and every request other than for the page itself."""
        self.ask("1")
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
            elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                found.append(json.dumps(parameters)[:400])
            elif method == "Network.requestWillBeSent" and parameters.get("type") != "Document":
                found.append(f"request: {parameters['request']['url'][:200]}")
            elif method == "Page.javascriptDialogOpening":
                found.append("a dialog opened")
        return found

    def accessibility(self) -> list[dict[str, Any]]:
        """The nodes of the accessibility tree that are not ignored."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        return [node for node in nodes if not node.get("ignored")]

    def screenshot(self, path: Path, *, full: bool = False) -> None:
        """Write what is shown, or the whole page, as PNG."""
        clip = {}
        if full:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}}
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=full, **clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """End the browser and remove its profile."""
        with suppress(OSError, AssertionError):
            self._session = None
            self.send("Browser.close")
        self._commands.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()
        self._profile.cleanup()
