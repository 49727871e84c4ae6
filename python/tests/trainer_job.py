# SPDX-License-Identifier: Apache-2.0
"""A training of a library's own trainer, profiled as that library does it: with torch.profiler, then under ``patch()``.

Run as ``trainer_job.py TRAINER FOLDER``: what each run counted goes to FOLDER/counts.json, the files that the library
writes to FOLDER/{torch,opscope}/. Models are small and have random weights; nothing is loaded from anywhere.
"""

import collections
import contextlib
import json
import os
import sys
import warnings
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TOKENIZERS_PARALLELISM="false")
warnings.simplefilter("ignore")

import torch  # noqa: E402
import torch.profiler  # noqa: E402

STEPS = 5
PLAN = {"wait": 1, "warmup": 1, "active": 2, "repeat": 1}


def counts_of(events):
    """How often each event, of which parent, occurs in a list of events, and what its table counts."""
    nested = collections.Counter(f"{e.cpu_parent and e.cpu_parent.name} > {e.name}" for e in events)
    rows = {f"{row.key} {row.input_shapes}": row.count for row in events.key_averages(group_by_input_shapes=True)}
    return {"made_by": type(events).__module__.partition(".")[0], "events": nested, "rows": rows}


def transformers(folder):
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

    counted = []

    class Profiling(TrainerCallback):
        def on_train_begin(self, arguments, state, control, **_):
            self.prof = torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU],
                schedule=torch.profiler.schedule(**PLAN),
                on_trace_ready=lambda prof: counted.append(counts_of(prof.events())),
                record_shapes=True,
            )
            self.prof.start()

        def on_step_end(self, arguments, state, control, **_):
            self.prof.step()

        def on_train_end(self, arguments, state, control, **_):
            self.prof.stop()

    config = BertConfig(
        vocab_size=64,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
    )
    row = {"input_ids": torch.arange(8), "attention_mask": torch.ones(8, dtype=torch.long), "labels": torch.tensor(1)}
    trainer = Trainer(
        model=BertForSequenceClassification(config),
        args=TrainingArguments(
            output_dir=str(folder),
            max_steps=STEPS,
            per_device_train_batch_size=2,
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=[row] * 16,
        callbacks=[Profiling()],
    )
    trainer.train()
    return counted


def pytorch_lightning(folder):
    import pytorch_lightning
    from pytorch_lightning.profilers import PyTorchProfiler

    class Layer(pytorch_lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 2)

        def training_step(self, batch, batch_index):
            return self.layer(batch).pow(2).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    profiler = PyTorchProfiler(
        dirpath=str(folder),
        filename="profile",
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(**PLAN),
        record_shapes=True,
        row_limit=-1,
    )
    trainer = pytorch_lightning.Trainer(
        max_steps=STEPS,
        accelerator="cpu",
        profiler=profiler,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=str(folder),
    )
    trainer.fit(Layer(), torch.utils.data.DataLoader(torch.ones(16, 8), batch_size=2))
    return [counts_of(profiler.function_events)]


def accelerate(folder):
    from accelerate import Accelerator, ProfileKwargs

    counted = []
    handler = ProfileKwargs(
        activities=["cpu"],
        schedule_option={**PLAN, "skip_first": 0},
        on_trace_ready=lambda prof: counted.append(counts_of(prof.events())),
        record_shapes=True,
    )
    accelerator = Accelerator(cpu=True, kwargs_handlers=[handler])
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    rows = torch.utils.data.DataLoader(torch.ones(16, 8), batch_size=2)
    model, optimizer, rows = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), rows)
    with accelerator.profile() as prof:
        for batch in rows:
            accelerator.backward(model(batch).sum())
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    return counted


TRAINERS = {"transformers": transformers, "pytorch_lightning": pytorch_lightning, "accelerate": accelerate}


def main(trainer, folder):
    import opscope.torch

    counts = {}
    for made_by in ("torch", "opscope"):
        (folder / made_by).mkdir()
        with opscope.torch.patch() if made_by == "opscope" else contextlib.nullcontext():
            counts[made_by] = TRAINERS[trainer](folder / made_by)
    (folder / "counts.json").write_text(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
