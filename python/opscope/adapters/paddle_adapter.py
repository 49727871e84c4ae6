# SPDX-License-Identifier: Apache-2.0
"""The adapter for a build of Paddle: one library in the package, for all versions of Paddle.

Which of its parts work is tested in a separate process, once for each build of Paddle and of the library. Untested
parts are not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .adapter import LIBRARIES, Adapter
from .installed import assigned_text
from .parts import Part

PARTS = {
    "hooks": Part("events by hooks in the GOT entries of Paddle's libraries", is_compiled_out=False),
    "shapes": Part("the shapes of operators' arguments (record_shapes)", is_compiled_out=False),
    "attributes": Part("the attributes of operators", is_compiled_out=False),
    "memory": Part("allocations (profile_memory)", is_compiled_out=False),
    "drain": Part("events by Paddle's own recorder", is_compiled_out=False),
    "native": Part("events by Paddle's own profiler", is_compiled_out=False),
    "wrappers": Part("operators by wrappers of Paddle's functions", is_compiled_out=False),
}
_LIBRARY = "libopscope_paddle.so"


@dataclass(frozen=True)
class PaddleBuild:
    """One installed Paddle."""

    folder: Path
    version: str  # "3.3.1"
    commit: str  # may be empty
    core: str  # size and modification time of the library whose symbols are looked up


# names of Paddle 3 and later, and of earlier versions
_CORES = ("libs/libphi_core.so", "base/libpaddle.so", "fluid/libpaddle.so")


def read_paddle(folder: Path) -> PaddleBuild | None:
    """The build in this folder; None if it is not Paddle."""
    try:
        text = (folder / "version/__init__.py").read_text(encoding="utf-8", errors="replace")
        status = next(path for core in _CORES if (path := folder / core).exists()).stat()
    except (OSError, StopIteration):
        return None

    version, commit = assigned_text(text, "full_version"), assigned_text(text, "commit")
    core = f"{status.st_size} {status.st_mtime_ns}"
    return PaddleBuild(folder, version, commit, core) if version else None


def adapter_for(build: PaddleBuild) -> Adapter:
    """The Adapter for this build."""
    path = LIBRARIES / _LIBRARY
    what = f"the adapter for Paddle {build.version}"
    return Adapter(
        what=what,
        name=f"paddle-{build.version}",
        facts=(build.version, build.commit, build.core),
        obstacle=f"{what} is not compiled here: this opscope was built with another one, or without",
        carried=path if path.exists() else None,
        parts=PARTS,
        self_test="opscope.adapters.paddle_self_test",
        must_be_tried=True,
    )


CAPTURE_MODES = ("hooks", "drain", "native", "wrappers")  # parts, in order of preference


def capture_mode_of(found: Mapping[str, str]) -> str:
    """The way in which events are recorded: the value of the recording's option `paddle_route`."""
    mode = next((mode for mode in CAPTURE_MODES if not found.get(mode)), "none")
    return mode if mode == "hooks" else f"{mode}: {found['hooks']}"
