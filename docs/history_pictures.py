#!/usr/bin/env python3
"""Draws docs/history-file.svg, how a history file is laid out, and
docs/history-times.svg, times of queries beside the peer's.

Run it from anywhere after a change to the format or to the figures: it takes these
from the table of workloads in docs/history.md.
"""
import html
import math
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent
OURS, PEER, WANTED = "#c4501b", "#8a9099", "#2b2f36"
SIDES = [(OURS, "LTTV for Rust"), (PEER, "Trace Compass's SHT")]
PART, HEAD, ACCENT = "#f3e7df", "#e5e8ec", "#f0c9b2"
UNITS = {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6}


class Picture:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def box(self, x, y, width, height, fill, text="", note="", outline=True):
        stroke = 'stroke="#666" stroke-width="1"' if outline else ""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{fill}" {stroke}/>'
        )
        middle = y + height / 2 + (-3 if note else 4)
        self.text(x + width / 2, middle, text, anchor="middle")
        if note:
            self.text(x + width / 2, middle + 15, note, anchor="middle", size=11, fill="#555")

    def text(self, x, y, text, anchor="start", size=13, weight="normal", fill="black"):
        if text:
            self.parts.append(
                f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
                f'font-weight="{weight}" fill="{fill}">{html.escape(text)}</text>'
            )

    def title(self, x, y, text):
        """A text that hides lines behind it."""
        self.box(x - 4, y - 14, 8.2 * len(text) + 8, 19, "white", outline=False)
        self.text(x, y, text, weight="bold")

    def line(self, x1, y1, x2, y2, stroke="#666", width=1, dash=""):
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
            f'stroke-width="{width}" stroke-dasharray="{dash}"/>'
        )

    def row(self, x, y, height, cells):
        """Boxes beside each other; returns where each begins and ends."""
        places = []
        for width, fill, text, note in cells:
            self.box(x, y, width, height, fill, text, note)
            places.append((x, x + width))
            x += width
        return places

    def inside(self, place, bottom, x, y, height, title, cells):
        """A row that shows what is in the box at a place, with lines from there."""
        places = self.row(x, y, height, cells)
        for above, below in zip(place, (x, places[-1][1])):
            self.line(above, bottom, below, y, "#999", 1, "3 3")
        self.title(x, y - 12, title)
        return places

    def write(self, name):
        body = "\n".join(self.parts)
        (DOCS / name).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-family="sans-serif" '
            f'font-size="13">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
        )


def layout():
    picture = Picture(920, 480)
    left, height = 20, 46
    picture.text(left, 26, "A file: whole frames, each with its checksum", weight="bold")
    frames = [
        (90, HEAD, "header", "identity"),
        (170, PART, "block 0", "intervals up to t₀"),
        (170, ACCENT, "block 1", "up to t₁"),
        (110, PART, "…", ""),
        (250, HEAD, "index", "written at the end"),
        (90, HEAD, "trailer", "file is complete"),
    ]
    file = picture.row(left, 38, height, frames)

    parts = [
        (70, HEAD, "head", "times"),
        (80, HEAD, "names", "new ones"),
        (80, HEAD, "texts", "new ones"),
        (110, HEAD, "presence", "a bit each"),
        (140, HEAD, "records", "where, how many"),
        (110, PART, "chunk", "attribute 3"),
        (150, ACCENT, "chunk", "attribute 7"),
        (140, PART, "…", ""),
    ]
    title = "A block: one column chunk for each attribute that changed"
    block = picture.inside(file[2], 38 + height, left, 138, height, title, parts)

    parts = [
        (90, HEAD, "key", "least value"),
        (100, HEAD, "open", "last value"),
        (210, PART, "bucket starts", "ends before each bucket"),
        (200, ACCENT, "entry", "low bits of end, value − least"),
        (200, PART, "entry", "in as few bytes as these need"),
        (80, PART, "…", ""),
    ]
    title = "A column chunk: one attribute in one block"
    picture.inside(block[6], 138 + height, left, 238, height, title, parts)

    picture.text(
        left, 326, "The index: which blocks have an attribute, and which intervals span blocks",
        weight="bold",
    )
    x, y, cell = left + 130, 346, 84
    for number in range(8):
        picture.text(x + (number + 0.5) * cell, y, f"block {number}", "middle", 11, fill="#555")
    changes = {
        "attribute 3": [0, 1, 2, 3, 4, 5, 6, 7],
        "attribute 5": [0, 6],
        "attribute 7": [1, 2, 5],
    }
    for line, (name, blocks) in enumerate(changes.items()):
        top = y + 10 + line * 34
        picture.text(left, top + 17, name)
        for number in range(8):
            fill = ACCENT if number in blocks else "white"
            picture.box(x + number * cell, top, cell, 24, fill, "chunk" if number in blocks else "")
        for before, after in zip([-1] + blocks, blocks + [8]):
            if after - before > 1:
                start = max(before, 0) * cell + (cell / 2 if before >= 0 else 0)
                picture.line(x + start, top + 20, x + after * cell - 4, top + 20, OURS, 3)
    picture.line(left, 466, left + 30, 466, OURS, 3)
    picture.text(left + 38, 470, "an interval that spans whole blocks: also in the segment tree of the index, "
                 "so that the state of all is read sequentially")
    picture.write("history-file.svg")


