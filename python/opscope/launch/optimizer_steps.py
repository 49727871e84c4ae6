# SPDX-License-Identifier: Apache-2.0
"""Finds the ends of a program's steps by the steps of its optimizers."""

from __future__ import annotations

import weakref


class OptimizerSteps:
    """A step of the program ends when the leading optimizer has stepped. The first optimizer that steps is the leader.

    A program with several optimizers (a GAN) steps each of them once in a step. Another optimizer becomes the leader if
    the leader was destroyed, or if the other one steps twice while the leader does not step.
    """

    def __init__(self) -> None:
        self._leader: weakref.ref | None = None
        self._others: set[int] = set()  # ids of optimizers that have stepped since the leader did

    def ends_step(self, optimizer: object) -> bool:
        """Whether this step of this optimizer ends a step of the program."""
        leader = None if self._leader is None else self._leader()
        if leader is not None and leader is not optimizer and id(optimizer) not in self._others:
            self._others.add(id(optimizer))
            return False
        if leader is not optimizer:
            self._leader = weakref.ref(optimizer)
        self._others.clear()
        return True
