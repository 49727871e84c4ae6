# SPDX-License-Identifier: Apache-2.0
"""CUDA's graphs beside a framework: what they are made of is watched, since records of their work do not say it."""

from __future__ import annotations

import weakref

from ..adapters.cuda import cuda_source


def watch(owner: object) -> str:
    """CUPTI tells what graphs are made of, for as long as ``owner`` lives. "" or one line that says why it cannot."""
    source = cuda_source()
    if source is None:
        return "this opscope was built without its CUDA source"
    why = source.watch_graphs(True)
    if not why:
        weakref.finalize(owner, source.watch_graphs, False)
    return why
