# SPDX-License-Identifier: Apache-2.0
"""A training loop under paddle.profiler, and the same again under opscope.paddle, in one process.

    python paddle_profiled.py {lenet,mlp} [ARGUMENT=VALUE...]

Prints what each has seen: {"ours": {...}, "theirs": {...}}.
"""

import collections
import contextlib
import io
import json
import sys

import paddle
import paddle.profiler as original

import opscope.paddle as ours

STEPS = 8


def model(name):
    if name == "lenet":
        return paddle.vision.models.LeNet(), paddle.rand([4, 1, 28, 28])
    net = paddle.nn.Sequential(paddle.nn.Linear(16, 32), paddle.nn.ReLU(), paddle.nn.Linear(32, 4))
    return net, paddle.rand([8, 16])


class Data(paddle.io.Dataset):
    """A few samples."""

    def __getitem__(self, at):
        return float(at)

    def __len__(self):
        return STEPS


def walk(nodes, rows):
    for node in nodes:
        rows.append([node.name, str(node.type).rpartition(".")[2], len(node.mem_node)])
        walk(node.children_node, rows)


def run(profiler, name, arguments):
    net, inputs = model(name)
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    told, states, steps = [], [], []
    loader = iter(paddle.io.DataLoader(Data(), batch_size=1, num_workers=0))

    def ready(prof):
        told.append(prof.step_num)
        names = collections.Counter()
        rows = []
        for root in prof.profiler_result.get_data().values():
            walk(root.children_node, rows)
        for kind, event, _ in rows:
            names[f"{kind}|{event}"] += 1
        steps.append([dict(names), [kind for kind, _, _ in rows if kind.startswith("ProfileStep")]])

    prof = profiler.Profiler(on_trace_ready=ready, **arguments)
    with prof:
        for _ in range(STEPS):
            states.append(str(prof.current_state))
            next(loader, None)
            with profiler.RecordEvent("forward of mine"):
                loss = net(inputs).sum()
            loss.backward()
            adam.step()
            adam.clear_grad()
            prof.step(num_samples=4)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        prof.summary()
    return {"told": told, "states": states, "periods": steps, "summary": text.getvalue()}


def main():
    arguments = {}
    for argument in sys.argv[2:]:
        key, _, value = argument.partition("=")
        arguments[key] = json.loads(value)
    if isinstance(arguments.get("scheduler"), dict):
        arguments["scheduler"] = original.make_scheduler(**arguments["scheduler"])
    run(original, sys.argv[1], arguments)  # what happens once in a process
    seen = {"theirs": run(original, sys.argv[1], arguments), "ours": run(ours, sys.argv[1], arguments)}
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
