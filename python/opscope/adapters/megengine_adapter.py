# SPDX-License-Identifier: Apache-2.0
"""The adapter for a build of MegEngine: one library in the package, for a few known builds.

MegEngine's own recorder records; the library reads its records from memory. It knows the record layouts of some
commits of MegEngine. Each installed build is tested in a separate process before records are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .adapter import LIBRARIES, Adapter
from .installed import assigned_text
from .parts import misfit

# Commits of MegEngine whose record layouts the library knows, by the version built from them.
KNOWN_COMMITS = {"dffd8dd64eeaca26cb54082599ac2e77b815dd60": "1.13.0"}
_LIBRARY = "libopscope_megengine.so"


@dataclass(frozen=True)
class MegEngineBuild:
    """One installed MegEngine."""

    folder: Path
    version: str  # "1.13.0"
    commit: str  # may be empty
    core: str  # size and modification time of the library whose memory is read

    @property
    def is_known(self) -> bool:
        """Whether the library knows the layouts of its records."""
        return self.commit in KNOWN_COMMITS


def read_megengine(folder: Path) -> MegEngineBuild | None:
    """The build in this folder; None if it is not MegEngine with a native library."""
    try:
        text = (folder / "version.py").read_text(encoding="utf-8", errors="replace")
        status = next((folder / "core/lib").glob("libmegengine_shared.so*")).stat()
    except (OSError, StopIteration):
        return None

    version = assigned_text(text, "__version__")
    core = f"{status.st_size} {status.st_mtime_ns}"
    return MegEngineBuild(folder, version, assigned_text(text, "git_version"), core) if version else None


def adapter_for(build: MegEngineBuild) -> Adapter:
    """The Adapter for this build."""
    path = LIBRARIES / _LIBRARY
    what = f"the adapter for MegEngine {build.version}"
    if not path.exists():
        obstacle = f"{what} is not compiled here: this opscope was built with another one, or without"
    else:
        known = ", ".join(sorted(set(KNOWN_COMMITS.values())))
        obstacle = f"{what}: how this build keeps its records is not known (known: {known})"
    return Adapter(
        what=what,
        name=f"megengine-{build.version}",
        facts=(build.version, build.commit, build.core),
        obstacle=obstacle,
        carried=path if path.exists() and build.is_known else None,
        parts={},
        self_test="opscope.adapters.megengine_self_test",
        must_be_tried=True,
    )


def capture_mode_of(wanted: Adapter, found: Mapping[str, str] | None) -> str:
    """How windows are read: from MegEngine's records in memory, or from the file that MegEngine writes."""
    why = wanted.obstacle if wanted.carried is None else misfit({}, found)
    return f"MegEngine's own file: {why}" if why else "records in memory"
