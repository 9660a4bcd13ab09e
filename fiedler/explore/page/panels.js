// What surrounds map and ranking: the selection, the answers, the settings with their curves, snapshots and files.
import { button, download, make, plural, replace } from "./dom.js";
import { lineChart, rowPicture } from "./charts.js";

export class SelectionPanel {
  constructor(app) {
    this.app = app;
    this.text = make("p", { class: "fx-selection-text", role: "status" });
    this.pictures = make("div", { class: "fx-pictures" });
    this.same = button("Same group (S)", () => app.link("must"));
    this.different = button("Different (D)", () => app.link("cannot"));
    this.names = make("datalist", { id: `fx-labels-${Math.random().toString(36).slice(2)}` });
    this.label = make("input", {
      class: "fx-input", placeholder: "Label", maxlength: 200, "aria-label": "Label for the selected rows", list: this.names.id,
      on: { keydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.give(); } } },
    });
    this.set = button("Label (L)", () => this.give());
    this.unset = button("No label", () => app.giveLabel(null));
    this.clear = button("Clear (Esc)", () => app.select([]));
    this.askRow = button("Ask me for a row (Q)", () => app.next("row"));
    this.askPair = button("Ask me for a pair (A)", () => app.next("pair"));
    this.element = make("section", { class: "fx-panel fx-selection", "aria-label": "Selected rows" },
      this.text, this.pictures,
      make("div", { class: "fx-row" }, this.same, this.different, this.label, this.names, this.set, this.unset, this.clear),
      make("div", { class: "fx-row" }, this.askRow, this.askPair, make("span", { class: "fx-muted fx-small", text: "Rows are suggested in random order. No rule that we tried was better on held-out data sets." })));
  }

  give() {
    const text = this.label.value.trim();
    if (text) this.app.giveLabel(text);
    else this.label.focus();
  }

  update() {
    const { app } = this;
    const rows = app.selected;
    this.same.disabled = this.different.disabled = rows.length !== 2;
    this.set.disabled = this.unset.disabled = this.clear.disabled = rows.length === 0;
    replace(this.names, app.state.labels.names.map((name) => make("option", { value: name })));
    const known = (row) => {
      const label = app.labelOf(row);
      return `row ${app.nameOf(row)}${label === null ? "" : ` (${label})`}`;
    };
    if (!rows.length) this.text.textContent = app.asked || "Click two points to say whether they belong together. Draw around points with Lasso (or Shift) to label them.";
    else if (rows.length <= 2) this.text.textContent = `${app.asked ? `${app.asked} ` : ""}Selected: ${rows.map(known).join(" and ")}.`;
    else this.text.textContent = `Selected: ${plural(rows.length, "row")}.`;
    replace(this.pictures);
    if ((app.table.image || app.table.axis) && rows.length && rows.length <= 4) {
      for (const row of rows) {
        const slot = make("figure", { class: "fx-figure" }, make("figcaption", { text: app.nameOf(row) }));
        this.pictures.append(slot);
        app.rowOf(row).then((reply) => { if (reply) slot.append(rowPicture(reply.picture, app.table)); });
      }
    }
  }
}

export class AnswersPanel {
  constructor(app) {
    this.app = app;
    this.list = make("ol", { class: "fx-answers" });
    this.title = make("h2", { text: "Answers" });
    this.offers = make("div");
    this.element = make("section", { class: "fx-panel", "aria-label": "Answers" },
      make("div", { class: "fx-row" }, this.title, button("Remove all", () => { if (app.state.answers.length) app.ask({ type: "clear" }); }, { class: "fx-button fx-small" })), this.offers, this.list);
  }

