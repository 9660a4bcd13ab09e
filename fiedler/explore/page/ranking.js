// The ranking: rank, change since the last step, bar, score, how often a feature is selected, pin and ban.
import { button, make, plural, replace, shortNumber } from "./dom.js";
import { histogram } from "./charts.js";

const SHOWN = 150;

export class RankingPanel {
  constructor(app) {
    this.app = app;
    this.limit = SHOWN;
    this.filter = make("input", {
      type: "search", class: "fx-input", placeholder: "Filter by name", "aria-label": "Filter the ranking by name",
      on: { input: () => { this.limit = SHOWN; this.update(); } },
    });
    this.count = make("span", { class: "fx-muted fx-count", role: "status" });
    this.notes = make("div", { class: "fx-notes" });
    this.body = make("tbody");
    this.worth = make("th", { scope: "col", text: "score" });
    const head = ["rank", "change", "feature", "", null, "stable", ""];
    const titles = { change: "Places won or lost by the last step", stable: "Share of random parts of the rows that select the feature" };
    this.table = make("table", { class: "fx-ranking" },
      make("thead", {}, make("tr", {}, head.map((text) => (text === null ? this.worth : make("th", { scope: "col", text, title: titles[text] }))))), this.body);
    this.more = button("Show more", () => { this.limit += 10 * SHOWN; this.update(); });
    this.detail = make("section", { class: "fx-detail", "aria-label": "One feature", hidden: true });
    this.element = make("section", { class: "fx-panel fx-ranking-panel", "aria-label": "Ranking of the features" },
      make("div", { class: "fx-row" }, make("h2", { text: "Ranking" }), this.filter, this.count),
      this.notes, this.detail, make("div", { class: "fx-scroll", tabindex: 0, role: "region", "aria-label": "Ranking" }, this.table, this.more));
  }

  update() {
    const { state, table } = this.app;
    const ranking = state.ranking;
    const words = this.filter.value.trim().toLowerCase();
    const wanted = [];
    for (let at = 0; at < ranking.order.length; at += 1) {
      if (!words || table.feature_names[ranking.order[at]].toLowerCase().includes(words)) wanted.push(at);
    }
    this.worth.textContent = ranking.gains ? "gain" : "score";
    this.worth.title = ranking.gains ? "Share that the feature adds to those chosen before it" : ranking.greater_is_better ? "Large is good" : "Small is good";
    this.table.classList.toggle("fx-with-stable", Boolean(this.app.frequency));
    replace(this.body, wanted.slice(0, this.limit).map((at) => this.line(at)));
    this.more.hidden = wanted.length <= this.limit;
    this.count.textContent = words ? `${plural(wanted.length, "match").replace("matchs", "matches")} of ${ranking.order.length}`
      : `${ranking.n_selected} of ${plural(table.n_features, "feature")} selected`;
    const notes = ranking.trouble ? [make("p", { class: "fx-trouble", role: "alert", text: ranking.trouble })] : [];
    replace(this.notes, notes, ranking.notes.map((text) => make("p", { class: "fx-muted", text })));
  }

  line(at) {
    const { state, table, frequency, shownFeature } = this.app;
    const { ranking, pinned, banned } = state;
    const feature = ranking.order[at];
    const isPinned = pinned.includes(feature), isBanned = banned.includes(feature);
    const moved = ranking.moved ? ranking.moved[at] : 0;
    const change = moved > 0 ? `▲ ${moved}` : moved < 0 ? `▼ ${-moved}` : "";
    const told = moved > 0 ? `up ${moved}` : moved < 0 ? `down ${-moved}` : "unchanged";
    const bar = make("span", { class: "fx-track" }, make("span", { class: "fx-fill", style: { width: `${Math.round(100 * (ranking.bars[at] || 0))}%` } }));
    const gain = ranking.gains ? ranking.gains[at] : null;
    const worth = ranking.gains ? (gain === null ? "" : `+${(100 * gain).toFixed(1)} %`) : shortNumber(ranking.scores[at]);
    const often = frequency ? frequency[feature] : null;
    const classes = [at < ranking.n_selected ? "fx-selected" : "", isBanned ? "fx-banned" : "", feature === shownFeature ? "fx-current" : ""];
    return make("tr", { class: classes.join(" ").trim(), "data-feature": feature },
      make("td", { class: "fx-rank", text: isBanned ? "–" : at + 1 }),
      make("td", { class: moved > 0 ? "fx-up" : moved < 0 ? "fx-down" : "", text: change, "aria-label": told }),
      make("th", { scope: "row" }, make("button", {
        type: "button", class: "fx-link", text: table.feature_names[feature], title: table.feature_names[feature],
        "aria-expanded": String(feature === shownFeature), on: { click: () => this.app.showFeature(feature) },
      })),
      make("td", { class: "fx-bar" }, bar),
      make("td", { class: "fx-score", text: worth }),
      make("td", { class: "fx-often" }, often === null ? null : make("span", { class: "fx-stable", title: `selected in ${Math.round(100 * often)} % of the draws`, text: `${Math.round(100 * often)}%`, style: { "--often": String(often) } })),
      make("td", { class: "fx-tools" },
        make("button", { type: "button", class: "fx-mini", "aria-pressed": String(isPinned), title: isPinned ? "Unpin" : "Pin: always select", "aria-label": `${isPinned ? "Unpin" : "Pin"} ${table.feature_names[feature]}`, text: "★", on: { click: () => this.app.ask({ type: isPinned ? "free" : "pin", feature }) } }),
        make("button", { type: "button", class: "fx-mini", "aria-pressed": String(isBanned), title: isBanned ? "Allow" : "Ban: leave out", "aria-label": `${isBanned ? "Allow" : "Ban"} ${table.feature_names[feature]}`, text: "⊘", on: { click: () => this.app.ask({ type: isBanned ? "free" : "ban", feature }) } })));
  }

  showDetail(reply) {
    if (!reply) { this.detail.hidden = true; return; }
    const { state, table } = this.app;
    const name = table.feature_names[reply.feature];
    const copies = reply.copies.map(({ feature, r }) => make("li", {},
      make("button", { type: "button", class: "fx-link", text: table.feature_names[feature], on: { click: () => this.app.showFeature(feature) } }),
      make("span", { class: "fx-muted", text: ` r = ${r}` })));
    const correlation = reply.groups.correlation;
    replace(this.detail,
      make("div", { class: "fx-row" }, make("h3", { text: name }), button("Close", () => this.app.showFeature(null), { class: "fx-button fx-small" })),
      reply.why ? make("p", { class: "fx-why", text: reply.why }) : null,
      histogram(reply, state.labels.names, this.app.colourNames()),
      correlation === undefined ? null : make("p", { class: "fx-muted", text: `correlation with the target: ${correlation === null ? "–" : correlation}` }),
      copies.length ? make("div", {}, make("p", { class: "fx-muted", text: "Features with similar values:" }), make("ul", { class: "fx-copies" }, copies)) : make("p", { class: "fx-muted", text: "No other feature has similar values (|r| of at least 0.7)." }));
    this.detail.hidden = false;
  }
}
