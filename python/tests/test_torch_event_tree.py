# SPDX-License-Identifier: Apache-2.0
"""``experimental_event_tree()`` and what torch itself builds on it, beside torch.profiler's own."""

import contextlib
import io
import re

import pytest
from torch_oracle import decodable

pytestmark = pytest.mark.framework("torch")

ALL = {"record_shapes": True, "profile_memory": True, "with_stack": True}


def recorded(module, program, **options):
    """The second session of a process for the program: torch's first one knows no earlier blocks."""
    with module.profile(activities=[module.ProfilerActivity.CPU], **options) as prof:
        program()
    return prof


def both(program, **options):
    """(ours, torch's)."""
    import torch.profiler

    import opscope.torch

    program()
    return [
        decodable(lambda module=module: recorded(module, program, **options))
        for module in (opscope.torch, torch.profiler)
    ]


def tree_of(prof):
    return prof.profiler.kineto_results.experimental_event_tree()


def nodes_of(roots):
    for node in roots:
        yield node
        yield from nodes_of(node.children)


@pytest.fixture
def training():
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def train_step():
        value = torch.ones(2, 4)
        with torch.profiler.record_function("a range"):
            loss = net(value).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cat([value, value])
        torch.add(value, 2, alpha=3)
        torch.sum(value, (0, 1))

    train_step.net, train_step.optimizer = net, optimizer
    return train_step


def described(node, program, first):
    """What is torch's to the letter; addresses and lines of callers are not."""
    import torch

    tag, fields = node.typed
    text = [re.sub(r"0x\w+", "0x", node.name), tag.name, getattr(node, "overload_name", None), node.start_tid]
    tensor_type = torch._C._profiler._TensorMetadata

    def tensor(value):
        place = [value.id, value.device, value.dtype, value.layout, value.dim]
        return [list(value.sizes), list(value.strides), *place]

    def argument(value):
        if isinstance(value, list):
            return [tensor(each) for each in value]
        return tensor(value) if isinstance(value, tensor_type) else value

    if tag.name == "TorchOp":
        number = fields.sequence_number
        text += [fields.name, fields.scope, number - first if number >= 0 else number]
        text.append([argument(value) for value in fields.inputs])
    elif tag.name == "Allocation":
        text += [fields.id, fields.alloc_size, fields.device]
    elif tag.name == "PyCall":
        text += [*frame(fields.callsite), fields.caller.file_name, fields.caller.function_name]
        if fields.module is not None:
            is_there = [fields.module.self_ptr == id(module) for module in program.net.modules()]
            held = [(name, p.id, g and g.id, list(p.sizes)) for name, p, g in fields.module.parameters]
            text += [fields.module.cls_name, is_there if held else None, held]
        if fields.optimizer is not None:
            owner = fields.optimizer.self_ptr == id(program.optimizer)
            text += [
                owner,
                [
                    (p.id, g and g.id, [(name, s.id) for name, s in state])
                    for p, g, state in fields.optimizer.parameters
                ],
            ]
    elif tag.name == "PyCCall":
        text += [fields.caller.file_name, fields.caller.function_name]
    return text


def frame(state):
    return [state.file_name, state.line_number, state.function_name]


def subtree(prof, program):
    """The nodes below the program's call, outlined."""
    (top,) = [node for node in nodes_of(tree_of(prof)) if node.name.endswith(f": {program.__name__}")]
    lines = []
    numbers = [node.extra_fields.sequence_number for node in nodes_of([top]) if node.tag.name == "TorchOp"]
    first = min((number for number in numbers if number >= 0), default=0)  # torch counts on over the process

    def add(node, depth):
        assert node.duration_time_ns == node.end_time_ns - node.start_time_ns >= 0
        lines.append([depth, *described(node, program, first)])
        for child in node.children:
            assert child.parent is node
            assert child.start_time_ns >= node.start_time_ns
            add(child, depth + 1)

    add(top, 0)
    return lines


