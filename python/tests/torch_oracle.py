# SPDX-License-Identifier: Apache-2.0
"""torch.profiler as the oracle of tests: it beside opscope.torch, and its profiles, which need patience."""

import gc


def both_modules():
    import torch.profiler

    import opscope.torch

    return torch.profiler, opscope.torch


def schedule_of(module, names, after="NONE"):
    """A schedule that returns the actions with these names step by step, and then `after`."""
    return lambda step: module.ProfilerAction[names[step] if step < len(names) else after]


def decodable(record, *, tries=50):
    """What ``record()`` gives, a profile, once every name in it is text.

    torch.profiler 2.13 with stacks reads the names of some C functions from memory that was freed meanwhile, so that
    now and then ``events()`` raises UnicodeDecodeError. Nothing is collected meanwhile: what other tests have left may
    run code of its own when it goes, in one of two recordings that are compared.
    """
    for _ in range(tries):
        prof = _without_collector(record)
        try:
            for event in prof.profiler.kineto_results.events():
                event.name()
        except UnicodeDecodeError:
            continue
        return prof
    raise AssertionError(f"the names of torch.profiler's events were no text {tries} times in a row")


def _without_collector(record):
    gc.collect()
    gc.disable()
    try:
        return record()
    finally:
        gc.enable()
