// The map of the rows: points on a canvas that can be zoomed, clicked, circled and walked through with the keyboard.
// Classes differ by shape and by colour, so that the map can be read without colours.
import { make } from "./dom.js";

export const CLASS_COLOURS = 8;
const REACH = 14; // pixels around a point that belong to it
const PLACE_KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class RowMap {
  constructor(app) {
    this.app = app;
    this.canvas = make("canvas", {
      class: "fx-canvas", tabindex: 0, role: "application",
      "aria-label": "Map of the rows. Arrow keys move between rows, Enter selects, plus and minus zoom.",
    });
    this.tip = make("div", { class: "fx-tip", role: "status", hidden: true });
    this.element = make("div", { class: "fx-map-frame" }, this.canvas, this.tip);
    this.view = { scale: 1, x: 0, y: 0 };
    this.focused = null;
    this.lasso = null;
    this.mode = "point";
    this.places = [];
    this.pending = false;
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => { this.press = null; this.lasso = null; this.draw(); });
    canvas.addEventListener("pointerleave", () => { if (!this.press) this.hover(null); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.hover(null));
    new ResizeObserver(() => this.resize()).observe(this.element);
    const redraw = () => this.draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    if (!width || !height) return;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.tip.hidden = true;
    this.draw();
  }

  setPlaces(places, move = false) {
    const from = this.places;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.target = places;
    if (!move || still || from.length !== places.length) {
      this.places = places;
      this.draw();
      return;
    }
    const begun = performance.now();
    const step = (now) => {
      if (this.target !== places) return;
      const t = Math.min(1, (now - begun) / 500);
      const ease = t * t * (3 - 2 * t);
      this.places = t === 1 ? places : places.map(([x, y], i) => [
        from[i][0] + (x - from[i][0]) * ease, from[i][1] + (y - from[i][1]) * ease,
      ]);
      this.paint();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // ---------------------------------------------------------------- coordinates

  at(i) {
    const side = Math.min(this.width, this.height) / 2 - 18;
    const [x, y] = this.places[i];
    return [
      this.width / 2 + (x * side + this.view.x) * this.view.scale,
      this.height / 2 + (-y * side + this.view.y) * this.view.scale,
    ];
  }

  nearest(x, y, reach = REACH) {
    let best = null;
    let least = reach * reach;
    for (let i = 0; i < this.places.length; i += 1) {
      const [px, py] = this.at(i);
      const d = (px - x) ** 2 + (py - y) ** 2;
      if (d < least) { least = d; best = i; }
    }
    return best;
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(60, Math.max(0.5, this.view.scale * factor));
    const dx = x - this.width / 2;
    const dy = y - this.height / 2;
    this.view.x += dx / scale - dx / this.view.scale;
    this.view.y += dy / scale - dy / this.view.scale;
    this.view.scale = scale;
    this.draw();
  }

  reset() {
    this.view = { scale: 1, x: 0, y: 0 };
    this.draw();
  }

  show(i) {
    const [x, y] = this.at(i);
    if (x < 20 || y < 20 || x > this.width - 20 || y > this.height - 20) {
      this.view.x += (this.width / 2 - x) / this.view.scale;
      this.view.y += (this.height / 2 - y) / this.view.scale;
    }
    this.hover(i);
  }

  // ---------------------------------------------------------------- pointer and keys

  down(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.press = { x: event.offsetX, y: event.offsetY, view: { ...this.view }, moved: false };
    if (this.mode === "lasso" || event.shiftKey) this.lasso = [[event.offsetX, event.offsetY]];
  }

  move(event) {
    const { offsetX: x, offsetY: y } = event;
    if (!this.press) {
      this.hover(this.nearest(x, y));
      return;
    }
    if (Math.hypot(x - this.press.x, y - this.press.y) > 4) this.press.moved = true;
    if (!this.press.moved) return;
    if (this.lasso) {
      this.lasso.push([x, y]);
    } else {
      this.view.x = this.press.view.x + (x - this.press.x) / this.view.scale;
      this.view.y = this.press.view.y + (y - this.press.y) / this.view.scale;
    }
    this.draw();
  }

  up(event) {
    const press = this.press;
    this.press = null;
    if (!press) return;
    if (press.moved && this.lasso) {
      const ring = this.lasso;
      this.lasso = null;
      const inside = [];
      for (let i = 0; i < this.places.length; i += 1) if (isInside(this.at(i), ring)) inside.push(i);
      this.app.select(inside.map((i) => this.app.table.rows[i]), event.ctrlKey || event.metaKey);
    } else if (!press.moved) {
      this.lasso = null;
      const i = this.nearest(event.offsetX, event.offsetY);
      if (i !== null) this.app.toggle(this.app.table.rows[i]);
    }
    this.lasso = null;
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in PLACE_KEYS) {
      this.walk(...PLACE_KEYS[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.focused !== null) this.app.toggle(this.app.table.rows[this.focused]);
    } else if (event.key === "+" || event.key === "=") {
      this.zoom(1.3);
    } else if (event.key === "-") {
      this.zoom(1 / 1.3);
    } else if (event.key === "0") {
      this.reset();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  walk(dx, dy) {
    if (!this.places.length) return;
    if (this.focused === null) { this.show(0); return; }
    const [x, y] = this.at(this.focused);
    let best = null;
    let least = Infinity;
    for (let i = 0; i < this.places.length; i += 1) {
      const [px, py] = this.at(i);
      const along = (px - x) * dx - (py - y) * dy;
      const across = Math.abs((px - x) * dy + (py - y) * dx);
      if (along <= 0.01 || i === this.focused) continue;
      const cost = along + 2 * across;
      if (cost < least) { least = cost; best = i; }
    }
    if (best !== null) this.show(best);
  }

  hover(i) {
    if (i === this.focused && !this.tip.hidden) return;
    this.focused = i;
    this.draw();
    if (i === null) { this.tip.hidden = true; return; }
    this.app.describe(this.app.table.rows[i], (lines, picture) => {
      if (this.focused !== i) return;
      this.tip.replaceChildren(...lines.map((text, at) => make(at ? "div" : "b", { text })));
      if (picture) this.tip.append(picture);
      this.tip.hidden = false;
      this.tip.style.left = "0";  // otherwise the border makes it narrow
      const [x, y] = this.at(i);
      const box = this.tip.getBoundingClientRect();
      this.tip.style.left = `${Math.max(4, Math.min(x + 14, this.width - box.width - 4))}px`;
      this.tip.style.top = `${Math.max(4, y + 14 + box.height > this.height ? y - box.height - 14 : y + 14)}px`;
    });
  }

  // ---------------------------------------------------------------- drawing

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }

  paint() {
    if (!this.width || !this.app.table) return;
    const ratio = window.devicePixelRatio || 1;
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    const colours = this.app.colours();
    const { row: placeOf } = this.app;
    this.paintPairs(g, colours, placeOf);
    const n = this.places.length;
    const size = Math.max(2.2, Math.min(5.5, 90 / Math.sqrt(n))) * Math.min(1.8, Math.sqrt(this.view.scale));
    const groups = this.app.looks(colours);
    for (const look of groups) {
      g.fillStyle = look.fill;
      g.strokeStyle = look.stroke || look.fill;
      g.lineWidth = 1;
      g.globalAlpha = look.alpha;
      g.beginPath();
      for (const i of look.points) {
        const [x, y] = this.at(i);
        if (x < -9 || y < -9 || x > this.width + 9 || y > this.height + 9) continue;
        trace(g, look.shape, x, y, Math.max(size * look.size, look.least || 0));
      }
      if (!look.hollow) g.fill();
      if (look.hollow || look.stroke) g.stroke();
    }
    g.globalAlpha = 1;
    this.paintRings(g, colours, size, placeOf);
    if (this.lasso && this.lasso.length > 1) {
      g.strokeStyle = colours.accent;
      g.setLineDash([5, 4]);
      g.beginPath();
      this.lasso.forEach(([x, y], at) => (at ? g.lineTo(x, y) : g.moveTo(x, y)));
      g.closePath();
      g.stroke();
      g.setLineDash([]);
    }
  }

  paintPairs(g, colours, placeOf) {
    for (const [i, j, link, number] of this.app.state.pairs) {
      const a = placeOf.get(i);
      const b = placeOf.get(j);
      if (a === undefined || b === undefined) continue;
      g.strokeStyle = link === "must" ? colours.C2 : colours.C6;
      g.setLineDash(link === "must" ? [] : [6, 5]);
      g.lineWidth = number === null ? 1 : 2;
      g.beginPath();
      g.moveTo(...this.at(a));
      g.lineTo(...this.at(b));
      g.stroke();
    }
    g.setLineDash([]);
  }

  paintRings(g, colours, size, placeOf) {
    const ring = (i, colour, width, more) => {
      const [x, y] = this.at(i);
      g.strokeStyle = colour;
      g.lineWidth = width;
      g.beginPath();
      g.arc(x, y, size + more, 0, 2 * Math.PI);
      g.stroke();
    };
    for (const row of this.app.state.labels.own) if (placeOf.has(row)) ring(placeOf.get(row), colours.ink, 1, 2);
    for (const row of this.app.selected) if (placeOf.has(row)) ring(placeOf.get(row), colours.accent, 2.5, 4);
    if (this.focused !== null && this.places[this.focused]) ring(this.focused, colours.ink, 1.5, 6);
  }
}

const SHAPES = ["circle", "square", "triangle", "diamond", "down", "plus", "cross", "bar"];

export function shapeOf(code) {
  return SHAPES[code % SHAPES.length];
}

export function trace(g, shape, x, y, r) {
  const line = (points) => {
    points.forEach(([dx, dy], at) => (at ? g.lineTo(x + dx * r, y + dy * r) : g.moveTo(x + dx * r, y + dy * r)));
    g.closePath();
  };
  if (shape === "circle") { g.moveTo(x + r, y); g.arc(x, y, r, 0, 2 * Math.PI); }
  else if (shape === "square") g.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
  else if (shape === "triangle") line([[0, -1.2], [1.1, 0.8], [-1.1, 0.8]]);
  else if (shape === "down") line([[0, 1.2], [1.1, -0.8], [-1.1, -0.8]]);
  else if (shape === "diamond") line([[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]]);
  else if (shape === "plus") { g.rect(x - 1.2 * r, y - 0.4 * r, 2.4 * r, 0.8 * r); g.rect(x - 0.4 * r, y - 1.2 * r, 0.8 * r, 2.4 * r); }
  else if (shape === "cross") line([[-1, -0.6], [-0.6, -1], [0, -0.4], [0.6, -1], [1, -0.6], [0.4, 0], [1, 0.6], [0.6, 1], [0, 0.4], [-0.6, 1], [-1, 0.6], [-0.4, 0]]);
  else g.rect(x - 1.3 * r, y - 0.5 * r, 2.6 * r, r);
}

function isInside([x, y], ring) {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
    const [xi, yi] = ring[i];
    const [xj, yj] = ring[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}
