"""The house as a drawing: rooms on their layers, joined by the imports that are really there.

The layers are those of tests/test_layers.py, the imports are read from the files by the same code that tests them.
"""

import importlib.util
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
WIDTH, COLUMN, ROW, BOX, GAP = 630, 520, 52, 30, 12  # rooms in a column, long lines to its right
WORDS = {  # what a room is for, one phrase each
    "cli": "the command line",
    "explore": "a page for experts",
    "report": "a summary, one HTML file",
    "plots": "figures",
    "evaluate": "how good, stable, real",
    "anndata": "genes in place",
    "selector": "the estimator",
    "datasets": "toys",
    "io": "files, by name",
    "sources": "blocks, by name",
    "syntax": "name[param=value]",
    "methods": "the papers' methods",
    "selection": "from scores to a choice",
    "significance": "is it more than noise",
    "sets": "what features explain together",
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
    boxes, top = {}, [line.split()[::-1] for line in reversed(house.LAYERS) if line != "__main__"]
    for row, rooms in enumerate(top):
        width = min(290, (COLUMN - GAP * (len(rooms) - 1)) / len(rooms))
        left = (COLUMN - len(rooms) * width - (len(rooms) - 1) * GAP) / 2
        for at, room in enumerate(rooms):
            boxes[room] = (left + at * (width + GAP), 14 + row * ROW, width)
    return boxes


def follows(edges):
    """The pairs that others imply: cli → graphs where cli → selector → ... → graphs."""
    below = {}
    for upper, lower in edges:
        below.setdefault(upper, set()).add(lower)

    def reached(room):
        return below.get(room, set()).union(*(reached(lower) for lower in below.get(room, ())))

    return {(u, l) for u, l in edges if any(l in reached(other) for other in below[u] - {l})}


def line(boxes, upper, lower, count, implied):
    """A curve from a room to one below it; one that passes other layers runs beside them."""
    (x1, y1, w1), (x2, y2, w2) = boxes[upper], boxes[lower]
    start, end = y1 + BOX, y2
    if end - start < ROW:
        a, c = x1 + w1 / 2, x2 + w2 / 2
        path = f"M{a:.0f} {start}C{a:.0f} {start + 14} {c:.0f} {end - 14} {c:.0f} {end}"
    else:  # out at the right, down, and in again
        a, c = x1 + w1, x2 + w2
        side = max(a, c) + 18 + 0.55 * (end - start) ** 0.82
        path = f"M{a:.0f} {y1 + BOX / 2:.0f}C{side:.0f} {y1 + BOX:.0f} {side:.0f} {y2:.0f} {c:.0f} {y2 + BOX / 2:.0f}"
    title = escape(f"{upper} → {lower}: {count} module{'s' * (count > 1)}")
    width = min(0.8 + 0.3 * count, 3.5)
    kind = "edge implied" if implied else "edge"
    return f'<path class="{kind}" d="{path}" stroke-width="{width:.1f}"><title>{title}</title></path>'


def svg():
    """The drawing, in the page's own colours."""
    house = layers()
    boxes = placed(house)
    height = max(y for _, y, _ in boxes.values()) + BOX + 16
    bottom = house.LAYERS[0].split()  # everyone may ask them
    edges = {(u, l): n for (u, l), n in between_rooms(house).items() if u in boxes and l not in bottom}
    implied = follows(edges)
    parts = [line(boxes, *pair, n, pair in implied) for pair, n in sorted(edges.items(), key=lambda item: item[1])]
    for room, (x, y, width) in boxes.items():
        parts.append(f'<rect class="room" x="{x:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="5"/>')
        words = f'<tspan class="words" dx="6">{escape(WORDS.get(room, ""))}</tspan>' if width > 150 else ""
        text = f'<tspan class="name">{escape(room)}</tspan>{words}'
        parts.append(f'<text x="{x + width / 2:.0f}" y="{y + BOX / 2 + 4:.0f}" text-anchor="middle">{text}</text>')
    label = f"{len(boxes)} rooms in {len(house.LAYERS) - 1} layers; every line is an import, and all point down"
    return (
        f'<svg class="house" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


STEPS = (  # what flows, and the room that makes it
    ("X, y, pairs", "data, supervision"),
    ("Problem", "problem"),
    ("Graph", "graphs"),
    ("scores", "criteria, engine"),
    ("order", "selection"),
    ("support", "selector"),
)


def flow():
    """The way of X from left to right."""
    step, width = 105, 84
    parts = []
    for at, (what, room) in enumerate(STEPS):
        x = at * step + 1
        parts.append(f'<rect class="room" x="{x}" y="1" width="{width}" height="42" rx="5"/>')
        for y, kind, text in ((18, "name", what), (34, "words", room)):
            parts.append(f'<text class="{kind}" x="{x + width / 2}" y="{y}" text-anchor="middle">{escape(text)}</text>')
        if at:
            parts.append(f'<path class="edge" d="M{x - 19} 22h13m-5 -4l5 4l-5 4" stroke-width="1.6"/>')
    size = f"0 0 {(len(STEPS) - 1) * step + width + 2} 44"
    words = " → ".join(what for what, _ in STEPS)
    return f'<svg class="house flow" viewBox="{size}" role="img" aria-label="{words}">{"".join(parts)}</svg>'


def table():
    """The same in words, for those who do not see the drawing."""
    house, edges = layers(), between_rooms(layers())
    rows = ["| room | for | imports |", "|---|---|---|"]
    for rooms in reversed(house.LAYERS):
        for room in rooms.split():
            below = sorted(lower for upper, lower in edges if upper == room)
            rows.append(f"| `{room}` | {WORDS.get(room, '')} | {', '.join(below) or 'nothing'} |")
    return "\n".join(rows)
