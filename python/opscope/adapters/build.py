# SPDX-License-Identifier: Apache-2.0
"""Compiles an adapter with the compiler that is there, and proves what works of it before anybody uses it."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..log import tell
from . import parts
from .child import Child, ending
from .compiler import Compiler
from .errors import CompilationFailed
from .framework import TorchBuild

COMPILE_LIMIT_S = 600.0
SELF_TEST_LIMIT_S = 180.0
_ADVICE = "pip install --upgrade opscope, or take a torch that its docs/torch.md lists"

# As CMake builds the one that the package carries. NDEBUG is part of torch's layouts. With -z defs a
# symbol that nothing provides stops the linker and not, later, the loader.
_FLAGS = ("-std=c++20", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden")
_LINK_FLAGS = ("-Wl,-z,defs",)
# Torch's slots may point into the adapter, so it is never unloaded; and its variables of threads need no room that a
# process may have run out of (src/sources/torch/drop_in.h): by descriptors, without which a call finds them.
_TORCH_LINK_FLAGS = (*_LINK_FLAGS, "-Wl,-z,nodelete")
_TLS_DESCRIPTORS = ("-mtls-dialect=gnu2", "-DOPSCOPE_TLS_DESCRIPTORS")
# GCC looks for what it may forget at 128 MB already, several times: a tenth of its time. It ends with 700 MB a unit.
_GCC_FLAGS = ("--param", "ggc-min-expand=1000", "--param", "ggc-min-heapsize=1000000")
_HOT, _COLD = "-O3", "-O1"
# What runs once per recording or less. Compiled as a second unit beside the first, of which both are mostly torch's
# headers: a third one would read those again.
_COLD_FILES = frozenset(
    "call_slots.cc drop_in_trial.cc global_changes.cc held_tensors.cc keyword_json.cc operator_kinds.cc own_cost.cc"
    " pointed_slots.cc profiler_presence.cc script_place.cc torch_source.cc".split()
)


@dataclass(frozen=True)
class Recipe:
    """What a library is made of."""

    what: str
    sources: Sequence[Path]
    include: Sequence[Path]
    system_include: Sequence[Path]
    libraries: Sequence[Path] = ()
    flags: Sequence[str] = ()
    link_flags: Sequence[str] = _LINK_FLAGS
    cold: Iterable[str] = field(default_factory=frozenset)  # names of sources

    def units(self) -> list[tuple[str, list[Path], str]]:
        """Name, sources and optimisation of what is compiled in one go: parsing a framework's headers is the work."""
        hot = [path for path in self.sources if path.name not in self.cold]
        cold = [path for path in self.sources if path.name in self.cold]
        return [unit for unit in (("adapter", hot, _HOT), ("beside", cold, _COLD)) if unit[1]]


def torch_recipe(
    build: TorchBuild,
    compiler: Compiler,
    sources: Sequence[Path],
    include: Sequence[Path],
    libraries: Path,
    without: Iterable[str] = (),
) -> Recipe:
    """The adapter for a torch, without some of its parts."""
    torch_include = build.folder / "include"
    gone = frozenset().union(*(parts.SOURCES[part] for part in without))
    return Recipe(
        what=f"the adapter for torch {build.version}",
        sources=[path for path in sources if path.name not in gone],
        include=include,
        system_include=[torch_include, torch_include / "torch/csrc/api/include"],
        libraries=[
            *(build.folder / "lib" / name for name in ("libtorch_cpu.so", "libc10.so")),
            libraries / "libopscope_recorder.so.1",
        ],
        flags=(
            f"-D_GLIBCXX_USE_CXX11_ABI={build.cxx11_abi}",
            f'-DOPSCOPE_TORCH_VERSION="{build.version}"',
            *(_TLS_DESCRIPTORS if platform.machine() == "x86_64" and compiler.is_gcc() else ()),
            *(_GCC_FLAGS if compiler.is_gcc() else ()),
            *parts.flags_without(without),
        ),
        link_flags=_TORCH_LINK_FLAGS,
        cold=_COLD_FILES,
    )


def build_library(
    build: TorchBuild,
    compiler: Compiler,
    sources: Sequence[Path],
    include: Sequence[Path],
    libraries: Path,
    place: Path,
) -> tuple[Path, dict[str, str] | None]:
    """Compiles and tests the adapter for torch in `place`: the library, and why each part was left out ("": it holds).

    A part that does not fit is left out; CompilationFailed has the first thing that went wrong with the rest.
    """
    missing: dict[str, str] = {}
    while True:
        recipe = torch_recipe(build, compiler, sources, include, libraries, missing)
        # Importing torch takes as long as some of the compiling: the self-test does it meanwhile.
        test = _start_self_test(f"testing {recipe.what}", place)
        with test or contextlib.nullcontext():
            try:
                library = compile_library(recipe, compiler, place)
                found = _try_parts(recipe.what, library, place, test, missing)
                unfit = {part: why for part, why in (found or {}).items() if why and part in parts.COMPILED_OUT}
            except CompilationFailed as error:
                part = parts.part_of(getattr(error, "output", ""))
                if not part or part in missing:
                    raise CompilationFailed(f"{error}; {_ADVICE}") from error
                unfit = {part: str(error)}
        unfit = {part: why for part, why in unfit.items() if part not in missing}
        if not unfit:
            return library, None if found is None else found | missing
        # What crashes in the self-test would do so in the job: it is compiled out.
        for part, why in unfit.items():
            tell("warn", f"{recipe.what} goes without {parts.LACKS[part]}: {why}")
        missing |= unfit


