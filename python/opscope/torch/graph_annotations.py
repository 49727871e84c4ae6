# SPDX-License-Identifier: Apache-2.0
"""What programs call nodes of CUDA graphs: ``torch.cuda._graph_annotations``, where torch has it (from 2.13 on)."""

from __future__ import annotations

import json
import sys


def names_of_graph_nodes() -> str:
    """Members of the "args" of each node that has a name, by its number, as JSON; "" where there are none."""
    registry = sys.modules.get("torch.cuda._graph_annotations")  # who has named a node has imported it
    annotations = registry.get_kernel_annotations() if registry is not None else {}
    named = {str(node): _members(annotation) for node, annotation in annotations.items() if annotation is not None}
    return json.dumps(named) if named else ""


def _members(annotation: object) -> str:
    """As torch spreads them over the "args": an object's members, or one called "annotation"."""
    if isinstance(annotation, str):
        try:
            annotation = json.loads(annotation)
        except json.JSONDecodeError:
            pass
    if isinstance(annotation, list):
        annotation = json.dumps(annotation, default=str)
    if not isinstance(annotation, dict):
        annotation = {"annotation": annotation}
    return json.dumps({str(key): value for key, value in annotation.items()}, default=str)[1:-1]
