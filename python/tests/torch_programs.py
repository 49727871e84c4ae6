# SPDX-License-Identifier: Apache-2.0
"""Programs whose operators opscope and torch.profiler must see alike.

Each function returns a callable that does one run; building it does the warm-up that must stay outside
the window. `python torch_compare.py` compares them by hand, the tests import them.
"""

import threading

import torch
import torch.utils.checkpoint
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        shapes = ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1))
        blocks, inputs = [], 64
        for outputs, stride in shapes:
            blocks.append(Block(inputs, outputs, stride))
            inputs = outputs
        self.layers = nn.Sequential(*blocks)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layers(x)), 1))


def resnet18():
    """ResNet-18 forward, backward and one SGD step, in a user range with a string argument."""
    torch.manual_seed(0)
    model = ResNet18(10)
    x, y = torch.randn(2, 3, 64, 64), torch.randint(0, 10, (2,))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def run():
        with torch.profiler.record_function("training_step", "batch 2"):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()

    run()
    return run


def transformer():
    """A TransformerEncoder training step, then evaluation under no_grad and inference_mode."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    x = torch.randn(4, 10, 32)
    optimizer = torch.optim.AdamW(model.parameters())

    def run():
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            model(x)
        with torch.inference_mode():
            model(x)
        model.train()

    run()
    return run


def mlp():
    """A small MLP training step: many cheap operators, the case where a profiler costs most."""
    torch.manual_seed(0)
    model = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(64, 64), nn.ReLU())], nn.Linear(64, 10))
    x, y = torch.randn(16, 64), torch.randint(0, 10, (16,))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def run():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    run()
    return run


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def _scripted(a, b):
    return torch.relu(a + b) * 2


def odd():
    """The rarely met: TorchScript, custom Function, sparse, nested, complex, vmap, checkpoint, fork, futures."""
    torch.manual_seed(0)
    script = torch.jit.script(_scripted)
    data = torch.utils.data.TensorDataset(torch.randn(8, 4))
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    x = torch.randn(4, 4, requires_grad=True)
    fast = torch._C._profiler._RecordFunctionFast("fast_range")
    fast_with_arguments = torch._C._profiler._RecordFunctionFast(
        "fast_arguments", [x.detach(), 3], {"a": 1, "b": 's"q\n', "c": 2.5, "d": True}
    )

    def other_thread():
        torch.mul(torch.ones(3), 2)

    def autograd_and_script():
        script(x, x).sum().backward()
        Doubled.apply(x).sum().backward()
        torch.utils.checkpoint.checkpoint(lambda a: a * a, x, use_reentrant=False).sum().backward()
        torch.func.vmap(lambda a: a + 1)(torch.ones(3, 2))
        torch.func.grad(lambda a: (a * a).sum())(torch.ones(3))
        torch.jit.wait(torch.jit.fork(script, x, x))

    def tensors_of_all_kinds():
        torch.cat([x, x])
        zeros = torch.zeros(4, 4)
        zeros[torch.tensor([1])] = 1.0
        zeros[:, torch.tensor([0, 2])]
        torch.einsum("ij,jk->ik", x, x)
        torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2)).to_dense()
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]) * 2
        torch.ones(2, 2, dtype=torch.complex64) + 1j
        torch.ops.aten.add.Scalar(x, 1.5)
        torch.add(x, x, alpha=2)
        x.to(torch.float64)
        x.t().contiguous()
        torch.zeros(0, 3).t() + 1
        torch.zeros(3, 0, 2).sum()
        torch.ones(3, 1).expand(3, 5) + 1
        torch.stack([x, x]).split(1)
        torch.arange(40).reshape(2, 2, 10).tolist()
        torch.ones([1] * 32).sum()
        torch.rand(3).numpy()
        torch.tensor(3.0).item()
        nn.functional.pad(x, (1, 1))
        torch._foreach_add([torch.ones(1)] * 35, 1.0)
        torch._foreach_mul([torch.ones(1, 2, 3)] * 400, 1.0)
        torch.nn.functional.interpolate(torch.ones(1, 1, 4, 4), scale_factor=2.0, mode="bilinear")

    def ranges():
        with fast:
            pass
        with fast_with_arguments:
            pass
        with torch.autograd.profiler.record_function("range 'with' \"quotes\"\n\tand \U0001f600"):
            pass
        with torch.autograd.profiler.record_function("awaited") as awaited:
            awaited._call_end_callbacks_on_future(torch.jit._fork(script, x, x)).wait()
        for _ in loader:
            pass
        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join()

    def run():
        autograd_and_script()
        tensors_of_all_kinds()
        ranges()

    run()
    return run


PROGRAMS = {"resnet18": resnet18, "transformer": transformer, "mlp": mlp, "odd": odd}
