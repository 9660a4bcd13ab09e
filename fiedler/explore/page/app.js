// The page: one store of what the session said, and panels that show it. It asks nobody but its transport.
//   startExplore(element, { send(message) -> Promise(reply) })
import { button, make, plural, replace } from "./dom.js";
import { CLASS_COLOURS, RowMap, shapeOf } from "./map.js";
import { rowPicture } from "./charts.js";
import { RankingPanel } from "./ranking.js";
import { AnswersPanel, ExportPanel, FinalPanel, SelectionPanel, SettingsPanel, SnapshotPanel } from "./panels.js";

const COLOUR_NAMES = ["ink", "muted", "accent", "low", "high", "C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7"];
const RAMP_STEPS = 24;

class Explore {
  constructor(root, transport) {
    this.root = root;
    this.transport = transport;
    this.selected = [];
    this.asked = "";
    this.busy = 0;
    this.shownFeature = null;
    this.featureValues = null;
    this.frequency = null;
    this.accuracy = null;
    this.stabilityText = "";
    this.rowsSeen = new Map();
    this.colourBy = "label";
    this.layout = "all";
    this.build();
    this.open();
  }

  // ---------------------------------------------------------------- messages

  async get(message) {
    this.busy += 1;
    this.showBusy();
    try {
      const reply = await this.transport.send(message);
      if (reply.type === "error") throw new Error(reply.message);
      this.say("");
      return reply;
    } catch (error) {
      this.say(error.message || String(error), true);
      return null;
    } finally {
      this.busy -= 1;
      this.showBusy();
    }
  }

  async ask(message) {
    const reply = await this.get(message);
    if (reply && reply.type === "state") this.become(reply);
    return reply;
  }

  async open() {
    const reply = await this.get({ type: "open" });
    if (!reply) return;
    this.table = reply.table;
    this.row = new Map(this.table.rows.map((row, at) => [row, at]));
    this.rowName = this.table.row_ids ? new Map(this.table.rows.map((row, at) => [row, this.table.row_ids[at]])) : null;
    this.map.setPlaces(this.table.places);
    const source = this.table.source ? this.table.source.split(/[\\/]/).pop() : "table";
    this.title.textContent = `${source}: ${this.table.n_samples.toLocaleString("en")} rows, ${this.table.n_features.toLocaleString("en")} features`;
    this.body.hidden = false;
    this.become(reply.state);
    this.map.resize();
    this.settings.listMethods();
    this.root.dataset.ready = "true";
  }

  become(state) {
    const changed = !this.state || this.state.revision !== state.revision;
    if (this.state && changed) { this.frequency = null; this.accuracy = null; this.stabilityText = ""; }
    this.state = state;
    this.rowsSeen.clear();
    this.update();
    this.root.dataset.version = String(state.version);
    if (changed && this.layout === "chosen") this.place("chosen");
    if (this.shownFeature !== null) this.refreshFeature();
  }

  update() {
    if (!this.state) return;
    for (const part of [this.selection, this.ranking, this.answers, this.settings, this.snapshots, this.final]) part.update();
    this.undo.disabled = this.state.undo === 0;
    this.redo.disabled = this.state.redo === 0;
    this.colour.querySelector("option[value=feature]").disabled = !this.featureValues;
    this.colour.value = this.colourBy;
    this.showLegend();
    this.map.draw();
  }

  async noticed(version) {
    if (this.state && !this.busy && version > this.state.version) {
      const reply = await this.get({ type: "state" });
      if (reply) this.become(reply);
    }
  }

  // `asking`: whether something was asked that nobody has done.
  ended(asking = false) {
    const { command, kept_in: file } = this.table || {};
    const text = `The server has stopped${asking ? ", so this was not done" : ""}. Your earlier answers are saved${file ? ` in ${file}` : ""}. To go on, start it again${command ? `: ${command}` : "."}`;
    this.say(text, true);
    this.root.dataset.ended = "true";
    return text;
  }

  say(text, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("fx-trouble", wrong);
    this.status.hidden = !text;
  }

  showBusy() {
    this.root.classList.toggle("fx-busy", this.busy > 0);
    this.root.dataset.busy = String(this.busy);
    this.root.setAttribute("aria-busy", String(this.busy > 0));
  }

  // ---------------------------------------------------------------- rows

  nameOf(row) {
    return this.rowName ? this.rowName.get(row) ?? String(row) : String(row);
  }

