# SPDX-License-Identifier: Apache-2.0
"""A training loop with Accelerate whose steps opscope records."""

import torch
from accelerate import Accelerator

from opscope.integrations.accelerate import OpscopeProfileKwargs


def main():
    steps = {"wait": 5, "warmup": 1, "active": 5, "repeat": 1}
    handler = OpscopeProfileKwargs(dirpath="opscope-run", schedule_option=steps, record_shapes=True)
    accelerator = Accelerator(cpu=True, kwargs_handlers=[handler])
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    rows = torch.utils.data.TensorDataset(torch.randn(192, 64), torch.randint(10, (192,)))
    loader = torch.utils.data.DataLoader(rows, batch_size=8)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), loader)
    with accelerator.profile() as prof:
        for inputs, labels in loader:
            accelerator.backward(torch.nn.functional.cross_entropy(model(inputs), labels))
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    print("\n".join(handler.files))


if __name__ == "__main__":
    main()