def micros(cell):
    number, unit = cell.split()
    return float(number) * UNITS[unit]


def figures():
    """Rows of the table about the first workload: name, what is limit in µs, and of each
    side the time in µs and as text."""
    for line in (DOCS / "history.md").read_text().splitlines():
        if re.match(r"\| (F|S|S2|D1|D2|D3|H): ", line):
            name, wanted, *sides = [cell.strip(" *") for cell in line.split("|")[1:5]]
            yield name, micros(wanted), [(micros(side), side) for side in sides]


def times():
    rows = list(figures())
    labels, bars, row = 270, 470, 50
    picture = Picture(860, 96 + row * len(rows) + 30)
    # Each line of the scale is ten times the one before.
    all_times = [time for _, wanted, sides in rows for time in [wanted, *(time for time, _ in sides)]]
    # The smallest value has a bar, too.
    least, most = math.floor(math.log10(min(all_times) / 2)), math.ceil(math.log10(max(all_times)))
    place = lambda value: labels + (math.log10(value) - least) / (most - least) * bars
    picture.text(16, 26, "CPU time of an answer, workload 10M, file in memory (each line is ten times the last)",
                 weight="bold")
    for x, (fill, name) in zip([16, 150], SIDES):
        picture.box(x, 38, 12, 15, fill, outline=False)
        picture.text(x + 20, 50, name)
    picture.line(330, 38, 330, 53, WANTED, 3)
    picture.text(340, 50, "limit")
    bottom = 80 + row * len(rows)
    for exponent in range(least, most + 1):
        x = place(10.0**exponent)
        picture.line(x, 72, x, bottom, "#ddd")
        name = {-2: "10 ns", -1: "0.1 µs", 0: "1 µs", 1: "10 µs", 2: "100 µs", 3: "1 ms", 4: "10 ms",
                5: "100 ms", 6: "1 s"}[exponent]
        picture.text(x, bottom + 16, name, "middle", 11, fill="#555")
    for number, (name, wanted, sides) in enumerate(rows):
        top = 80 + number * row
        picture.text(16, top + 20, name)
        for line, ((value, text), (fill, _)) in enumerate(zip(sides, SIDES)):
            picture.box(labels, top + line * 16, place(value) - labels, 15, fill, outline=False)
            x, mark = place(value) + 8, place(wanted)
            if x - 8 < mark < x + 7 * len(text):
                x = mark + 8
            picture.text(x, top + line * 16 + 12, text, size=12)
        picture.line(place(wanted), top - 3, place(wanted), top + 34, WANTED, 3)
    picture.write("history-times.svg")


if __name__ == "__main__":
    layout()
    times()
