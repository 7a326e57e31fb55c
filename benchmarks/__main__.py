"""Run the benchmarks: all of them, or those that are named.

Each prints one JSON line with what it measured, its goals and whether they are met. The
exit code says that they ran, not that they are fast: the lines say that.
"""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from tempfile import TemporaryDirectory

NAMES = (
    "start",
    "hooks",
    "opening",
    "embedding",
    "browsing",
    "recall",
    "learning",
    "memory",
    "hashed",
    "written",
    "importing",
    "merging",
    "travelling",
    "sharding",
    "forgetting",
    "quality",
    "methods",
    "extracting",
    "agents",
)


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"one of {', '.join(NAMES)}; all, if none is named")
    names = parser.parse_args().name
    if unknown := [name for name in names if name not in NAMES]:
        parser.error(f"no benchmark {unknown[0]!r}, only {', '.join(NAMES)}")
    with TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        for name in names or NAMES:
            print(import_module(f"benchmarks.{name}").run(), flush=True)


if __name__ == "__main__":
    main()
