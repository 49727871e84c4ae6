# SPDX-License-Identifier: Apache-2.0
"""The files of this process in the folder of ``opscope run``: their names, and its line in ``run.jsonl``."""

from __future__ import annotations

import contextlib
import json
import os
import re
from typing import Any

from .. import _core

# Characters that a host's name may have in file names; others could lead out of the folder or confuse shells.
_ODD = re.compile(r"[^A-Za-z0-9._]")


def host_in_names(host: str) -> str:
    """The host's name for names of files, without ``-``."""
    return _ODD.sub("_", host) or "_"


class Files:
    """Files are called ``rankR-aA-HOST-PID-N.opscope``; R is ``_unknown`` until the rank is known."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.reset()

    def reset(self) -> None:
        """Starts anew, without files; called in a forked child."""
        self.process = os.getpid()
        facts = _core.process_identity()
        self.rank, self._attempt, self.host = facts["rank"], facts["attempt"], facts["host"]
        self._number = 0
        self.finished: list[str] = []  # names of complete files
        self._has_line = False

    def new_name(self) -> str:
        """Path of the next window's file; a file that exists is never used again."""
        while True:
            self._number += 1
            path = os.path.join(self.folder, self._name(self.rank, self._number))
            if not os.path.lexists(path):
                return path

    def remove_second_process_id(self, path: str) -> None:
        """Renames a file to `path` if the recorder of a forked child has appended the process id, which `path` has."""
        stem, extension = os.path.splitext(path)
        with contextlib.suppress(OSError):
            os.rename(f"{stem}.{self.process}{extension}", path)

    def _name(self, rank: int, number: int) -> str:
        shown = str(rank) if rank >= 0 else "_unknown"
        return f"rank{shown}-a{self._attempt}-{host_in_names(self.host)}-{self.process}-{number}.opscope"

    def finish(self, path: str, distributed_info: dict[str, Any] | None) -> str:
        """Lists a complete file, under a name with the framework's rank if that differs. Returns the name."""
        rank = self.rank if distributed_info is None else int(distributed_info["rank"])
        if rank != self.rank:
            self.rank = rank
            named = os.path.join(self.folder, self._name(rank, self._number))
            with contextlib.suppress(OSError):
                os.link(path, named)  # unlike a rename, it replaces no other file
                os.unlink(path)
                path = named
        return self.list_file(path)

    def list_file(self, path: str) -> str:
        """Adds a file under its present name to `finished`. Returns the name; "": the file does not exist."""
        if not os.path.lexists(path):
            return ""
        self.finished.append(os.path.basename(path))
        return self.finished[-1]

    def remove(self, path: str) -> None:
        """Deletes the file of a window in which nothing was recorded."""
        with contextlib.suppress(OSError):
            os.unlink(path)

    def write_line(self, framework: str, why_not: str, more_files: list[str]) -> None:
        """Appends the line of this process to ``run.jsonl``, once, by one write, because many processes append.
        ``more_files``: files on demand in the same folder.
        """
        if self._has_line:
            return
        self._has_line = True
        line = {
            "pid": self.process,
            "rank": self.rank,
            "attempt": self._attempt,
            "host": self.host,
            "framework": framework,
            "files": self.finished + more_files,
            "why_not": why_not,
        }
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(os.path.join(self.folder, "run.jsonl"), flags, 0o600)
        try:
            os.write(file, (json.dumps(line, separators=(",", ":")) + "\n").encode())
        finally:
            os.close(file)
