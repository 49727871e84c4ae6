# SPDX-License-Identifier: Apache-2.0
"""The Paddle source that the package carries, and what was seen of it beside the installed Paddle.

One library serves every Paddle. Which of its parts fit is tried in a process of its own, once for each build of Paddle
and of the library; the verdict stays in the cache.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..log import tell
from . import cache
from .adapter import LIBRARIES
from .carried_verdict import kept_or_found
from .child import Child, ending, environment, interpreter
from .errors import AdapterMissing, CacheUnusable, CompilationFailed
from .installed import package_folder
from .parts import CRASHED, parts_told

PARTS = ("slots", "shapes", "attributes", "memory", "drain")
# What a recording lacks without it.
LACKS: Mapping[str, str] = {
    "slots": "events by the slots of Paddle's libraries",
    "shapes": "the shapes of operators' arguments (record_shapes)",
    "attributes": "the attributes of operators",
    "memory": "allocations (profile_memory)",
    "drain": "events by Paddle's own recorder",
}
SELF_TEST_LIMIT_S = 180.0


@dataclass(frozen=True)
class PaddleBuild:
    """One installed Paddle."""

    folder: Path
    version: str  # "3.3.1"
    commit: str  # may be empty
    core: str  # size and time of the library that is looked into


def installed() -> PaddleBuild | None:
    """The installed Paddle, from its files: importing it takes seconds. None: there is none that opscope knows."""
    folder = package_folder("paddle")
    return read_paddle(folder) if folder is not None else None


def read_paddle(folder: Path) -> PaddleBuild | None:
    """The build in this folder; None where it is no Paddle with a libphi_core.so."""
    try:
        text = (folder / "version/__init__.py").read_text(encoding="utf-8", errors="replace")
        status = (folder / "libs/libphi_core.so").stat()
    except OSError:
        return None

    def assigned(name: str) -> str:
        found = re.search(rf"^{name}\s*=\s*['\"]([^'\"]*)['\"]", text, re.MULTILINE)
        return found.group(1) if found else ""

    version = assigned("full_version")
    return (
        PaddleBuild(folder, version, assigned("commit"), f"{status.st_size} {status.st_mtime_ns}") if version else None
    )


def library() -> Path:
    """The library of the source; AdapterMissing when the package lacks it."""
    path = LIBRARIES / "libopscope_paddle.so"
    if not path.exists():
        raise AdapterMissing(f"this opscope was built without its Paddle source: {path} is not there")
    return path


@functools.cache
def _kept(build: PaddleBuild, path: Path) -> Path:
    """Where the cache has the verdict; it goes with the bytes of the library."""
    facts = [build.version, build.commit, build.core, hashlib.sha256(path.read_bytes()).hexdigest()]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    version = re.sub(r"[^\w.+-]", "_", build.version)
    return cache.cache_folder() / f"paddle-{version}-{key}" / "verdict.json"


def _read(kept: Path) -> dict[str, str] | None:
    try:
        if any(cache.complaint(folder) for folder in (kept.parent.parent, kept.parent)):
            return None
        found = json.loads(kept.read_text()).get("parts")
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, dict) and set(found) == set(PARTS) else None


def known_verdict(build: PaddleBuild) -> dict[str, str] | None:
    """Why each part does not fit, "" where it does; None: it was not tried. Tries nothing."""
    try:
        return _read(_kept(build, library()))
    except (AdapterMissing, CacheUnusable, OSError):
        return None


def verdict(build: PaddleBuild) -> dict[str, str]:
    """As above, tried now where it was not."""
    path = library()
    untold: dict[str, str] = {}  # what is not worth keeping

    def attempt(place: Path) -> dict[str, str] | None:
        found, is_told = try_library(build, path, place)
        if not is_told:
            untold.update(found)
        return found if is_told else None

    try:
        return kept_or_found(_kept(build, path), "the Paddle source", _read, attempt) or untold
    except CacheUnusable as error:  # this process needs it all the same
        tell("info", f"what the test of the Paddle source shows is not kept: {error}")
        with tempfile.TemporaryDirectory() as place:
            return try_library(build, path, Path(place))[0]


def try_library(build: PaddleBuild, path: Path, place: Path) -> tuple[dict[str, str], bool]:
    """What the self-test says of each part; after one in which it crashes the others are tried. False: it said nothing,
    and may say more another time.
    """
    what = f"testing the Paddle source with Paddle {build.version}"
    tell("warn", f"{what}, once")
    crashed: dict[str, str] = {}
    told: dict[str, str | None] = {}
    try:
        while True:
            status, output = _self_test(what, [str(path), *crashed], place)
            told |= parts_told(output)
            broken = next((part for part, why in told.items() if why is None and part not in crashed), "")
            if not broken:
                break
            crashed[broken] = CRASHED + ending(status)
        last = (output.splitlines() or ["no output"])[-1].strip()[:200]
        untold = f"the self-test ended before it ({ending(status)}): {last}"
    except CompilationFailed as error:
        untold = str(error)
    found = {part: crashed.get(part) or _text(told.get(part), untold) for part in PARTS}
    for part, why in found.items():
        if why:
            tell("warn", f"Paddle {build.version} is recorded without {LACKS[part]}: {why}")
    return found, bool(told)


def _text(why: str | None, untold: str) -> str:
    return untold if why is None else why


def _self_test(what: str, arguments: list[str], place: Path) -> tuple[int, str]:
    python = interpreter()
    if python is None:
        raise CompilationFailed("this program embeds Python and has no interpreter beside it for the self-test")
    command = [python, "-m", "opscope.adapters.paddle_self_test", *arguments]
    with Child(command, place / "self-test.log", what, environment()) as test:
        status = test.wait(SELF_TEST_LIMIT_S)
        return status, test.output()


def route_of(found: Mapping[str, str]) -> str:
    """How events would be recorded, in the words of a recording's option `paddle_route`."""
    if not found["slots"]:
        return "slots"
    return f"{'none' if found['drain'] else 'drain'}: {found['slots']}"
