# SPDX-License-Identifier: Apache-2.0
"""A training loop under one of two profilers.

    python paddle_profiled.py {paddle.profiler,opscope.paddle} {lenet,mlp} [ARGUMENT=VALUE...]

Prints what the profiler has seen of the second run of the loop, as an object.
"""

import collections
import contextlib
import importlib
import io
import json
import sys
import threading

import paddle

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


def loaded():
    """An iterator over the samples whose thread has ended: a thread that allocates memory beside the main one makes
    Paddle's own recorder corrupt the heap (docs/explanation/paddle_recording.md).
    """
    loader = iter(paddle.io.DataLoader(Data(), batch_size=1, num_workers=0, prefetch_factor=STEPS + 1))
    for thread in set(threading.enumerate()) - {threading.main_thread()}:
        thread.join()
    return loader


def run(profiler, name, arguments):
    net, inputs = model(name)
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    told, states, steps = [], [], []
    loader = loaded()

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
    module, name, *given = sys.argv[1:]
    profiler = importlib.import_module(module)
    arguments = {key: json.loads(value) for key, _, value in (argument.partition("=") for argument in given)}
    if isinstance(arguments.get("scheduler"), dict):
        arguments["scheduler"] = profiler.make_scheduler(**arguments["scheduler"])
    run(profiler, name, arguments)  # what happens once in a process
    print(json.dumps(run(profiler, name, arguments)))


if __name__ == "__main__":
    main()
