"""Compares the scripts of this folder with those that use bt2: output, lines and time.

Usage: compare.py TRACE [PYTHON-WITH-BT2]
"""

import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent


def lines(path: pathlib.Path) -> int:
    code = path.read_text().splitlines()[1:]
    return sum(1 for line in code if line.strip())


def run(python: str, path: pathlib.Path, trace: str) -> tuple[str, float]:
    began = time.perf_counter()
    done = subprocess.run([python, str(path), trace], capture_output=True, text=True, check=True)
    return done.stdout, time.perf_counter() - began


def main() -> int:
    trace, with_bt2 = sys.argv[1], (sys.argv[2:] or ["/usr/bin/python3"])[0]
    different = 0
    print(f"{'script':20} {'lines':>5} {'bt2':>5} {'s':>8} {'bt2 s':>8}")
    for path in sorted(HERE.glob("*.py")):
        other = HERE / "bt2" / path.name
        if not other.exists():
            continue
        own, own_time = run(sys.executable, path, trace)
        theirs, their_time = run(with_bt2, other, trace)
        same = "" if own == theirs else "  DIFFERENT"
        different += own != theirs
        print(f"{path.stem:20} {lines(path):5} {lines(other):5} {own_time:8.3f} {their_time:8.3f}{same}")
    return different


if __name__ == "__main__":
    sys.exit(main())
