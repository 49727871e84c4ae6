# SPDX-License-Identifier: Apache-2.0
"""Records the structure of CUDA graphs when they are captured, because the records of a launched graph do not contain
it.
"""

from __future__ import annotations

import weakref

from ..adapters.cuda import cuda_source


def watch(owner: object) -> str:
    """Watches the creation of graphs as long as ``owner`` lives. Returns "", or one line that says why it cannot."""
    source = cuda_source()
    if source is None:
        return "this opscope was built without its CUDA source"
    why = source.watch_graphs(True)
    if not why:
        weakref.finalize(owner, source.watch_graphs, False)
    return why
