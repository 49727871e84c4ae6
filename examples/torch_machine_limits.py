# SPDX-License-Identifier: Apache-2.0
"""Records a training step, and beside it what this machine reaches: docs/how-to/compare_with_the_machine.md."""

# [step]
import torch

from opscope.torch import profile

model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512))
inputs = torch.randn(256, 512)
model(inputs).sum().backward()  # the first step prepares memory
with profile(record_shapes=True) as prof:
    for _ in range(5):
        model(inputs).sum().backward()
prof.save("run.opscope")

# [limits]
matrix = torch.randn(2048, 2048)  # the processor has enough to compute
source = torch.randn(32, 1024, 1024)  # 128 MiB do not fit into a cache
target = source.clone()
matrix @ matrix
with profile(record_shapes=True) as limits:
    for _ in range(10):
        matrix @ matrix
        target.copy_(source)
rows = {row["name"]: row for row in limits.trace.roofline()}
print(f"--peak-flops {rows['aten::mm']['tflops_per_s'] * 1e12:.3g}", end=" ")
print(f"--peak-bandwidth {rows['aten::copy_']['gb_per_s'] * 1e9:.3g}")
