# SPDX-License-Identifier: Apache-2.0
"""Makes the cases of this folder with the real torch.profiler: per case its exported trace and the text
of key_averages(...).table(...) for each line of tables.tsv, taken from the same run.

    python make.py            # all cases
    python make.py mlp_steps  # one
"""

import gzip
import json
import pathlib
import shutil
import sys
import tempfile
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

HERE = pathlib.Path(__file__).parent
CPU = [ProfilerActivity.CPU]


class Block(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.short = None
        if stride != 1 or channels_in != channels:
            self.short = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + (x if self.short is None else self.short(x)))


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels_in = 64
    for channels, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(channels_in, channels, stride), Block(channels, channels, 1)]
        channels_in = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def mlp():
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))


def train_step(model, optimizer):
    loss = nn.functional.cross_entropy(model(torch.randn(16, 32)), torch.randint(0, 10, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def resnet_forward():
    model, x = resnet18().eval(), torch.randn(5, 3, 224, 224)
    with torch.no_grad():
        model(x)
    with profile(activities=CPU, record_shapes=True) as prof:
        with record_function("model_inference"):
            model(x)
    return prof


def mlp_steps():
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with profile(activities=CPU, schedule=schedule(wait=1, warmup=1, active=3, repeat=1)) as prof:
        for _ in range(5):
            with record_function("train_step"):
                train_step(model, optimizer)
            prof.step()
    return prof


def adam_memory():
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, foreach=False)
    keep = []
    with profile(activities=CPU, record_shapes=True, profile_memory=True) as prof:
        for _ in range(2):
            train_step(model, optimizer)
            keep.append(torch.ones(1000))
        del keep
    return prof


def flops_and_shapes():
    conv = nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=2)
    a, b = torch.randn(24, 40), torch.randn(40, 56)
    with profile(activities=CPU, record_shapes=True, with_flops=True) as prof:
        y = conv(torch.randn(2, 8, 30, 30)) * 3 + 1
        torch.mm(a, b)
        torch.bmm(a.expand(3, 24, 40), b.expand(3, 40, 56))
        torch.addmm(torch.zeros(24, 56), a, b)
        torch.baddbmm(torch.zeros(3, 24, 56), a.expand(3, 24, 40), b.expand(3, 40, 56))
        y.sum().backward()
    return prof


def odd_names():
    names = [
        "a name that is longer than the fifty-five columns it gets by default",
        "Pi",
        "_ZN2at6detail3fooEv",
        "exactly fifty-two characters long, cut by torch 123.",
        "x",
    ]
    with profile(activities=CPU) as prof:
        for name in names:
            with record_function(name):
                for _ in range(3):
                    torch.zeros(3) + 1
                with record_function(name):
                    torch.ones(2)
    return prof


def no_time():
    with profile(activities=CPU) as prof:
        pass
    return prof


def start_two(x):
    return torch.jit.fork(torch.mm, x, x), torch.jit.fork(torch.tanh, x)


def threads():
    scripted = torch.jit.script(start_two)
    with profile(activities=CPU, record_shapes=True) as prof:
        for _ in range(20):
            for future in scripted(torch.ones(30, 30)):
                while not future.done():
                    time.sleep(0.001)
        model = mlp()
        model(torch.randn(16, 32)).sum().backward()
    return prof


def python_functions():
    model = mlp()
    with profile(activities=CPU, with_stack=True) as prof:
        with record_function("forward"):
            model(torch.randn(16, 32)).sum().backward()
    return prof


CASES = {
    "resnet_forward": (
        resnet_forward,
        [
            ({}, {"sort_by": "cpu_time_total", "row_limit": 10}),
            ({}, {"row_limit": -1}),
            ({"group_by_input_shape": True}, {"sort_by": "cpu_time_total", "row_limit": 10}),
            (
                {"group_by_input_shape": True},
                {
                    "sort_by": "self_cpu_time_total",
                    "row_limit": 30,
                    "max_shapes_column_width": 20,
                    "max_name_column_width": 20,
                },
            ),
        ],
    ),
    "mlp_steps": (
        mlp_steps,
        [
            ({}, {}),
            ({}, {"sort_by": "self_cuda_time_total", "row_limit": 0}),
            ({}, {"sort_by": "count", "row_limit": 12, "time_unit": "ms"}),
            ({}, {"sort_by": "cpu_time", "header": "steps of an MLP", "top_level_events_only": True}),
            ({}, {"sort_by": "self_cpu_time_total", "max_name_column_width": None, "time_unit": "s"}),
        ],
    ),
    "adam_memory": (
        adam_memory,
        [
            ({}, {"sort_by": "self_cpu_memory_usage", "row_limit": -1}),
            ({"group_by_input_shape": True}, {"sort_by": "cpu_memory_usage", "row_limit": 20}),
        ],
    ),
    "flops_and_shapes": (
        flops_and_shapes,
        [
            ({}, {"sort_by": "flops", "row_limit": 10}),
            ({"group_by_input_shape": True}, {"row_limit": -1, "time_unit": "us"}),
        ],
    ),
    "odd_names": (
        odd_names,
        [
            ({}, {}),
            ({}, {"max_name_column_width": 8}),
            ({}, {"max_name_column_width": 2, "row_limit": 5}),
        ],
    ),
    "no_time": (no_time, [({}, {})]),
    "threads": (threads, [({}, {}), ({"group_by_input_shape": True}, {"sort_by": "cpu_time_total"})]),
    "python_functions": (python_functions, [({}, {"row_limit": -1})]),
}


def write(name):
    make, tables = CASES[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    torch.manual_seed(0)
    prof = make()
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "trace.json"
        prof.export_chrome_trace(str(path))
        text = path.read_text().replace(str(path), "trace.json")
    document = json.loads(text)
    text = text.replace(f'"{document["host_name"]}"', '"host"')
    with open(folder / "trace.json.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as packed:
        packed.write(text.encode())
    listed = []
    for number, (averages, table) in enumerate(tables):
        (folder / f"table_{number}.txt").write_text(prof.key_averages(**averages).table(**table))
        arguments = [f"{key}={value}" for key, value in (averages | table).items()]
        listed.append("\t".join([f"table_{number}.txt", *arguments]) + "\n")
    (folder / "tables.tsv").write_text("".join(listed))


if __name__ == "__main__":
    torch.set_num_threads(2)
    for case in sys.argv[1:] or CASES:
        write(case)