  words(answer) {
    const { app } = this;
    if (answer.kind === "feature") return `${app.table.feature_names[answer.subjects[0]]} is ${answer.value}`;
    const names = answer.subjects.slice(0, 4).map((row) => app.nameOf(row));
    if (answer.kind === "pair") return `${names.join(" and ")} ${answer.value === "must" ? "belong together" : "are different"}`;
    const more = answer.subjects.length > 4 ? ` and ${answer.subjects.length - 4} more` : "";
    const verb = answer.subjects.length === 1 ? "is" : "are";
    return answer.value === null ? `${names.join(", ")}${more}: no label` : `${names.join(", ")}${more} ${verb} ${answer.value}`;
  }

  update() {
    const { app } = this;
    const { answers, contradictions, closure } = app.state;
    this.title.textContent = `Answers (${answers.length})`;
    const wrong = new Set(contradictions.flatMap((found) => found.answers));
    const troubles = contradictions.map((found) => make("p", { class: "fx-trouble", role: "alert" },
      make("span", { text: `Contradiction: rows ${found.rows.map((row) => app.nameOf(row)).join(" and ")} ${found.text}. ` }),
      button("Show", () => app.select(found.rows), { class: "fx-button fx-small" })));
    const offer = closure.length ? make("p", { class: "fx-offer" },
      make("span", { text: `The pairs give ${closure.length} classes with ${closure.reduce((sum, part) => sum + part.rows.length, 0)} rows. Methods read classes better than pairs. ` }),
      button("Make labels of them", () => app.ask({ type: "close" }), { class: "fx-button fx-small fx-close" })) : null;
    replace(this.offers, troubles, offer);
    const lines = answers.map((answer, number) => make("li", { class: wrong.has(number) ? "fx-wrong" : "" },
      make("button", { type: "button", class: "fx-link", text: this.words(answer), on: { click: () => (answer.kind === "feature" ? app.showFeature(answer.subjects[0]) : app.select(answer.subjects)) } }),
      make("button", { type: "button", class: "fx-mini", text: "✕", "aria-label": `Remove: ${this.words(answer)}`, on: { click: () => app.ask({ type: "remove", answer: number }) } })));
    replace(this.list, lines.reverse());
    this.list.setAttribute("reversed", "");
  }
}

