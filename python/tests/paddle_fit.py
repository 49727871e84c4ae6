# SPDX-License-Identifier: Apache-2.0
"""A small training by paddle.Model.fit. As a program, ``paddle_fit.py FILE``: under paddle.profiler, which writes FILE
with two of its steps.
"""

import sys

import paddle

BATCH = 2


class Failure(Exception):
    """The fault of a training."""


class Rows(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, at):
        return paddle.ones([8]).numpy(), paddle.ones([2]).numpy()


class Raising(paddle.callbacks.Callback):
    """Another callback, which fails."""

    def __init__(self, fails_at):
        super().__init__()
        self.fails_at = fails_at

    def on_train_batch_begin(self, step, logs=None):
        if step == self.fails_at:
            raise Failure("callback")


class Layers(paddle.nn.Layer):
    def __init__(self, fails_at=None, failure=Failure):
        super().__init__()
        self.layers = paddle.nn.Sequential(paddle.nn.Linear(8, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
        self.calls, self.fails_at, self.failure = 0, fails_at, failure

    def forward(self, x):
        self.calls += 1
        if self.calls - 1 == self.fails_at:
            raise self.failure("model")
        return self.layers(x)


def fit(callback, *, steps, epochs=1, fails_in="", fails_at=0, failure=Failure):
    """``steps`` in each epoch. ``fails_in``: "model", which raises ``failure`` in step ``fails_at``, or "callback"."""
    layers = Layers(fails_at if fails_in == "model" else None, failure)
    model = paddle.Model(layers)
    model.prepare(paddle.optimizer.SGD(parameters=layers.parameters()), paddle.nn.MSELoss())
    callbacks = [callback, Raising(fails_at if fails_in == "callback" else None)]
    model.fit(Rows(BATCH * steps), callbacks=callbacks, batch_size=BATCH, epochs=epochs, verbose=0, shuffle=False)


class UnderPaddle(paddle.callbacks.Callback):
    """Records by paddle.profiler."""

    def __init__(self, scheduler, on_trace_ready, **options):
        super().__init__()
        cpu = [paddle.profiler.ProfilerTarget.CPU]
        self.prof = paddle.profiler.Profiler(targets=cpu, scheduler=scheduler, on_trace_ready=on_trace_ready, **options)

    def on_train_begin(self, logs=None):
        self.prof.start()

    def on_train_batch_end(self, step, logs=None):
        self.prof.step()

    def on_train_end(self, logs=None):
        self.prof.stop()


if __name__ == "__main__":
    two_steps = paddle.profiler.make_scheduler(closed=1, ready=1, record=2, repeat=1)
    fit(UnderPaddle(two_steps, lambda prof: prof.export(sys.argv[1], "json")), steps=6)
