# SPDX-License-Identifier: Apache-2.0
"""Finds the C++ compiler: ``CXX`` if it is set, otherwise the common names on PATH."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass

from .errors import CompilerMissing

_NAMES = ("g++", "c++", "clang++")
_INSTALL_LINES = (
    ("apt-get", "apt-get install g++"),
    ("dnf", "dnf install gcc-c++"),
    ("yum", "yum install gcc-c++"),
    ("zypper", "zypper install gcc-c++"),
    ("pacman", "pacman -S gcc"),
    ("apk", "apk add g++"),
)


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: its command and its identity."""

    command: tuple[str, ...]  # CXX may contain arguments or a launcher ("ccache g++")
    identity: str  # command, path, size and time of the program: differs once another compiler has replaced it

    def is_gcc(self) -> bool:
        """Whether its version text is GCC's: "g++ (Debian 12.2.0-14) 12.2.0", "c++ (GCC) 13.3.0"."""
        first_line = self.describe()
        return re.search(r"\bg(cc|\+\+)|c\+\+ \(", first_line, re.I) is not None and "clang" not in first_line

    def describe(self) -> str:
        """First line of its version text ("g++ (Debian 12.2.0-14) 12.2.0"), or its command if it prints none."""
        try:
            done = subprocess.run([*self.command, "--version"], capture_output=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return " ".join(self.command)
        lines = done.stdout.decode(errors="replace").splitlines()
        return lines[0].strip() if lines else " ".join(self.command)


def find_compiler() -> Compiler | None:
    """The compiler, or None. Looks at files only; starts no program."""
    wanted = os.environ.get("CXX", "")
    try:
        candidates = [tuple(shlex.split(wanted))] if wanted.strip() else [(name,) for name in _NAMES]
    except ValueError:  # a quotation without its end
        return None
    for command in candidates:
        path = shutil.which(command[0])
        if path is None:
            continue
        program = os.path.realpath(path)
        status = os.stat(program)
        identity = f"{' '.join(command)} {program} {status.st_size} {status.st_mtime_ns}"
        return Compiler((path, *command[1:]), identity)
    return None


def require_compiler(what_for: str) -> Compiler:
    """As find_compiler(), but raises CompilerMissing, which says how to install one."""
    compiler = find_compiler()
    if compiler is not None:
        return compiler
    wanted = os.environ.get("CXX", "").strip()
    looked = f"CXX={wanted}, which is not on PATH" if wanted else f"{', '.join(_NAMES)} on PATH"
    raise CompilerMissing(
        f"{what_for} must be compiled once, and there is no C++ compiler (looked for {looked}); "
        f"install one: {install_line()}"
    )


def install_line() -> str:
    """The shell command that installs a compiler on this system."""
    for program, line in _INSTALL_LINES:
        if shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/bin:/bin:/sbin:/usr/sbin"):
            return line
    return _INSTALL_LINES[0][1]
