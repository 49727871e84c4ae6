# SPDX-License-Identifier: Apache-2.0
"""Names that programs give to nodes of CUDA graphs: ``torch.cuda._graph_annotations``, in torch from 2.13 on."""

from __future__ import annotations

import json
import sys
from typing import Any


def node_annotations() -> dict[int, Any]:
    """The program's name of each node, by the node's number; names may be None."""
    registry = sys.modules.get("torch.cuda._graph_annotations")  # a program that names nodes has imported it
    return registry.get_kernel_annotations() if registry is not None else {}


def names_of_graph_nodes() -> str:
    """Members of "args" for each named node, by its number, as JSON; "" if there are none."""
    named = {str(node): _members(name) for node, name in node_annotations().items() if name is not None}
    return json.dumps(named) if named else ""


def _members(annotation: object) -> str:
    """The members for an annotation, as torch writes them: those of an object, or one called "annotation"."""
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
