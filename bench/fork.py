# SPDX-License-Identifier: Apache-2.0
"""The row of fork: what the recorder's three hooks take together while eight threads record (bench/fork_hooks.cc)."""

import native

import measure


def main():
    options = measure.parse_options(__doc__, ops=0, quick_ops=0, forks=300)
    forks = 3 if options.quick else options.forks
    hooks = native.results_of("fork_hooks", forks)
    measure.require_when_quick(len(hooks) == forks, "not every fork was measured", options)
    parts = {part: measure.figures([hook[part] for hook in hooks])["median"] for part in ("before", "parent", "child")}
    measure.print_row(
        "fork_hooks",
        "fork with 8 recording threads: the three hooks together",
        "us",
        measure.figures([sum(hook.values()) for hook in hooks]),
        absolute_goal=200,
        repetitions=forks,
        note="medians: " + ", ".join(f"{part} {value:.1f}" for part, value in parts.items()) + " us",
    )


if __name__ == "__main__":
    main()
