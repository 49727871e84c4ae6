# SPDX-License-Identifier: Apache-2.0
"""Compiles an adapter with the compiler of this machine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..log import log_message
from .child import Child
from .compiler import Compiler

COMPILE_LIMIT_S = 600.0

# The flags with which CMake builds the adapter in the package. torch's class layouts depend on NDEBUG.
_FLAGS = ("-std=c++20", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden")
# With -z defs an undefined symbol is an error of the linker, not later of the loader.
LINK_FLAGS = ("-Wl,-z,defs",)
# GCC's garbage collector starts at 128 MB by default and takes a tenth of the time here. A unit needs 700 MB.
_GCC_FLAGS = ("--param", "ggc-min-expand=1000", "--param", "ggc-min-heapsize=1000000")
_HOT, _COLD = "-O3", "-O1"


@dataclass(frozen=True)
class Recipe:
    """The sources, flags and messages of a library to compile."""

    what: str
    sources: Sequence[Path]
    include: Sequence[Path]
    system_include: Sequence[Path]
    libraries: Sequence[Path] = ()
    flags: Sequence[str] = ()
    link_flags: Sequence[str] = LINK_FLAGS
    # names of sources whose code runs at most once per recording: compiled with -O1
    cold: Iterable[str] = field(default_factory=frozenset)
    advice: str = ""  # advice in the error message when it does not compile

    def units(self) -> list[tuple[str, list[Path], str]]:
        """Name, sources and optimisation of each translation unit. Few units, because parsing a framework's headers
        takes most of the time.
        """
        hot = [path for path in self.sources if path.name not in self.cold]
        cold = [path for path in self.sources if path.name in self.cold]
        return [unit for unit in (("adapter", hot, _HOT), ("beside", cold, _COLD)) if unit[1]]


def compile_library(recipe: Recipe, compiler: Compiler, place: Path) -> Path:
    """Compiles a library in the folder `place`. CompilationFailed: its text is the first error, `output` all output."""
    log_message("warn", f"compiling {recipe.what}, once; this takes some seconds ({compiler.command[0]})")
    began = time.monotonic()
    running = f"compiling {recipe.what}, once"
    with contextlib.ExitStack() as stack:
        units = []
        for name, sources, optimisation in recipe.units():
            command = compile_command(recipe, compiler, name, sources, optimisation, place)
            log_message("debug", " ".join(command))
            units.append(stack.enter_context(Child(command, place / f"{name}.log", running)))
        for unit in units:
            _require_success(unit)
    library = place / "adapter.so"
    objects = [str(place / f"{name}.o") for name, _, _ in recipe.units()]
    command = [*compiler.command, "-shared", "-o", str(library), *objects]
    command += [*recipe.link_flags, *map(str, recipe.libraries)]
    with Child(command, place / "link.log", running) as linking:
        _require_success(linking)
    log_message("warn", f"compiled {recipe.what} in {time.monotonic() - began:.1f} s, once")
    return library


def compile_command(
    recipe: Recipe, compiler: Compiler, name: str, sources: Sequence[Path], optimisation: str, place: Path
) -> list[str]:
    """Writes a translation unit and returns the command that compiles it."""
    unit = place / f"{name}.cc"
    unit.write_text("".join(f'#include "{path}"\n' for path in sources))
    command = [*compiler.command, *_FLAGS, *(_GCC_FLAGS if compiler.is_gcc() else ()), optimisation, *recipe.flags]
    command += [f"-I{folder}" for folder in recipe.include]
    for folder in recipe.system_include:
        command += ["-isystem", str(folder)]
    return [*command, "-c", "-o", str(place / f"{name}.o"), str(unit)]


def _require_success(child: Child) -> None:
    status = child.wait(COMPILE_LIMIT_S)
    if status != 0:
        error = child.failure(status)
        error.output = child.output()
        raise error
