# SPDX-License-Identifier: Apache-2.0
"""Tensors in the event tree: which is which, and how each lies in memory, as torch.profiler says it."""

import pytest
from test_torch_event_tree import ALL, both, nodes_of, tree_of

pytestmark = pytest.mark.framework("torch")


def storages():
    """Tensors that change their storage, share one, have none, or are no plain ones."""
    import torch

    value = torch.ones(1)
    kept = [value.storage()]
    for _ in range(3):
        value.set_()
        value.set_(torch.ones(1).storage())
        kept.append(value.storage())
    value.view_as(value)
    while kept:
        kept.pop()
    for size in range(1, 4):
        value.resize_((size,))
    first, other = torch.ones(4, 3), torch.ones(4, 1)
    first + other
    first.view(1, 12) * other
    torch.relu(first.resize_(128, 129))
    other.set_(torch.ones(4, 3).storage())
    other.cos()
    sparse = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
    (sparse + sparse).to_dense()
    if torch.backends.mkldnn.is_available():
        torch.ones(4, 3).to_mkldnn().relu().to_dense()
    torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    torch.cat([first, first])
    first.half(), first.bfloat16(), torch.complex(first, first), (first > 1).any()
    torch.arange(5, dtype=torch.int16).to(torch.uint8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("with_stack", [False, True])
def test_tensors_and_storages_are_numbered_as_torchs(with_stack):
    def numbers(prof):
        found, seen = [], {}
        for node in sorted(nodes_of(tree_of(prof)), key=lambda node: node.start_time_ns):
            tag, fields = node.typed
            if tag.name == "Allocation":
                # Which number a storage has does not matter, only which is which.
                storage = seen.setdefault(fields.allocation_id, len(seen))
                found.append((fields.id, storage, fields.alloc_size))
            elif tag.name == "TorchOp":
                inputs = [value for value in fields.inputs if not isinstance(value, (int, float, type(None)))]
                flat = [each for value in inputs for each in (value if isinstance(value, list) else [value])]
                found.append((node.name, [(t.id, t.storage_data_ptr is None, t.dtype, t.layout, t.dim) for t in flat]))
        return found

    ours, theirs = both(storages, record_shapes=True, profile_memory=True, with_stack=with_stack)
    assert len(numbers(theirs)) > 150
    for mine, other in zip(numbers(ours), numbers(theirs), strict=True):
        assert mine == other


@pytest.mark.filterwarnings("ignore")
def test_compressed_layouts_are_torchs():
    """The operators alone: torch keeps the parts of such tensors until its window ends, here they go when they go."""
    import torch

    def program():
        torch.ones(4, 3).to_sparse_csr().sin().to_dense()
        torch.ones(4, 4).to_sparse_csc().sin()
        torch.ones(4, 4).to_sparse_bsr((2, 2)).sin().to_dense()
        torch.ones(4, 4).to_sparse_bsc((2, 2)).to_dense()

    def layouts(prof):
        nodes = sorted(nodes_of(tree_of(prof)), key=lambda node: node.start_time_ns)
        operators = [node.typed[1] for node in nodes if node.typed[0].name == "TorchOp"]
        return [(one.name, [getattr(each, "layout", None) for each in one.inputs]) for one in operators]

    ours, theirs = both(program, record_shapes=True, profile_memory=True)
    assert layouts(ours) == layouts(theirs)
    found = {layout for _, inputs in layouts(ours) for layout in inputs}
    assert found >= {torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc}


def test_a_parameter_that_no_operator_took_has_a_layout_too():
    import torch

    module = torch.nn.Linear(2, 2)
    module.unused = torch.nn.Parameter(torch.ones(3))

    def held(prof):
        calls = [node.typed[1] for node in nodes_of(tree_of(prof)) if node.typed[0].name == "PyCall"]
        of_module = [call.module.parameters for call in calls if call.module is not None]
        return [[(name, tensor.layout) for name, tensor, _ in parameters] for parameters in of_module]

    ours, theirs = both(lambda: module(torch.ones(1, 2)), **ALL)
    assert held(ours) == held(theirs) == [[(name, torch.strided) for name in ("weight", "bias", "unused")]]
