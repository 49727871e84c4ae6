# SPDX-License-Identifier: Apache-2.0
"""A training by the Trainer of transformers whose steps opscope records; the model is small and has random weights."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from opscope.integrations.transformers import OpscopeCallback


def main():
    config = BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
    row = {"input_ids": torch.arange(16), "attention_mask": torch.ones(16, dtype=torch.long), "labels": 1}
    callback = OpscopeCallback("opscope-run", record_shapes=True, profile_memory=True)
    trainer = Trainer(
        callbacks=[callback],
        model=BertForSequenceClassification(config),
        train_dataset=[row] * 64,
        args=TrainingArguments(
            output_dir="checkpoints",
            max_steps=12,
            per_device_train_batch_size=4,
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        ),
    )
    trainer.train()
    print("\n".join(callback.files))


if __name__ == "__main__":
    main()
