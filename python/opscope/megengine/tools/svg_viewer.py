# SPDX-License-Identifier: Apache-2.0
"""``python -m opscope.megengine.tools.svg_viewer``: prints how to view a ``memory_flow.svg``."""

import argparse


def main() -> None:
    """Accepts the arguments of ``megengine.tools.svg_viewer``; no server is needed."""
    parser = argparse.ArgumentParser(
        prog="opscope.megengine.tools.svg_viewer",
        description="memory_flow.svg is its own viewer: open the file in a browser.",
    )
    parser.add_argument("-p", "--port", type=int, default=8000, help="without effect: nothing is served")
    parser.add_argument("-a", "--address", type=str, default="localhost", help="without effect: nothing is served")
    parser.parse_args()
    print(
        "A memory_flow.svg of opscope is its own viewer: open the file in a browser, which "
        "describes what lies under the pointer. On another machine: copy the file, it needs nothing else."
    )


if __name__ == "__main__":
    main()
