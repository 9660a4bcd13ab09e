"""The house as a drawing: rooms on their layers, joined by the imports that are really there.

The layers are those of tests/test_layers.py, the imports are read from the files by the same code that tests them.
"""

import importlib.util
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
WIDTH, ROW, BOX, GAP = 760, 58, 30, 12
WORDS = {  # what a room is for, one phrase each
    "cli": "the command line",
    "report": "a summary, one HTML file",
    "plots": "figures",
    "evaluate": "how good, stable, real",
    "selector": "the estimator",
    "datasets": "toys",
    "io": "files, by name",
    "sources": "blocks, by name",
    "syntax": "name[param=value]",
    "methods": "the papers' methods",
    "selection": "from scores to a choice",
    "criteria": "formulas over graphs",
    "graphs": "graphs and recipes",
    "problem": "X, labels, graphs built once",
    "engine": "work on plain arrays",
    "supervision": "labels, targets, pairs",
    "data": "arrays and files, in blocks",
}


def layers():
    """The module that tests the layers."""
    spec = importlib.util.spec_from_file_location("layers", ROOT / "tests" / "test_layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def between_rooms(house):
    """(room, room below) -> how many modules of the one import one of the other."""
    found = Counter()
    for name, targets in house.graph().items():
        below = {house.room(target) for target in targets if target} - {house.room(name), ""}
        found.update((house.room(name), room) for room in below if name)
    return found


def placed(house):
    """Room -> (x, y, width) of its box, the top layer first."""
    boxes, top = {}, [line.split() for line in reversed(house.LAYERS) if line != "__main__"]
    for row, rooms in enumerate(top):
        width = min(230, (WIDTH - GAP * (len(rooms) + 1)) / len(rooms))
        left = (WIDTH - len(rooms) * width - (len(rooms) - 1) * GAP) / 2
        for at, room in enumerate(rooms):
            boxes[room] = (left + at * (width + GAP), 14 + row * ROW, width)
    return boxes


def line(boxes, upper, lower, count):
    """A curve from a room to one below it, wider for more imports."""
    (x1, y1, w1), (x2, y2, w2) = boxes[upper], boxes[lower]
    a, b, c, d = x1 + w1 / 2, y1 + BOX, x2 + w2 / 2, y2
    far = (d - b) > ROW
    bend = (60 + 0.28 * (d - b)) * (1 if (len(upper) + len(lower)) % 2 else -1) if far else 0
    path = f"M{a:.0f} {b:.0f}C{a + bend:.0f} {b + (d - b) / 3:.0f} {c + bend:.0f} {d - (d - b) / 3:.0f} {c:.0f} {d:.0f}"
    title = escape(f"{upper} → {lower}: {count} modules")
    return (
        f'<path class="edge" d="{path}" stroke-width="{min(0.7 + 0.35 * count, 4):.1f}"><title>{title}</title></path>'
    )


def svg():
    """The drawing, in the page's own colours."""
    house = layers()
    boxes = placed(house)
    height = max(y for _, y, _ in boxes.values()) + BOX + 16
    edges = between_rooms(house)
    shown = {pair: n for pair, n in edges.items() if all(room in boxes for room in pair) and pair[1] in WORDS}
    parts = [line(boxes, *pair, count) for pair, count in sorted(shown.items(), key=lambda item: item[1])]
    for room, (x, y, width) in boxes.items():
        middle, words = x + width / 2, WORDS.get(room, "")
        parts.append(f'<rect class="room" x="{x:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="5"/>')
        both = f'<tspan class="name">{escape(room)}</tspan>' + (
            f'<tspan class="words" dx="6">{escape(words)}</tspan>' if words and width > 200 else ""
        )
        parts.append(f'<text x="{middle:.0f}" y="{y + BOX / 2 + 4:.0f}" text-anchor="middle">{both}</text>')
    label = f"{len(boxes)} rooms in {len(house.LAYERS) - 1} layers; every line is an import, and all point down"
    return (
        f'<svg class="house" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def table():
    """The same in words, for those who do not see the drawing."""
    house, edges = layers(), between_rooms(layers())
    rows = ["| room | for | imports |", "|---|---|---|"]
    for rooms in reversed(house.LAYERS):
        for room in rooms.split():
            below = sorted(lower for upper, lower in edges if upper == room)
            rows.append(f"| `{room}` | {WORDS.get(room, '')} | {', '.join(below) or 'nothing'} |")
    return "\n".join(rows)
