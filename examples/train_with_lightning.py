# SPDX-License-Identifier: Apache-2.0
"""A training by Lightning whose steps opscope records; as many processes as torchrun has started."""

import os

import torch
from lightning.pytorch import LightningModule, Trainer

from opscope.integrations.lightning import OpscopeProfiler


class Classifier(LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))

    def training_step(self, batch, batch_index):
        inputs, labels = batch
        return torch.nn.functional.cross_entropy(self.layers(inputs), labels)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def main():
    rows = torch.utils.data.TensorDataset(torch.randn(320, 64), torch.randint(10, (320,)))
    profiler = OpscopeProfiler("opscope-run", record_shapes=True, profile_memory=True)
    trainer = Trainer(
        profiler=profiler,
        max_steps=12,
        accelerator="cpu",
        devices=int(os.environ.get("LOCAL_WORLD_SIZE", 1)),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Classifier(), torch.utils.data.DataLoader(rows, batch_size=8))
    print("\n".join(profiler.files))


if __name__ == "__main__":
    main()
