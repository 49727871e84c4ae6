# SPDX-License-Identifier: Apache-2.0
"""Small trainings by the trainers of other libraries, for the tests of opscope.integrations.

``train(host, profiling, steps=N)`` trains N steps with a profiler, a callback or a handler of that host. ``fails_in``:
"model" or "data", which raises ``failure`` in step ``fails_at``. ``accumulated``: batches for one update.
"""

import importlib
import os
import warnings

os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TOKENIZERS_PARALLELISM="false")

import torch

BATCH = 2


class Failure(Exception):
    """The fault of a training."""


class Rows(torch.utils.data.Dataset):
    def __init__(self, count, fails_at=None):
        self.count, self.fails_at = count, fails_at

    def __len__(self):
        return self.count

    def __getitem__(self, at):
        if self.fails_at is not None and at >= self.fails_at:
            raise Failure("data")
        return {"x": torch.ones(8)}


class Layers(torch.nn.Module):
    """A model as transformers' Trainer takes it: it returns its loss."""

    def __init__(self, fails_at=None, failure=Failure):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
        self.calls, self.fails_at, self.failure = 0, fails_at, failure

    def forward(self, x):
        self.calls += 1
        if self.calls - 1 == self.fails_at:
            raise self.failure("model")
        return {"loss": self.layers(x).pow(2).mean()}


def parts(batches, fails_in, fails_at, failure):
    """(model, rows): no row is used twice."""
    in_data = BATCH * fails_at if fails_in == "data" else None
    return Layers(fails_at if fails_in == "model" else None, failure), Rows(BATCH * (batches + 4), in_data)


def with_transformers(callback, folder, steps, model, rows, resumed, accumulated):
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(
        output_dir=str(folder / "checkpoints"),
        max_steps=steps,
        per_device_train_batch_size=BATCH,
        gradient_accumulation_steps=accumulated,
        use_cpu=True,
        report_to=[],
        save_steps=4,
        save_strategy="steps" if resumed else "no",
        logging_strategy="no",
        disable_tqdm=True,
        optim="sgd",
        max_grad_norm=0,
    )

    class InOrder(Trainer):
        def _get_train_sampler(self, *_):
            return torch.utils.data.SequentialSampler(rows)

    trainer = InOrder(model=model, args=arguments, train_dataset=rows, callbacks=[callback])
    trainer.train(resume_from_checkpoint=str(folder / "checkpoints" / "checkpoint-4") if resumed == "again" else None)
    return trainer


def with_lightning(package, profiler, folder, steps, model, rows, resumed, accumulated):
    module = importlib.import_module({"lightning": "lightning.pytorch"}.get(package, package))

    class Wrapped(module.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, batch_index):
            return self.model(batch["x"])

        validation_step = training_step

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    trainer = module.Trainer(
        max_steps=steps,
        accumulate_grad_batches=accumulated,
        accelerator="cpu",
        profiler=profiler,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=str(folder),
    )
    loader = torch.utils.data.DataLoader(rows, batch_size=BATCH)
    wrapped = Wrapped()
    if steps == 0:
        trainer.validate(wrapped, loader, verbose=False)
        return trainer
    checkpoint = folder / "checkpoint.ckpt"
    trainer.fit(wrapped, loader, ckpt_path=str(checkpoint) if resumed == "again" else None)
    if resumed == "first":
        trainer.save_checkpoint(checkpoint)
    return trainer


def with_accelerate(handler, steps, model, rows):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, kwargs_handlers=[handler])
    loader = torch.utils.data.DataLoader(rows, batch_size=BATCH)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), loader)
    with accelerator.profile() as prof:
        for step, batch in enumerate(loader):
            if step == steps:
                break
            accelerator.backward(model(**batch)["loss"])
            optimizer.step()
            optimizer.zero_grad()
            prof.step()


def train(host, profiling, folder, *, steps, fails_in="", fails_at=0, failure=Failure, resumed="", accumulated=1):
    """``resumed``: "first" leaves a checkpoint at step 4, "again" begins with it."""
    model, rows = parts(max(steps, 1) * accumulated, fails_in, fails_at, failure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, message="(?!opscope)")
        warnings.filterwarnings("ignore", category=FutureWarning)
        if host == "transformers":
            return with_transformers(profiling, folder, steps, model, rows, resumed, accumulated)
        if host == "accelerate":
            return with_accelerate(profiling, steps, model, rows)
        return with_lightning(host, profiling, folder, steps, model, rows, resumed, accumulated)