  labelOf(row) {
    const { labels } = this.state;
    const value = this.row.has(row) ? labels.values[this.row.get(row)] : undefined;
    if (value === undefined || value === null || value === -1) return null;
    return labels.kind === "classes" ? labels.names[value] : String(value);
  }

  select(rows, add = false) {
    this.selected = add ? [...new Set([...this.selected, ...rows])] : [...rows];
    if (!rows.length) this.asked = "";
    this.selection.update();
    this.map.draw();
  }

  toggle(row) {
    const without = this.selected.filter((other) => other !== row);
    if (without.length < this.selected.length) this.select(without);
    else this.select(this.selected.length >= 2 ? [row] : [...this.selected, row]);
  }

  async link(link) {
    if (this.selected.length !== 2) return;
    const asking = this.asked && this.selected;
    const reply = await this.ask({ type: "pair", rows: this.selected, link });
    if (!reply) return;
    this.select([]);
    if (asking) this.next("pair");
  }

  async giveLabel(label) {
    if (!this.selected.length) return;
    const asking = this.asked;
    const reply = await this.ask({ type: "label", rows: this.selected, label });
    if (!reply) return;
    this.selection.label.value = "";
    this.select([]);
    if (asking) this.next("row");
  }

  async next(about) {
    const reply = await this.get({ type: "ask", about });
    if (!reply) return;
    if (!reply.rows.length) { this.asked = "There is nothing left to ask."; this.select([]); this.asked = ""; return; }
    this.asked = about === "row" ? "Which label has this row?" : "Do these rows belong together?";
    this.select(reply.rows);
    this.map.show(this.row.get(reply.rows[reply.rows.length - 1]));
    (about === "row" ? this.selection.label : this.selection.same).focus();
  }

  rowOf(row) {
    if (!this.rowsSeen.has(row)) {
      const promise = this.transport.send({ type: "row", row }).then((reply) => (reply.type === "row" ? reply : null)).catch(() => null);
      this.rowsSeen.set(row, promise);
    }
    return this.rowsSeen.get(row);
  }

  describe(row, tell) {
    clearTimeout(this.describing);
    const label = this.labelOf(row);
    const first = [`row ${this.nameOf(row)}`, ...(label === null ? [] : [`label: ${label}`])];
    tell(first);
    this.describing = setTimeout(async () => {
      const reply = await this.rowOf(row);
      if (!reply) return;
      const lines = [...first, ...reply.values.map(([name, value]) => `${name}: ${value}`)];
      tell(lines, reply.picture ? rowPicture(reply.picture, this.table) : null);
    }, 80);
  }

  find(text) {
    const words = text.trim().toLowerCase();
    if (!words) return;
    const exact = this.table.rows.find((row) => this.nameOf(row).toLowerCase() === words);
    const found = exact ?? this.table.rows.find((row) => this.nameOf(row).toLowerCase().includes(words));
    if (found === undefined) { this.say(`No shown row is called ${text.trim()}.`, true); return; }
    this.say("");
    this.select([found], true);
    this.map.show(this.row.get(found));
  }

  // ---------------------------------------------------------------- features

  async showFeature(feature) {
    if (feature === null || feature === this.shownFeature) {
      this.shownFeature = null;
      this.featureValues = null;
      if (this.colourBy === "feature") this.colourBy = "label";
      this.ranking.showDetail(null);
      this.update();
      return;
    }
    this.shownFeature = feature;
    this.colourBy = "feature";
    await this.refreshFeature();
  }

  async refreshFeature() {
    const feature = this.shownFeature;
    const reply = await this.get({ type: "feature", feature });
    if (!reply || this.shownFeature !== feature) return;
    this.featureValues = reply.values;
    this.ranking.showDetail(reply);
    this.update();
  }

  async curves() {
    const reply = await this.get({ type: "curves" });
    if (reply) { this.accuracy = reply; this.settings.drawCharts(); }
  }

  async measureStability() {
    const { revision } = this.state;
    for (;;) {
      const reply = await this.get({ type: "stability" });
      if (!reply || this.state.revision !== revision || reply.revision !== revision) return;
      this.frequency = reply.frequency;
      this.stabilityText = `Stability: ${reply.n_draws} draws of 80 % of the rows${reply.finished ? "" : " so far"}.`;
      this.ranking.update();
      this.settings.drawCharts();
      if (reply.finished) return;
    }
  }