export class SettingsPanel {
  constructor(app) {
    this.app = app;
    this.method = make("select", { class: "fx-input", "aria-label": "Method", on: { change: () => app.ask({ type: "set", method: this.method.value }), focus: () => this.listMethods() } });
    this.about = make("p", { class: "fx-muted fx-small" });
    const later = (control, name, parse) => {
      let timer = null;
      control.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => { const value = parse(control.value); if (Number.isFinite(value)) app.ask({ type: "set", [name]: value }, { quiet: true }); }, 60);
      });
    };
    this.number = make("input", { type: "range", min: 1, "aria-label": "Number of features" });
    this.numberText = make("output");
    this.lam = make("input", { type: "range", min: 0, max: 1, step: 0.01, "aria-label": "λ of sSelect: weight of the graph" });
    this.lamText = make("output");
    this.k = make("input", { type: "range", min: 1, max: 50, "aria-label": "Neighbours in the graph" });
    this.kText = make("output");
    later(this.number, "n_features", (v) => parseInt(v, 10));
    later(this.lam, "lam", parseFloat);
    later(this.k, "n_neighbors", (v) => parseInt(v, 10));
    for (const [control, text] of [[this.number, this.numberText], [this.lam, this.lamText], [this.k, this.kText]]) {
      control.addEventListener("input", () => { text.textContent = control.value; });
    }
    const field = (name, control, text) => make("label", { class: "fx-field" }, make("span", {}, name, " ", text || ""), control);
    this.lamField = field("λ of sSelect", this.lam, this.lamText);
    this.kField = field("Neighbours k", this.k, this.kText);
    this.charts = make("div", { class: "fx-charts" });
    this.curvesButton = button("Accuracy curve", () => app.curves());
    this.stabilityButton = button("Stability", () => app.measureStability());
    this.element = make("section", { class: "fx-panel fx-settings", "aria-label": "Settings" },
      make("div", { class: "fx-fields" }, field("Method", this.method), field("Features to select", this.number, this.numberText), this.lamField, this.kField),
      this.about, make("div", { class: "fx-row" }, this.curvesButton, this.stabilityButton), this.charts);
  }

  async listMethods() {
    const { app } = this;
    if (this.listed === app.state.revision) return;
    this.listed = app.state.revision;
    const reply = await app.get({ type: "methods" });
    if (!reply) return;
    this.methods = new Map(reply.methods.map((entry) => [entry.name, entry]));
    this.fill();
  }

  fill() {
    const current = this.app.state.settings.method;
    const names = this.methods ? [...this.methods.keys()] : [];
    if (!names.includes(current)) names.unshift(current);
    const same = names.length === this.method.options.length && names.every((name, at) => this.method.options[at].value === name);
    if (!same) replace(this.method, names.map((name) => make("option", { value: name, text: name })));
    for (const option of this.method.options) {
      const entry = this.methods && this.methods.get(option.value);
      option.textContent = entry && entry.why_not ? `${option.value} (not now)` : option.value;
      option.title = entry ? entry.why_not || entry.about : "";
    }
    this.method.value = current;
    const entry = this.methods && this.methods.get(current);
    this.about.textContent = entry ? entry.about : this.app.state.ranking.formula;
  }

  update() {
    const { state, table } = this.app;
    this.fill();
    this.number.max = String(Math.min(table.n_features, Math.max(60, state.settings.n_features)));
    const set = (control, text, value) => {
      if (value === null || value === undefined) return;
      if (document.activeElement !== control) control.value = String(value);
      text.textContent = String(value);
    };
    set(this.number, this.numberText, state.settings.n_features);
    this.lamField.hidden = state.knobs.lam === null;
    this.kField.hidden = state.knobs.n_neighbors === null;
    this.k.max = String(Math.min(50, table.rows.length - 1));
    set(this.lam, this.lamText, state.knobs.lam);
    set(this.k, this.kText, state.knobs.n_neighbors);
    this.stabilityButton.textContent = table.large ? "Stability (takes minutes)" : "Stability";
    this.drawCharts();
  }

  drawCharts() {
    const { state, accuracy, stabilityText } = this.app;
    const { explained, n_selected: mark } = state.ranking;
    const charts = [];
    const percent = (v) => `${Math.round(100 * v)}%`;
    if (explained && explained.length > 1) {
      charts.push(lineChart({ title: "Share explained by the first features", series: [{ points: explained.map((v, at) => [at + 1, v]) }], mark, unit: percent }));
    }
    if (accuracy && accuracy.accuracy) {
      const curve = accuracy.accuracy;
      const rmse = curve.metric === "rmse";
      charts.push(lineChart({ title: rmse ? "Error (RMSE) by number of features" : "1-NN accuracy by number of features", series: [{ points: curve.n_features.map((n, at) => [n, curve.mean[at]]) }], mark, unit: rmse ? undefined : percent }));
      charts.push(make("p", { class: "fx-muted fx-small", text: "Cross-validated on the labelled rows. The ranking used the same labels, so the curve is too optimistic." }));
    } else if (accuracy) {
      charts.push(make("p", { class: "fx-muted fx-small", text: accuracy.why_not }));
    }
    if (stabilityText) charts.push(make("p", { class: "fx-muted fx-small", role: "status", text: stabilityText }));
    replace(this.charts, charts);
  }
}

export class SnapshotPanel {
  constructor(app) {
    this.app = app;
    this.body = make("div", { class: "fx-snapshots" });
    this.element = make("section", { class: "fx-panel", "aria-label": "Snapshots" },
      make("div", { class: "fx-row" }, make("h2", { text: "Snapshots" }), ...["A", "B"].map((slot) => button(`Keep as ${slot}`, () => app.ask({ type: "snapshot", slot }), { "data-slot": slot }))), this.body);
  }