def try_library(what: str, library: Path, place: Path) -> dict[str, str] | None:
    """What the self-test says of each part of a finished adapter; None where it cannot be run here."""
    tell("warn", f"testing {what}, once")
    return _try_parts(what, library, place, _start_self_test(f"testing {what}", place), ())


def _start_self_test(what: str, place: Path) -> Child | None:
    python = _interpreter()
    if python is None:
        return None
    command = [python, "-m", "opscope.adapters.self_test"]
    return Child(command, place / "self-test.log", what, _environment(), listens=True)


def _try_parts(what: str, library: Path, place: Path, test: Child | None, without: Iterable[str]) -> dict | None:
    """What the self-test says of each part that the library has. After one in which it crashes the others are tried."""
    if test is None:
        _tell_untested(what)
        return None
    began = time.monotonic()
    crashed: dict[str, str] = {}
    while True:
        with test:
            test.say(json.dumps({"library": str(library), "without": sorted({*without, *crashed})}))
            status = test.wait(SELF_TEST_LIMIT_S)
            found = parts.parts_told(test.output())
            if found.get(parts.OPERATORS) != "":
                raise test.failure(status)
        broken = next((part for part, why in found.items() if why is None), "")
        if not broken:
            break
        crashed[broken] = parts.CRASHED + ending(status)
        test = _start_self_test(test.what, place)
    found |= crashed
    for part in (name for name, why in found.items() if why and name not in parts.COMPILED_OUT):
        tell("warn", f"{what} goes without {parts.LACKS.get(part, part)}: {found[part]}")
    tell("info", f"tested {what} in {time.monotonic() - began:.1f} s")
    return found


def compile_library(recipe: Recipe, compiler: Compiler, place: Path) -> Path:
    """Compiles a library in `place`; CompilationFailed has the first thing that went wrong, and `output` the rest."""
    tell("warn", f"compiling {recipe.what}, once; this takes some seconds ({compiler.command[0]})")
    began = time.monotonic()
    running = f"compiling {recipe.what}, once"
    with contextlib.ExitStack() as stack:
        units = []
        for name, sources, optimisation in recipe.units():
            command = compile_command(recipe, compiler, name, sources, optimisation, place)
            tell("debug", " ".join(command))
            units.append(stack.enter_context(Child(command, place / f"{name}.log", running)))
        for unit in units:
            _require_success(unit)
    library = place / "adapter.so"
    objects = [str(place / f"{name}.o") for name, _, _ in recipe.units()]
    command = [*compiler.command, "-shared", "-o", str(library), *objects]
    command += [*recipe.link_flags, *map(str, recipe.libraries)]
    with Child(command, place / "link.log", running) as linking:
        _require_success(linking)
    tell("warn", f"compiled {recipe.what} in {time.monotonic() - began:.1f} s, once")
    return library


def compile_command(
    recipe: Recipe, compiler: Compiler, name: str, sources: Sequence[Path], optimisation: str, place: Path
) -> list[str]:
    """Writes a unit, and what compiles it."""
    unit = place / f"{name}.cc"
    unit.write_text("".join(f'#include "{path}"\n' for path in sources))
    command = [*compiler.command, *_FLAGS, optimisation, *recipe.flags]
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


def test_library(what: str, library: Path, place: Path, module: str) -> None:
    """Runs the module on the library in a process of its own: what does not fit may crash."""
    python = _interpreter()
    if python is None:
        return _tell_untested(what)
    began = time.monotonic()
    command = [python, "-m", module, str(library)]
    with Child(command, place / "self-test.log", f"testing {what}", _environment()) as test:
        status = test.wait(SELF_TEST_LIMIT_S)
        if status != 0:
            raise test.failure(status)
    tell("info", f"tested {what} in {time.monotonic() - began:.1f} s")


def _tell_untested(what: str) -> None:
    tell("warn", f"{what} was not tested: this program embeds Python and has no interpreter beside it")


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path)}


def _interpreter() -> str | None:
    """This Python as a program; a program that embeds Python must not be started in its place."""
    candidates = [sys.executable or "", os.path.join(sys.exec_prefix, "bin", "python3")]
    for path in candidates:
        if os.path.basename(path).startswith("python") and shutil.which(path):
            return path
    return None