  async place(of) {
    const reply = await this.get({ type: "layout", of });
    if (!reply) { this.layoutSelect.value = this.layout; return; }
    this.layout = of;
    this.layoutSelect.value = of;
    this.map.setPlaces(reply.places, true);
  }

  // ---------------------------------------------------------------- colours and shapes

  colours() {
    const style = getComputedStyle(this.root);
    return Object.fromEntries(COLOUR_NAMES.map((name) => [name, style.getPropertyValue(`--fx-${name}`).trim()]));
  }

  colourNames() {
    return this.state.labels.colours.map((at) => (at < CLASS_COLOURS ? `C${at}` : "ink"));
  }

  looks(colours) {
    const { labels } = this.state;
    const n = this.table.rows.length;
    const all = Array.from({ length: n }, (_, i) => i);
    const plain = (points) => ({ points, shape: "circle", fill: colours.muted, hollow: true, alpha: 0.75, size: 0.85 });
    let values = null;
    if (this.colourBy === "feature" && this.featureValues) values = this.featureValues;
    else if (this.colourBy === "label" && labels.kind === "target") values = labels.values;
    if (values) return this.ramp(values, colours, plain);
    if (this.colourBy !== "label" || labels.kind !== "classes") return [plain(all)];
    const groups = labels.names.map(() => []);
    const unknown = [];
    labels.values.forEach((code, i) => (code < 0 ? unknown : groups[code]).push(i));
    return [plain(unknown), ...groups.map((points, code) => ({
      points, shape: shapeOf(labels.colours[code]), fill: colours[this.colourNames()[code]], alpha: 0.9, size: unknown.length ? 1.3 : 1, least: 4,
    }))];
  }

  ramp(values, colours, plain) {
    const known = values.filter((v) => v !== null).sort((a, b) => a - b);
    if (!known.length) return [plain(values.map((_, i) => i))];
    const low = known[Math.floor(0.02 * (known.length - 1))], high = known[Math.ceil(0.98 * (known.length - 1))];
    const steps = Array.from({ length: RAMP_STEPS }, () => []);
    const unknown = [];
    values.forEach((v, i) => {
      if (v === null) { unknown.push(i); return; }
      const t = high > low ? Math.min(1, Math.max(0, (v - low) / (high - low))) : 0.5;
      steps[Math.min(RAMP_STEPS - 1, Math.floor(t * RAMP_STEPS))].push(i);
    });
    const looks = steps.map((points, at) => ({ points, shape: "circle", fill: mixed(colours.low, colours.high, at / (RAMP_STEPS - 1)), stroke: null, alpha: 0.95, size: 1 }));
    return [plain(unknown), ...looks];
  }

  showLegend() {
    const { labels } = this.state;
    const items = [];
    if (this.colourBy === "feature" && this.featureValues) {
      items.push(make("span", {}, make("span", { text: `${this.table.feature_names[this.shownFeature]}: low ` }), make("span", { class: "fx-ramp" }), make("span", { text: " high" })));
    } else if (labels.kind === "target" && this.colourBy === "label") {
      items.push(make("span", {}, "target: low ", make("span", { class: "fx-ramp" }), " high"));
    } else if (labels.kind === "classes" && this.colourBy === "label") {
      labels.names.slice(0, 14).forEach((name, code) => items.push(make("span", { class: "fx-key" }, shapeIcon(labels.colours[code]), make("span", { text: name }))));
      if (labels.names.length > 14) items.push(make("span", { text: `and ${labels.names.length - 14} more` }));
    }
    if (this.state.pairs.length) items.push(make("span", { class: "fx-key" }, make("span", { class: "fx-must" }), make("span", { text: "same" })), make("span", { class: "fx-key" }, make("span", { class: "fx-cannot" }), make("span", { text: "different" })));
    items.push(make("span", { class: "fx-muted", text: `${plural(labels.n_known, "label")}, ${plural(this.state.pairs.length, "pair")}` }));
    replace(this.legend, items);
  }

  // ---------------------------------------------------------------- the frame

