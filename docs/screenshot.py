#!/usr/bin/env python3
"""Draws docs/text_dump.svg: what text_dump prints of the bundled kernel trace.

Run it from anywhere after a change to the look of text_dump; it builds and runs
the program itself.
"""
import html
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARGUMENTS = "--begin 1795233416.3348 --end 1795233416.3375 examples/traces/kernel"
COLUMNS, CHAR, LINE, MARGIN = 112, 8.43, 19, 14
COLOURS = {"33": "#e5c07b", "35": "#c678dd", "36": "#56b6c2"}
PLAIN, BOLD = "#abb2bf", "#dcdfe4"


def cells(text):
    """Characters with their colours, as the escape sequences say."""
    colour = PLAIN
    for part in re.split(r"(\x1b\[\d*m)", text):
        if not part.startswith("\x1b"):
            yield from ((char, colour) for char in part)
            continue
        code = part[2:-1]
        colour = COLOURS.get(code, BOLD if code == "1" else PLAIN)


def row(row_cells, number):
    """One line of the terminal, a span for each colour."""
    spans, last = [], None
    for char, colour in row_cells:
        if colour != last:
            spans.append([colour, ""])
            last = colour
        spans[-1][1] += char
    y = 2 * MARGIN + number * LINE
    body = "".join(f'<tspan fill="{c}">{html.escape(t)}</tspan>' for c, t in spans)
    # The length keeps columns in line whatever font is at hand.
    length = len(row_cells) * CHAR
    return f'<text x="{MARGIN}" y="{y}" textLength="{length:.1f}">{body}</text>'


def main():
    command = "cargo run --release --example text_dump --"
    run = [*command.split(), "--color=always", *ARGUMENTS.split()]
    output = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    prompt = f"\x1b[33m$\x1b[0m {command.replace('--release', '-r')} {ARGUMENTS}"
    rows = []
    for line in [prompt, *output.splitlines()]:
        line = list(cells(line))
        rows += [line[i : i + COLUMNS] for i in range(0, len(line), COLUMNS)]
    width, height = COLUMNS * CHAR + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
        f'xml:space="preserve">',
        "<title>text_dump prints the events of eight CPUs in time order</title>",
        f'<rect width="100%" height="100%" rx="6" fill="#282c34"/>',
        *(row(cells_of_row, number) for number, cells_of_row in enumerate(rows)),
        "</svg>",
    ]
    (ROOT / "docs/text_dump.svg").write_text("\n".join(svg) + "\n")


if __name__ == "__main__":
    main()
