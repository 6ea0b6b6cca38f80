"""A PostgreSQL server for the tests, from the system's own packages: started once, thrown away at the end."""

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

from sqlalchemy import create_engine, text

READY = "database system is ready to accept connections"
#: The server refuses to run as root.
USERS = ("postgres", "nobody")


def binaries() -> Path | None:
    """The folder with initdb and postgres, of the newest version; None where these or the driver are not installed."""
    if importlib.util.find_spec("psycopg") is None:
        return None
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("initdb")
    places = [path.parent for path in reversed(found)] + ([Path(on_path).resolve().parent] if on_path else [])
    return next((place for place in places if (place / "postgres").exists()), None)


def as_user() -> list[str]:
    """What runs a command as somebody who may run the server."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={_user().pw_uid}", f"--regid={_user().pw_gid}", "--clear-groups", "--"]


class Server:
    """A running server. `url()` names a new, empty schema in it."""

    def __init__(self, place: Path) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="skillevo-pg-"))
        self._numbers = itertools.count()
        data = self.root / "data"
        if os.geteuid() == 0:
            os.chown(self.root, _user().pw_uid, _user().pw_gid)
        subprocess.run(
            [*as_user(), place / "initdb", "-D", data, "-U", "skillevo", "-A", "trust", "-E", "UTF8", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.root,
        )
        for attempt in range(5):
            self.port = _free_port()
            self.process = self._start(place, data)
            if self._is_ready():
                break
            assert attempt < 4, "PostgreSQL did not start"
        self.admin = create_engine(self._base(), isolation_level="AUTOCOMMIT")

    def url(self) -> str:
        name = f"t{next(self._numbers)}"
        with self.admin.connect() as connection:
            connection.execute(text(f"CREATE SCHEMA {name}"))
        return f"{self._base('postgresql')}?options=-csearch_path%3D{name}"

    def stop(self) -> None:
        self.admin.dispose()
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=60)
        shutil.rmtree(self.root, ignore_errors=True)

    def _base(self, driver: str = "postgresql+psycopg") -> str:
        return f"{driver}://skillevo@127.0.0.1:{self.port}/postgres"

    def _start(self, place: Path, data: Path) -> subprocess.Popen[str]:
        quick = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", f"unix_socket_directories={self.root}")
        settings = [part for setting in quick for part in ("-c", setting)]
        command = [*as_user(), place / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(self.port), *settings]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8", cwd=self.root)

    def _is_ready(self) -> bool:
        for line in self.process.stderr:
            if READY in line:
                # The server must never wait for somebody to read what it says.
                threading.Thread(target=self.process.stderr.read, daemon=True).start()
                return True
        return False


def _user() -> pwd.struct_passwd:
    return next(pwd.getpwnam(name) for name in USERS if name in {entry.pw_name for entry in pwd.getpwall()})


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