def test_the_tree_is_torchs(training):
    ours, theirs = (subtree(prof, training) for prof in both(training, **ALL))
    assert len(theirs) > 150
    for mine, other in zip(ours, theirs, strict=True):
        assert mine == other


@pytest.mark.parametrize("options", [{}, {"record_shapes": True}, {"profile_memory": True}, {"with_stack": True}])
def test_with_fewer_flags_the_tree_has_what_they_ask_for(training, options):
    ours, theirs = both(training, **options)

    def outline(nodes):
        return [(node.name, node.tag, outline(node.children)) for node in nodes if "PyC" not in node.tag.name]

    if not options.get("with_stack"):
        assert outline(tree_of(ours)) == outline(tree_of(theirs))
    for prof in (ours, theirs):
        operators = [node for node in nodes_of(tree_of(prof)) if node.name == "aten::addmm"]
        assert len(operators) == 2
        shapes = [list(value.sizes) for value in operators[0].extra_fields.inputs[:3]]
        assert shapes == ([[8], [2, 4], [4, 8]] if options.get("record_shapes") else [])


@pytest.mark.torch_has("KinetoEvent.end_ns")
def test_nodes_are_the_same_objects_and_numbered(training):
    from opscope.torch import features

    ours, _ = both(training, **ALL)
    first = list(nodes_of(tree_of(ours)))
    assert all(one is other for one, other in zip(first, nodes_of(tree_of(ours)), strict=True))
    assert len({node.id for node in first}) == len(first)
    assert all(node.parent is None for node in tree_of(ours))
    unlisted = () if features.has("KinetoEvent.is_python_function") else ("PyCall", "PyCCall")
    listed = [node for node in sorted(first, key=lambda node: node.id) if node.tag.name not in unlisted]
    for node, event in zip(listed, ours.profiler.kineto_results.events(), strict=True):
        assert (node.name, node.start_time_ns, node.end_time_ns) == (event.name(), event.start_ns(), event.end_ns())
        assert node.correlation_id == (event.correlation_id() if node.tag.name == "TorchOp" else 0)


def test_tensors_are_those_of_the_program():
    import torch

    import opscope.torch

    value = torch.ones(4)
    prof = recorded(opscope.torch, lambda: value.add_(1), **ALL)
    (add,) = [node for node in nodes_of(tree_of(prof)) if node.name == "aten::add_"]
    tensor, number, alpha = add.extra_fields.inputs  # torch makes a tensor of the number
    assert tensor.storage_data_ptr == value.untyped_storage().data_ptr()
    assert isinstance(tensor, torch._C._profiler._TensorMetadata)
    assert (number.sizes, alpha) == ([], 1)
    with pytest.raises(AttributeError):
        tensor.sizes = []


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_modules_and_optimizers_have_their_tensors_by_name_without_shapes(kind):
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    frozen = torch.ones(3, requires_grad=True)  # has no gradient, and so no state
    options = {"SGD": {"lr": 0.1, "momentum": 0.9}, "Adam": {"foreach": True}}[kind]
    optimizer = getattr(torch.optim, kind)([frozen, *net.parameters()], **options)

    def train_step():
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()

    def address(tensor):
        return tensor.untyped_storage().data_ptr()

    for prof in both(train_step, with_stack=True, profile_memory=True):
        calls = [node.extra_fields for node in nodes_of(tree_of(prof)) if node.tag.name == "PyCall"]
        modules = [call.module.parameters for call in calls if call.module and call.module.parameters]
        layers = [
            [(name, address(p), address(p.grad)) for name, p in layer._parameters.items()] for layer in (net[0], net[2])
        ]
        found = [[(n, p.storage_data_ptr, g.storage_data_ptr) for n, p, g in held] for held in modules]
        assert found == layers
        (told,) = {call.optimizer.self_ptr: call.optimizer for call in calls if call.optimizer}.values()
        assert told.self_ptr == id(optimizer)
        states = {p.storage_data_ptr: {n: s.storage_data_ptr for n, s in state} for p, _, state in told.parameters}
        assert list(states) == [address(p) for p in optimizer.param_groups[0]["params"]]
        assert states == {
            address(p): {name: address(value) for name, value in optimizer.state.get(p, {}).items()}
            for p in (frozen, *net.parameters())
        }


