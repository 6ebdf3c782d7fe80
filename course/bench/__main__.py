"""`python -m course.bench [--peers DIR] [--sizes 100,1000] [--traces DIR] [--plot FILE]`: what `course bench` does."""

import argparse
from pathlib import Path

from course.bench.app import SIZES, bench

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="course bench compress")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=SIZES)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--many", type=int, default=100)
    given = parser.parse_args()
    raise SystemExit(bench(given.peers, given.sizes, given.traces, given.plot, given.save, given.many))
