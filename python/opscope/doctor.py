# SPDX-License-Identifier: Apache-2.0
"""What only Python can tell ``opscope doctor``: the interpreter, the frameworks in it and their adapters.

Imports no framework: what is installed is told from files.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path

from .adapters import cache, carried_verdict, parts, python_calls, torch_adapter
from .adapters.compiler import find_compiler, install_line
from .adapters.errors import AdapterMissing
from .adapters.framework import package_folder, read_torch

# Frameworks whose profilers opscope is to stand in for and cannot yet.
_LATER = (("paddle", ("paddlepaddle", "paddlepaddle-gpu")), ("megengine", ("megengine",)))


def host_facts() -> dict:
    """The facts as `_core.run_command_line` takes them."""
    compiler = find_compiler()
    folder, state, adapters, size = _cache_facts()
    return {
        "interpreter": f"{platform.python_implementation()} {platform.python_version()}",
        "executable": sys.executable or "",
        "package": str(Path(__file__).parent),
        "compiler": compiler.describe() if compiler is not None else "",
        "compiler_install": install_line(),
        "cache_folder": folder,
        "cache_state": state,
        "cache_adapters": adapters,
        "cache_bytes": size,
        "frameworks": [*_torch_facts(), *_later_facts()],
    }


def _cache_facts() -> tuple[str, str, int, int]:
    """Folder, state, valid adapters and their bytes."""
    try:
        folder = cache.cache_folder()
    except AdapterMissing as error:
        return "", f"refused: {error}", 0, 0
    try:
        why = cache.complaint(folder)
    except FileNotFoundError:
        return str(folder), _state_of_parent(folder), 0, 0
    except OSError as error:
        return str(folder), f"refused: {error.strerror}", 0, 0
    if why:
        return str(folder), f"refused: {why}", 0, 0
    places = [*folder.glob("torch-*"), *folder.glob("python-*")]
    found = [entry for place in places for entry in cache.entries(place) if entry.is_valid()]
    state = "private" if os.access(folder, os.W_OK | os.X_OK) else "private, not writable"
    return str(folder), state, len(found), sum(entry.library.stat().st_size for entry in found)


def _state_of_parent(folder: Path) -> str:
    parent = next(place for place in folder.parents if place.exists())
    if parent.is_dir() and os.access(parent, os.W_OK | os.X_OK):
        return "not there yet"
    return f"refused: not there yet, and {parent} cannot be written"


def _torch_facts() -> list[dict]:
    folder = package_folder("torch")
    build = read_torch(folder) if folder is not None else None
    if build is None:
        return []
    adapter, detail, install = _torch_adapter_facts(build)
    found = None
    if adapter == "prebuilt":
        found = carried_verdict.known_parts(build, Path(detail))
    elif adapter == "cached":
        found = parts.read_parts(Path(detail))
    torch = {
        "name": "torch",
        "version": build.version,
        "adapter": adapter,
        "detail": detail,
        "install": install,
        "was_tried": found is not None,
        "left_out": parts.left_out(found),
        "route": _route(found) if found is not None else "",
    }
    return [torch, _calls_facts()]


def _route(found: dict[str, str]) -> str:
    """What operators will be recorded by."""
    if os.environ.get("OPSCOPE_TORCH_ROUTE"):
        return "callbacks (OPSCOPE_TORCH_ROUTE)"
    return "drop-in functions" if found.get("drop_ins") == "" else "callbacks"


def _calls_facts() -> dict:
    """The library that with_stack and with_modules need."""
    install = ""
    if (path := python_calls.carried()) is not None:
        adapter, detail = "prebuilt", str(path)
    elif (entry := python_calls.cached()) is not None:
        adapter, detail = "cached", str(entry.library)
    elif why := python_calls.complaint():
        adapter, detail = "none", why
    elif find_compiler() is None:
        adapter, detail, install = "none", "its library must be compiled, and there is no C++ compiler", install_line()
    else:
        adapter, detail = "compile", f"into {_cache_facts()[0]}"
    return {
        "name": "calls of Python",
        "version": platform.python_version(),
        "adapter": adapter,
        "detail": detail,
        "install": install,
        # One that does not work is never put into the cache.
        "was_tried": adapter == "cached" or (adapter == "prebuilt" and python_calls.was_tried(path)),
        "left_out": {},
        "route": "",
    }


def _torch_adapter_facts(build) -> tuple[str, str, str]:
    path = torch_adapter.carried(build)
    if path is not None and not parts.misfit(carried_verdict.known_parts(build, path)):
        return "prebuilt", str(path), ""
    entry = torch_adapter.cached(build)
    if entry is not None:
        return "cached", str(entry.library), ""
    if why := torch_adapter.last_failure(build):
        return "none", f"its adapter could not be made: {why}", "opscope.torch.build_adapter() tries again"
    if build.headers == "":
        return "none", f"its adapter must be compiled, and {build.folder} has no headers", ""
    if find_compiler() is None:
        return "none", "its adapter must be compiled, and there is no C++ compiler", install_line()
    folder, state, _, _ = _cache_facts()
    if state not in ("private", "not there yet"):
        own = f"export {cache.VARIABLE}=FOLDER, a folder of your own"
        return "none", f"its adapter must be compiled, and the cache folder {folder} is not usable: {state}", own
    return "compile", f"into {folder}", ""


def _later_facts() -> list[dict]:
    found = []
    for name, distributions in _LATER:
        if package_folder(name) is None:
            continue
        found.append(
            {
                "name": name,
                "version": _version_of(distributions),
                "adapter": "none",
                "detail": "this version of opscope has no adapter for it",
                "install": "",
                "was_tried": False,
                "left_out": {},
                "route": "",
            }
        )
    return found


def _version_of(distributions: tuple[str, ...]) -> str:
    for name in distributions:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "of unknown version"