def test_names_of_what_is_held_are_in_the_file_and_survive_a_merge(training, tmp_path):
    import opscope
    import opscope.torch

    prof = recorded(opscope.torch, training, **ALL)
    prof.save(tmp_path / "a.opscope")
    prof.save(tmp_path / "b.opscope")

    def names(trace):
        held = trace.held_tensors
        return sorted(zip(map(int, held.held_as), (name or "" for name in held.text("name")), strict=True))

    assert {name for role, name in names(prof.trace) if role == 0} >= {"weight", "bias"}
    assert {name for role, name in names(prof.trace) if role == 2} == {"momentum_buffer"}
    assert names(opscope.open(tmp_path / "a.opscope")) == names(prof.trace)
    merged = opscope.merge([tmp_path / "a.opscope", tmp_path / "b.opscope"])
    assert names(merged) == sorted(names(prof.trace) * 2)


def timeline(profile):
    return [
        (
            action.name,
            str(key.device),
            version,
            size,
            profile._categories.get(key, version) and profile._categories.get(key, version).name,
        )
        for _, action, (key, version), size in profile.timeline
    ]


def test_the_memory_profile_is_torchs(training):
    ours, theirs = (timeline(prof._memory_profile()) for prof in both(training, **ALL))
    assert len(theirs) > 50
    assert ours == theirs
    assert {"PARAMETER", "OPTIMIZER_STATE", "GRADIENT", "ACTIVATION"} <= {row[-1] for row in ours}


@pytest.mark.parametrize("missing", ALL)
def test_the_memory_profile_names_the_flags_that_it_lacks(training, missing):
    ours, theirs = both(training, **{**ALL, missing: False})
    for prof in (ours, theirs):
        with pytest.raises(ValueError, match=f"^{missing}=True required for memory profiling.$"):
            prof._memory_profile()


def test_torchs_readers_of_the_tree_work_on_it(training):
    pytest.importorskip("torch.profiler._pattern_matcher", reason="this torch has no such readers")
    from torch.profiler._pattern_matcher import report_all_anti_patterns
    from torch.profiler._utils import BasicEvaluation

    found = []
    for prof in both(training, **ALL):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            report_all_anti_patterns(prof, should_benchmark=False, print_enable=True)
        evaluation = BasicEvaluation(prof.profiler)
        names = [key.event.name for key in evaluation.event_keys if key.event.name.startswith("aten::")]
        found.append((re.findall(r"^(\w.*) : \d+ events matched", told.getvalue(), re.MULTILINE), names))
    assert found[0] == found[1]


def test_the_tree_of_nothing_is_empty():
    import opscope.torch

    prof = recorded(opscope.torch, lambda: None)
    assert tree_of(prof) == []


def test_the_tree_needs_no_method_that_events_of_an_older_torch_lack(monkeypatch):
    import torch

    import opscope.torch
    from opscope.torch import features

    def described():
        prof = recorded(opscope.torch, lambda: torch.nn.Linear(2, 2)(torch.ones(2)), **ALL)
        return [
            (re.sub(" at 0x.*", "", node.name), node.tag, getattr(node, "overload_name", None), node.end_time_ns > 0)
            for node in nodes_of(tree_of(prof))
        ]

    kind = opscope.torch.kineto_results.KinetoEvent
    known = {name.partition(".")[2] for name in features.known() if name.startswith("KinetoEvent.")}
    later = {name for name in known if hasattr(kind, name)}
    told = []
    for lacking in (set(), set(), later):  # the first one knows no earlier blocks
        for name in lacking:
            monkeypatch.delattr(kind, name)
        told.append(described())
    assert told[2] == told[1]
    assert len({tag for _, tag, _, _ in told[1]}) >= 3
