# SPDX-License-Identifier: Apache-2.0
"""Recompiles: sentences have a different length in each step, and torch.compile compiles anew for each.

The backend `aot_eager` needs no compiler of C++; the default one takes longer for each length.
--mended: sentences are padded to one length.
"""

import torch
from torch.nn import functional

from gallery_run import Run

run = Run("recompiles", __doc__, steps=6)
LONGEST = 32


class Classifier(torch.nn.Module):
    def __init__(self, words=100, width=64):
        super().__init__()
        self.words = torch.nn.Embedding(words, width, padding_idx=0)
        self.mix = torch.nn.Linear(width, width)
        self.classify = torch.nn.Linear(width, 10)

    def forward(self, sentences):
        return self.classify(torch.tanh(self.mix(self.words(sentences))).mean(dim=1))


model = Classifier()
compiled = torch.compile(model, backend="aot_eager", dynamic=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
lengths = iter(range(LONGEST - run.warmup - run.steps, LONGEST))


def step():
    sentences = torch.randint(1, 100, (32, next(lengths)))
    if run.mended:
        sentences = functional.pad(sentences, (0, LONGEST - sentences.shape[1]))
    optimizer.zero_grad()
    functional.cross_entropy(compiled(sentences), torch.arange(32) % 10).backward()
    optimizer.step()


run.record(step)
