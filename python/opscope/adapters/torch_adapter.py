# SPDX-License-Identifier: Apache-2.0
"""The adapter for a build of torch: its sources, its dependencies, and the one that the package carries.

Python is not part of the key: the adapter calls no Python.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from pathlib import Path

from .adapter import INCLUDE, LIBRARIES, Adapter, source_files
from .build import LINK_FLAGS, Recipe
from .compiler import Compiler
from .parts import Part, flags_without, sources_of
from .run_self_test import build_in_parts
from .torch_build import TorchBuild

FOLDERS = ("sources/got", "sources/streams", "sources/torch")
SELF_TEST = "opscope.adapters.torch_self_test"
PARTS = {
    "memory": Part("allocations (profile_memory)", frozenset({"allocations.cc", "live_block_sizes.cc"})),
    "profiler_state": Part("ranges of torch._C._profiler._RecordFunctionFast", frozenset({"profiler_state.cc"})),
    "stacks": Part("the call stacks and modules of TorchScript", frozenset({"script_stack.cc"})),
    "hooks": Part(
        "hooks in torch's GOT entries (without them recorded operators cost twice as much)",
        frozenset(
            {
                "call_site_cache.cc",
                "call_site_cache.h",
                "callback_version.cc",
                "capture_mode.cc",
                "deferred_refcounts.cc",
                "deferred_refcounts.h",
                "hook_probe.cc",
                "node_ranges.cc",
                "node_ranges.h",
                "range_hooks.cc",
                "range_hooks.h",
                "range_layout.h",
            }
        ),
        is_compiled_out=False,
    ),
}

# torch may keep pointers into the adapter, so it is never unloaded. Its thread-local variables use TLS descriptors,
# because the process may have no room left in its static TLS block (src/sources/torch/hooks/range_hooks.h); without
# descriptors each access would call __tls_get_addr.
_LINK_FLAGS = (*LINK_FLAGS, "-Wl,-z,nodelete")
_TLS_DESCRIPTORS = ("-mtls-dialect=gnu2", "-DOPSCOPE_TLS_DESCRIPTORS")
# Code that runs at most once per recording, and the names of autograd's nodes, whose header is the largest. It is a
# second translation unit beside the first. Both consist mostly of torch's headers, so a third unit would only parse
# those again.
_COLD_FILES = frozenset(
    "callback_pool.cc callback_version.cc failures.cc got_entries.cc hook_probe.cc keyword_json.cc "
    "node_ranges.cc operator_signatures.cc overhead.cc patched_entries.cc profiler_state.cc "
    "referenced_tensors.cc script_stack.cc torch_source.cc".split()
)
_ADVICE = "pip install --upgrade opscope, or take a torch that its docs/reference/torch_versions.md lists"


def carried(build: TorchBuild) -> Path | None:
    """The package's adapter if it was built for this torch; otherwise None.

    Builds of one release for several devices (``+cpu``, ``+cu130``) have the same layouts; builds between two releases
    match only for the same commit.
    """
    for note in sorted(LIBRARIES.glob("libopscope_torch_*.json")):
        try:
            noted = json.loads(note.read_text())
            release, git, cxx11_abi = noted["version"].partition("+")[0], noted["git"], noted["cxx11_abi"]
        except (OSError, ValueError, KeyError):
            continue
        is_same = release == build.release and (build.is_final or (git != "" and git == build.git))
        library = note.with_suffix(".so")
        if is_same and cxx11_abi == build.cxx11_abi and library.exists():
            return library
    return None


def adapter_for(build: TorchBuild) -> Adapter:
    """The Adapter for this build."""
    what = f"the adapter for torch {build.version}"

    def make(compiler: Compiler, place: Path) -> tuple[Path, dict]:
        library, found = build_in_parts(
            PARTS, lambda without: recipe(build, compiler, without), compiler, place, SELF_TEST
        )
        facts = {"torch": build.version, "git": build.git, "cxx11_abi": build.cxx11_abi}
        return library, facts | ({} if found is None else {"parts": found})

    return Adapter(
        what=what,
        name=f"torch-{build.version}",
        facts=(build.version, build.git, build.cxx11_abi, build.headers),
        folders=FOLDERS,
        make=make,
        carried=carried(build),
        parts=PARTS,
        self_test=SELF_TEST,
        again="opscope.torch.build_adapter() tries again",
        obstacle="" if build.headers else f"{what} cannot be compiled: {build.folder} has no headers",
    )


def recipe(build: TorchBuild, compiler: Compiler, without: Iterable[str] = ()) -> Recipe:
    """Sources and flags, without the parts in `without`."""
    torch_include = build.folder / "include"
    gone = sources_of(PARTS, without)
    return Recipe(
        what=f"the adapter for torch {build.version}",
        sources=[path for path in source_files(FOLDERS) if path.name not in gone],
        include=INCLUDE,
        system_include=[torch_include, torch_include / "torch/csrc/api/include"],
        libraries=[
            *(build.folder / "lib" / name for name in ("libtorch_cpu.so", "libc10.so")),
            LIBRARIES / "libopscope_recorder.so.1",
        ],
        flags=(
            f"-D_GLIBCXX_USE_CXX11_ABI={build.cxx11_abi}",
            f'-DOPSCOPE_TORCH_VERSION="{build.version}"',
            *(_TLS_DESCRIPTORS if platform.machine() == "x86_64" and compiler.is_gcc() else ()),
            *flags_without(without),
        ),
        link_flags=_LINK_FLAGS,
        cold=_COLD_FILES,
        advice=_ADVICE,
    )
