# SPDX-License-Identifier: Apache-2.0
"""with_flops: torch's own formulas to the number, further ones against torch's FlopCounterMode."""

import json

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count  # noqa: E402

import opscope.torch  # noqa: E402

# Counted by the profilers, but not by FlopCounterMode, which knows products only.
ELEMENTWISE = ("aten::mul", "aten::add")
EMBEDDINGS = ("aten::embedding_dense_backward",)


# FlopCounterMode's formulas for attention, given to the kernels that it does not know.
CPU_ATTENTION = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: lambda *shapes, **_: sdpa_flop_count(*shapes[:3]),
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: (
        lambda *shapes, **_: sdpa_backward_flop_count(*shapes[:4])
    ),
}


class ManyConvolutions(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(4, 8, 3, padding=1),
            nn.Conv2d(8, 8, 3, stride=2, groups=groups),
            nn.Conv2d(8, 6, 3, dilation=2),
            nn.ConvTranspose2d(6, 4, 3, stride=2),
            nn.Flatten(2),
            nn.Conv1d(4, 5, 4, stride=3),
        )

    def forward(self, x):
        return self.layers(x)


def convolutions(groups=1):
    model, x = ManyConvolutions(groups), torch.randn(2, 4, 17, 19)
    return lambda: model(x).square().mean().backward()


def grouped_convolutions():
    return convolutions(groups=4)


def transformer():
    """Linear layers, scaled_dot_product_attention on CPU, layer norm, a training step."""
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    x = torch.randn(3, 7, 32, requires_grad=True)
    return lambda: layer(x).square().mean().backward()


def attention():
    q, k, v = (torch.randn(2, 3, n, 8, requires_grad=True) for n in (5, 7, 7))
    return lambda: nn.functional.scaled_dot_product_attention(q, k, v).sum().backward()


def products():
    a, b, c = torch.randn(6, 5), torch.randn(5, 4), torch.randn(6, 4)
    a3, b3, c3 = (m.expand(3, *m.shape) for m in (a, b, c))

    def run():
        torch.mm(a, b)
        torch.addmm(c, a, b)
        torch.bmm(a3, b3)
        torch.baddbmm(c3, a3, b3)
        nn.functional.linear(a3, b.t())

    return run


def recorded(program, module=opscope.torch, **options):
    program()  # warm: the first run of oneDNN packs weights
    with module.profile(activities=[module.ProfilerActivity.CPU], with_flops=True, **options) as prof:
        program()
    return prof


PROGRAMS = {
    function.__name__: function for function in (convolutions, grouped_convolutions, transformer, attention, products)
}
# Its gradient of a weight in groups counts as if there were one group; flops_test.cc counts that by hand.
COUNTED_ALIKE = [name for name in PROGRAMS if name != "grouped_convolutions"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_equals_torch_profiler_where_that_has_a_formula(name):
    program = PROGRAMS[name]()
    theirs = {row.key: row.flops for row in recorded(program, torch.profiler).key_averages() if row.flops}
    with opscope.torch.compat():
        ours = {row.key: row.flops for row in recorded(program).key_averages() if row.flops}
    assert ours == theirs
    assert theirs or name == "attention"


@pytest.mark.parametrize("name", COUNTED_ALIKE)
def test_sums_up_to_what_flop_counter_mode_counts(name):
    program = PROGRAMS[name]()
    prof = recorded(program)
    with FlopCounterMode(display=False, custom_mapping=CPU_ATTENTION) as counter:
        program()
    ours = sum(row.flops for row in prof.key_averages() if row.key not in ELEMENTWISE + EMBEDDINGS)
    assert ours == counter.get_total_flops() > 0


def test_counts_gradients_of_embeddings():
    table, rows = nn.Embedding(50, 8), torch.randint(0, 50, (3, 4))
    prof = recorded(lambda: table(rows).sum().backward())
    flops = {row.key: row.flops for row in prof.key_averages()}
    assert flops["aten::embedding"] == 0
    assert flops["aten::embedding_dense_backward"] == 3 * 4 * 8


def test_the_table_has_the_column_and_the_trace_the_flag(tmp_path):
    prof = recorded(convolutions())
    table = prof.key_averages().table(sort_by="flops", row_limit=3)
    assert "FLOPs" in table.splitlines()[1]
    assert "aten::convolution_backward" in table
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    document = json.loads((tmp_path / "trace.json").read_text())
    assert document["with_flops"] == 1
    # As with torch.profiler, FLOPs alone record the shapes that they are counted from.
    assert any(event.input_shapes for event in prof.events())
    assert any("Input Dims" in event.get("args", {}) for event in document["traceEvents"])


def test_nested_tensors_and_odd_arguments_do_not_raise():
    nested = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
    prof = recorded(lambda: (nested * 2, torch.add(torch.ones(2), 1)))
    assert prof.key_averages().table()


def test_the_summary_tells_operations_per_second():
    rows = {row["name"]: row for row in recorded(products()).trace.summary()}
    product = rows["aten::mm"]
    assert product["flops"] == 2 * 6 * 5 * 4
    assert product["flops_per_s"] == pytest.approx(product["flops"] / (product["total_with_recursion_ns"] * 1e-9))
    assert rows["aten::t"]["flops_per_s"] == 0
