# SPDX-License-Identifier: Apache-2.0
"""The facts of ``opscope doctor`` that only Python knows: the interpreter, its frameworks and their adapters. Imports
no framework; installed packages are found by their files.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from . import extras
from .adapters import cache, megengine_adapter, packaged_test_results, paddle_adapter, parts, python_calls
from .adapters.adapter import Adapter
from .adapters.compiler import find_compiler, install_line
from .adapters.cuda import cuda_source
from .adapters.errors import AdapterMissing
from .adapters.installed import package_folder
from .adapters.torch_adapter import adapter_for
from .adapters.torch_build import read_torch


def host_facts() -> dict:
    """The facts in the form of `_core.run_command_line`."""
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
        "frameworks": [*_torch_facts(), *_paddle_facts(), *_megengine_facts()],
        "extras": extras.facts(),
        **_cuda_facts(),
    }


def _cuda_facts() -> dict:
    """The CUPTI that would be used, and whether it can record; it is queried, and nothing stays enabled."""
    source = cuda_source()
    if source is None:
        return {"cupti": "", "cupti_version": 0, "cuda_detail": "CUDA is not recorded: opscope was built without"}
    detail = source.why_not()
    return {"cupti": source.cupti_path, "cupti_version": source.cupti_version, "cuda_detail": detail}


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
    wanted = adapter_for(build)
    facts = _framework_facts("torch", build.version, *_adapter_facts(wanted))
    found = None
    if facts["adapter"] == "prebuilt":
        found = packaged_test_results.known_parts(wanted)
    elif facts["adapter"] == "cached":
        found = parts.read_parts(Path(facts["detail"]))
    if found is not None:
        facts |= {"was_tried": True, "left_out": parts.left_out(found), "route": _route(found)}
    return [facts, _calls_facts()]


def _route(found: dict[str, str]) -> str:
    """How operators would be recorded."""
    if os.environ.get("OPSCOPE_TORCH_ROUTE"):
        return "callbacks (OPSCOPE_TORCH_ROUTE)"
    return "hooks" if found.get("hooks") == "" else "callbacks"


def _calls_facts() -> dict:
    """The library that with_stack and with_modules need."""
    wanted = python_calls.adapter()
    facts = _framework_facts("calls of Python", platform.python_version(), *_adapter_facts(wanted))
    # A library that fails its self-test is never stored in the cache.
    was_tried = facts["adapter"] == "cached" or (
        facts["adapter"] == "prebuilt" and python_calls.was_tried(wanted.carried)
    )
    return facts | {"was_tried": was_tried}


def _framework_facts(name: str, version: str, adapter: str, detail: str, install: str = "") -> dict:
    """An entry of "frameworks" without test results. ``adapter``, ``detail``, ``install``: of `_adapter_facts`."""
    facts = {"name": name, "version": version, "adapter": adapter, "detail": detail, "install": install}
    return facts | {"was_tried": False, "left_out": {}, "route": ""}


def _adapter_facts(wanted: Adapter) -> tuple[str, str, str]:
    """Origin of the adapter, as a word and in detail, and advice if there is none."""
    known = packaged_test_results.known_parts(wanted) if wanted.carried and wanted.parts else None
    if wanted.carried is not None and not parts.misfit(wanted.parts, known):
        return "prebuilt", str(wanted.carried), ""
    entry = wanted.cached()
    if entry is not None:
        return "cached", str(entry.library), ""
    if why := wanted.last_failure():
        return "none", f"its adapter could not be made: {why}", wanted.again
    if wanted.obstacle:
        return "none", parts.misfit(wanted.parts, known) or wanted.obstacle, ""
    if find_compiler() is None:
        return "none", "its adapter must be compiled, and there is no C++ compiler", install_line()
    folder, state, _, _ = _cache_facts()
    if state not in ("private", "not there yet"):
        own = f"export {cache.VARIABLE}=FOLDER, a folder of your own"
        return "none", f"its adapter must be compiled, and the cache folder {folder} is not usable: {state}", own
    return "compile", f"into {folder}", ""


def _paddle_facts() -> list[dict]:
    folder = package_folder("paddle")
    if folder is None:
        return []
    build = paddle_adapter.read_paddle(folder)
    if build is None:
        version = _version_of("paddlepaddle", "paddlepaddle-gpu")
        return [_framework_facts("paddle", version, "none", f"{folder} has no libphi_core.so (Paddle 3)")]
    facts, found = _carried_facts("paddle", build.version, paddle_adapter.adapter_for(build))
    if found is not None:
        facts |= {"left_out": parts.left_out(found), "route": paddle_adapter.capture_mode_of(found)}
    return [facts]


def _megengine_facts() -> list[dict]:
    folder = package_folder("megengine")
    if folder is None:
        return []
    build = megengine_adapter.read_megengine(folder)
    if build is None:
        detail = f"{folder} has no libmegengine_shared.so"
        return [_framework_facts("megengine", _version_of("megengine"), "none", detail)]
    wanted = megengine_adapter.adapter_for(build)
    facts, found = _carried_facts("megengine", build.version, wanted)
    return [facts | {"route": megengine_adapter.capture_mode_of(wanted, found)}]


def _carried_facts(name: str, version: str, wanted: Adapter) -> tuple[dict, dict[str, str] | None]:
    """Facts of a framework whose adapter is never compiled here, and the self-test's results; None: untested."""
    facts = _framework_facts(name, version, *_adapter_facts(wanted))
    found = packaged_test_results.known_parts(wanted) if facts["adapter"] == "prebuilt" else None
    return facts | {"was_tried": found is not None}, found


def _version_of(*distributions: str) -> str:
    """Version of the first of these distribution packages that is installed."""
    return next(filter(None, map(extras.version_of, distributions)), "of unknown version")