  build() {
    const { root } = this;
    this.map = new RowMap(this);
    this.selection = new SelectionPanel(this);
    this.ranking = new RankingPanel(this);
    this.answers = new AnswersPanel(this);
    this.settings = new SettingsPanel(this);
    this.snapshots = new SnapshotPanel(this);
    this.files = new ExportPanel(this);
    this.final = new FinalPanel(this);
    this.title = make("h1", { text: "fiedler explore" });
    this.status = make("p", { class: "fx-status", role: "alert", hidden: true });
    this.undo = button("Undo (U)", () => this.ask({ type: "undo" }), { "data-do": "undo" });
    this.redo = button("Redo (R)", () => this.ask({ type: "redo" }), { "data-do": "redo" });
    this.theme = button("Dark or light", () => this.changeTheme(), { "data-do": "theme" });
    this.legend = make("div", { class: "fx-legend" });
    this.lassoButton = button("Lasso", () => {
      this.map.mode = this.map.mode === "lasso" ? "point" : "lasso";
      this.lassoButton.setAttribute("aria-pressed", String(this.map.mode === "lasso"));
    }, { "aria-pressed": "false" });
    this.colour = make("select", { class: "fx-input", "aria-label": "Colour of the points", on: { change: () => { this.colourBy = this.colour.value; this.update(); } } },
      make("option", { value: "label", text: "colour: labels" }), make("option", { value: "feature", text: "colour: feature" }), make("option", { value: "nothing", text: "colour: nothing" }));
    this.layoutSelect = make("select", { class: "fx-input", "aria-label": "Layout of the map", on: { change: () => this.place(this.layoutSelect.value) } },
      make("option", { value: "all", text: "layout: all features" }), make("option", { value: "chosen", text: "layout: chosen features" }));
    this.search = make("input", { type: "search", class: "fx-input", placeholder: "Find a row", "aria-label": "Find a row by its name", on: { keydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.find(this.search.value); } } } });
    const tools = make("div", { class: "fx-row fx-map-tools" }, this.colour, this.layoutSelect, this.lassoButton, this.search,
      button("+", () => this.map.zoom(1.3), { "aria-label": "Zoom in" }), button("−", () => this.map.zoom(1 / 1.3), { "aria-label": "Zoom out" }), button("Fit", () => this.map.reset()));
    const left = make("div", { class: "fx-left" }, make("section", { class: "fx-panel fx-map", "aria-label": "Map of the rows" }, tools, this.map.element, this.legend), this.selection.element, this.answers.element, this.snapshots.element, this.files.element);
    const right = make("div", { class: "fx-right" }, this.settings.element, this.ranking.element);
    this.body = make("main", { class: "fx-body", hidden: true }, this.final.element, left, right);
    replace(root, make("header", { class: "fx-head" }, this.title, make("span", { class: "fx-working", text: "working …" }), make("div", { class: "fx-row" }, this.undo, this.redo, this.theme)), this.status, this.body);
    root.addEventListener("keydown", (event) => this.shortcut(event));
    const kept = readTheme();
    if (kept) root.dataset.theme = kept;
  }

  shortcut(event) {
    const inField = event.target.closest("input, select, textarea");
    if (event.key === "Escape") {
      this.select([]);
      this.map.hover(null);
      if (inField) event.target.blur();
      return;
    }
    if (inField || event.ctrlKey || event.metaKey || event.altKey || !this.state) return;
    const actions = {
      s: () => this.link("must"), d: () => this.link("cannot"), l: () => this.selection.label.focus(),
      u: () => this.undo.click(), r: () => this.redo.click(), q: () => this.next("row"), a: () => this.next("pair"),
    };
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }

  changeTheme() {
    const dark = getComputedStyle(this.root).getPropertyValue("--fx-dark").trim() === "1";
    this.root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("fiedler-theme", this.root.dataset.theme); } catch { /* storage may be forbidden */ }
    this.map.draw();
  }
}

function readTheme() {
  try { return localStorage.getItem("fiedler-theme"); } catch { return null; }
}

function shapeIcon(code) {
  const glyph = ["●", "■", "▲", "◆", "▼", "✚", "✖", "▬"][code % 8];
  return make("span", { class: `fx-glyph fx-ink-${code < CLASS_COLOURS ? `C${code}` : "ink"}`, text: glyph, "aria-hidden": "true" });
}

function mixed(low, high, t) {
  const part = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const a = part(low), b = part(high);
  return `rgb(${a.map((v, at) => Math.round(v + (b[at] - v) * t)).join(" ")})`;
}

export function startExplore(root, transport) {
  const explore = new Explore(root, transport);
  return { noticed: (version) => explore.noticed(version), ended: (asking) => explore.ended(asking) };
}