  update() {
    const { snapshots } = this.app.state;
    const name = (feature) => this.app.table.feature_names[feature];
    const { A, B } = snapshots;
    const about = (kept) => `${kept.formula}, ${plural(kept.n_labels, "label")}, ${plural(kept.n_pairs, "pair")}`;
    const list = (title, features) => make("div", {}, make("h3", { text: `${title} (${features.length})` }), make("ul", {}, features.map((feature) => make("li", { text: name(feature) }))));
    if (!A && !B) { replace(this.body, make("p", { class: "fx-muted fx-small", text: "Keep a selection as A, change something, and keep another as B: both are shown side by side." })); return; }
    if (!A || !B) { const [slot, kept] = A ? ["A", A] : ["B", B]; replace(this.body, list(`${slot}: ${about(kept)}`, kept.selected)); return; }
    const inA = new Set(A.selected), inB = new Set(B.selected);
    replace(this.body, list(`only A: ${about(A)}`, A.selected.filter((f) => !inB.has(f))), list("in both", A.selected.filter((f) => inB.has(f))), list(`only B: ${about(B)}`, B.selected.filter((f) => !inA.has(f))));
  }
}

const FILES = { pairs: "pairs.csv", labels: "labels.csv", ranking: "ranking.csv", command: "command line", script: "Python script", report: "HTML report" };

export class ExportPanel {
  constructor(app) {
    this.app = app;
    this.text = make("pre", { class: "fx-command", hidden: true, tabindex: 0 });
    const export_ = async (what) => {
      const reply = await app.get({ type: "export", what });
      if (!reply) return;
      if (what === "command") { this.text.textContent = reply.text; this.text.hidden = false; }
      download(reply.name, reply.text);
    };
    this.element = make("section", { class: "fx-panel", "aria-label": "Export" },
      make("div", { class: "fx-row" }, make("h2", { text: "Export" }), ...Object.entries(FILES).map(([what, text]) => button(text, () => export_(what), { "data-export": what }))), this.text);
  }
}

export class FinalPanel {
  constructor(app) {
    this.app = app;
    this.text = make("span", { role: "status" });
    this.bar = make("progress", { max: 1, value: 0, hidden: true });
    this.start = button("Rank all rows", () => this.begin());
    this.stop = button("Cancel", async () => this.show(await app.get({ type: "final_cancel" })), { hidden: true });
    this.element = make("section", { class: "fx-panel fx-final", "aria-label": "All rows", hidden: true }, this.text, this.bar, this.start, this.stop);
  }

  update() {
    const { table } = this.app;
    this.element.hidden = !table.sampled;
    if (!this.running && !this.shown) this.text.textContent = `A sample of ${table.rows.length.toLocaleString("en")} of ${table.n_samples.toLocaleString("en")} rows is shown and ranked live. `;
  }

  async begin() {
    this.shown = true;
    this.show(await this.app.get({ type: "final" }));
  }

  show(reply) {
    if (!reply) return;
    this.running = reply.running;
    this.start.hidden = this.bar.hidden = false;
    this.bar.hidden = !reply.running;
    this.stop.hidden = !reply.running;
    this.start.hidden = reply.running;
    if (reply.running) {
      this.bar.max = reply.total;
      this.bar.value = reply.done;
      this.text.textContent = `Ranking all rows: ${reply.stage} `;
      setTimeout(async () => this.show(await this.app.get({ type: "final_status" })), 400);
    } else if (reply.error) {
      this.text.textContent = `The ranking of all rows failed: ${reply.error} `;
    } else if (reply.cancelled) {
      this.text.textContent = "Cancelled. ";
    } else if (reply.ranking) {
      const { order, n_selected: n, n_shared: shared } = reply.ranking;
      const first = order.slice(0, 5).map((feature) => this.app.table.feature_names[feature]).join(", ");
      this.text.textContent = `All rows: ${shared} of ${n} selected features are those of the sample. First: ${first}. ranking.csv contains this ranking until the next answer. `;
    }
  }
}
