# SPDX-License-Identifier: Apache-2.0
"""Slow first step: the program splits all of its text into words when the first step wants some of them.

--mended: the words are in a file, which another program wrote once.
"""

import functools
import warnings

import torch
from torch.nn import functional

from gallery_run import Run
from opscope.torch import record_function

run = Run("slow_first_step", __doc__, warmup=0)
warnings.filterwarnings("ignore", "Profiler won't be using warmup")  # the first step is what it is about
file = run.stem.with_name("words.pt")


def split_text():
    text = "in the beginning was the word and the word was long " * 200_000
    numbers = {}
    return torch.tensor([numbers.setdefault(word, len(numbers)) for word in text.split()])


@functools.cache
def words():
    with record_function("words"):
        return torch.load(file) if run.mended else split_text()


if run.mended and not file.exists():
    torch.save(split_text(), file)  # what the other program does
model = torch.nn.Sequential(torch.nn.Embedding(10, 64), torch.nn.Linear(64, 1024), torch.nn.Linear(1024, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step():
    start = torch.randint(10_000, ())
    batch = words()[start : start + 257]
    optimizer.zero_grad()
    functional.cross_entropy(model(batch[:-1]), batch[1:]).backward()
    optimizer.step()


run.record(step)
