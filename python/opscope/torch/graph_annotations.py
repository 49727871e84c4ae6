# SPDX-License-Identifier: Apache-2.0
"""Names that programs give to nodes of CUDA graphs: ``torch.cuda._graph_annotations``, in torch from 2.13 on."""

from __future__ import annotations

import json
import sys


def names_of_graph_nodes() -> str:
    """Members of "args" for each named node, by its number, as JSON; "" if there are none."""
    registry = sys.modules.get("torch.cuda._graph_annotations")  # a program that has named nodes has imported it
    annotations = registry.get_kernel_annotations() if registry is not None else {}
    named = {str(node): _members(annotation) for node, annotation in annotations.items() if annotation is not None}
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
