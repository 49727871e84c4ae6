# SPDX-License-Identifier: Apache-2.0
"""Compiles an adapter with the compiler that is there, and proves that it works before anybody uses it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..log import tell
from .cache import FIRST_WORD_S, NEXT_WORD_S
from .compiler import Compiler
from .errors import CompilationFailed
from .framework import TorchBuild

COMPILE_LIMIT_S = 600.0
SELF_TEST_LIMIT_S = 180.0

# As CMake builds the one that the package carries. NDEBUG is part of torch's layouts. With -z defs a
# symbol that nothing provides stops the linker and not, later, the loader.
_FLAGS = ("-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden", "-fvisibility-inlines-hidden")
_LINK_FLAGS = ("-Wl,-z,defs",)
_SHOWN_CHARACTERS = 600


def build_library(
    build: TorchBuild,
    compiler: Compiler,
    sources: Sequence[Path],
    include: Sequence[Path],
    libraries: Path,
    place: Path,
) -> Path:
    """Compiles and tests the adapter for torch in `place`; CompilationFailed has the first thing that went wrong."""
    torch_include = build.folder / "include"
    what = f"the adapter for torch {build.version}"
    library = compile_library(
        what,
        compiler,
        sources=sources,
        include=include,
        system_include=[torch_include, torch_include / "torch/csrc/api/include"],
        libraries=[
            *(build.folder / "lib" / name for name in ("libtorch_cpu.so", "libc10.so")),
            libraries / "libopscope_recorder.so.1",
        ],
        flags=(f"-D_GLIBCXX_USE_CXX11_ABI={build.cxx11_abi}", f'-DOPSCOPE_TORCH_VERSION="{build.version}"'),
        place=place,
    )
    test_library(what, library, place, "opscope.adapters.self_test")
    return library


def compile_library(
    what: str,
    compiler: Compiler,
    *,
    sources: Sequence[Path],
    include: Sequence[Path],
    system_include: Sequence[Path],
    libraries: Sequence[Path],
    flags: Sequence[str] = (),
    link_flags: Sequence[str] = _LINK_FLAGS,
    place: Path,
) -> Path:
    """Compiles a library in `place`; CompilationFailed has the first thing that went wrong."""
    unit = place / "adapter.cc"
    # One translation unit: parsing a framework's headers is most of the work.
    unit.write_text("".join(f'#include "{path}"\n' for path in sources))
    library = place / "adapter.so"
    command = [*compiler.command, *_FLAGS, *flags, *(f"-I{folder}" for folder in include)]
    for folder in system_include:
        command += ["-isystem", str(folder)]
    command += ["-o", str(library), str(unit), *link_flags, *map(str, libraries)]
    tell("info", f"compiling {what}, once, with {compiler.describe()}")
    tell("debug", " ".join(command))
    began = time.monotonic()
    _run(command, place, COMPILE_LIMIT_S, f"compiling {what}, once")
    tell("warn", f"compiled {what} in {time.monotonic() - began:.1f} s, once")
    return library


def test_library(what: str, library: Path, place: Path, module: str) -> None:
    """Runs the module on the library in a process of its own: what does not fit may crash."""
    python = _interpreter()
    if python is None:
        tell("warn", f"{what} was not tested: this program embeds Python and has no interpreter beside it")
        return
    began = time.monotonic()
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    _run([python, "-m", module, str(library)], place, SELF_TEST_LIMIT_S, f"testing {what}", environment)
    tell("info", f"tested {what} in {time.monotonic() - began:.1f} s")


def _interpreter() -> str | None:
    """This Python as a program; a program that embeds Python must not be started in its place."""
    candidates = [sys.executable or "", os.path.join(sys.exec_prefix, "bin", "python3")]
    for path in candidates:
        if os.path.basename(path).startswith("python") and shutil.which(path):
            return path
    return None


def _run(command: list[str], place: Path, limit_s: float, what: str, environment: dict | None = None) -> None:
    log = place / "output.log"
    began = time.monotonic()
    next_word = began + FIRST_WORD_S
    with open(log, "wb") as output:
        try:
            process = subprocess.Popen(
                command,
                cwd=place,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that it can be ended with its children
            )
        except OSError as error:
            raise CompilationFailed(f"{what} failed: {command[0]}: {error.strerror}") from error
    try:
        while True:
            try:
                status = process.wait(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                pass
            now = time.monotonic()
            if now - began > limit_s:
                raise CompilationFailed(f"{what} was given up after {limit_s:.0f} s")
            if now >= next_word:
                next_word = now + NEXT_WORD_S
                tell("warn", f"{what} ({now - began:.0f} s)")
    except BaseException:
        _end(process)
        raise
    if status != 0:
        raise CompilationFailed(f"{what} failed ({_ending(status)}): {_first_error(log)}")


def _end(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    process.wait()


def _ending(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def _first_error(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    told = next((line for line in lines if "error:" in line or "Error:" in line), lines[-1] if lines else "no output")
    return told.strip()[:_SHOWN_CHARACTERS]
