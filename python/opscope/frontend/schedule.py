# SPDX-License-Identifier: Apache-2.0
"""The engine's table of transitions between the actions of two steps, with a front end's method names.

Actions are numbers here: 0 nothing, 1 warm-up, 2 record, 3 record and deliver the result. A front end has an
enumeration with these values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import TypeVar

from .. import _core
from ..user_warning import warn_user

Action = TypeVar("Action", bound=Enum)
# (previous, following or None at the end) -> (method of the profile, "") or ("", warning), in their order
Plans = dict[tuple[Action, Action | None], tuple[tuple[str, str | None], ...]]


def transition_plans(
    actions: type[Action], methods: Mapping[str, str], warnings: Mapping[tuple[int, int | None], str] | None = None
) -> Plans:
    """For each pair of actions, what a profile does between two such steps.

    ``methods``: the profile's names of "prepare", "start", "stop" and "ready". ``warnings``: the original's warnings by
    both actions, instead of torch's.
    """
    named = {action.value: action for action in actions}
    plans: Plans = {}
    for previous, following, steps in _core.transitions():
        if previous not in named or not (following is None or following in named):
            continue
        plan = [("" if step == "warn" else methods[step], warning) for step, warning in steps]
        if warnings is not None:
            warning = warnings.get((previous, following))
            plan = [("", warning)] * bool(warning) + [(method, None) for method, _ in plan if method]
        plans[named[previous], None if following is None else named[following]] = tuple(plan)
    return plans


def run_plan(profile: object, plan: tuple[tuple[str, str | None], ...]) -> None:
    """Calls the methods and emits the warnings of a plan."""
    for method, warning in plan:
        if warning:
            warn_user(warning)
        else:
            getattr(profile, method)()


def bound_plans(profile: object, plans: Plans) -> dict[tuple[Action, Action | None], list[Callable[[], object]]]:
    """The plans as bound methods of one profile, for programs that modify them."""
    return {
        pair: [partial(warn_user, text) if text else getattr(profile, method) for method, text in plan]
        for pair, plan in plans.items()
    }
