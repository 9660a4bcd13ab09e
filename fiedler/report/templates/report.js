(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;

  // Theme: what the system prefers, until the reader chooses.
  const toggle = byId("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("fiedler-theme"); } catch (e) { /* no storage here */ }
  const isDark = () => (chosen ? chosen === "dark" : system.matches);
  const paint = () => {
    if (chosen) root.dataset.theme = chosen;
    else delete root.dataset.theme; // the style sheet asks the system itself
    toggle.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    try { localStorage.setItem("fiedler-theme", chosen); } catch (e) { /* no storage here */ }
    paint();
  });
  system.addEventListener("change", paint);
  paint();
  window.addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    document.querySelectorAll("details").forEach((d) => { d.open = true; });
  });
  window.addEventListener("afterprint", paint);

  // A mark's own <title>, and the whole of a name that was cut, become a tip that appears at once, on a tap too.
  const tip = byId("tip");
  document.querySelectorAll("[title]").forEach((cut) => {
    cut.setAttribute("data-tip", cut.getAttribute("title"));
    cut.removeAttribute("title");
  });
  document.querySelectorAll(".mark > title").forEach((title) => {
    title.parentNode.setAttribute("data-tip", title.textContent);
    title.remove();
  });
  const show = (event) => {
    const mark = event.target.closest ? event.target.closest("[data-tip]") : null;
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.getAttribute("data-tip");
    const box = tip.getBoundingClientRect();
    const left = Math.max(6, Math.min(event.clientX + 12, window.innerWidth - box.width - 6));
    const above = event.clientY - box.height - 10;
    tip.style.left = left + "px";
    tip.style.top = (above > 4 ? above : event.clientY + 16) + "px";
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("pointermove", (event) => { if (!tip.hidden) show(event); });
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // The ranking: searched and sorted over every row that the page holds, a page of rows at a time.
  const data = JSON.parse(byId("ranking-data").textContent);
  const rows = data.rows.map((row, at) => {
    const made = { rank: at + 1, name: row[0], score: row[1], length: row[2], note: row[3] ?? "", text: row[0].toLowerCase() };
    data.columns.forEach((column, k) => { made[column.name] = row[4 + k] ?? null; });
    return made;
  });
  const body = byId("ranking").tBodies[0];
  const headers = Array.from(byId("ranking").tHead.querySelectorAll("th[data-key]"));
  const state = { key: "rank", down: false, words: "", only: false, shown: data.page };
  const number = new Intl.NumberFormat("en");

  const short = (value, digits = 5) => {
    if (value === null) return "–";
    if (typeof value === "string") return value;
    if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e6)) return value.toExponential(Math.min(digits - 1, 3));
    return String(Number(value.toPrecision(digits)));
  };
  const order = (value) => (value === null ? NaN : Number(String(value).replace("inf", "Infinity")));
  const compare = (a, b) => {
    if (state.key === "name") return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
    const x = order(a[state.key]), y = order(b[state.key]);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return x < y ? -1 : x > y ? 1 : 0;
  };
  const cell = (tag, name, text) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.textContent = text;
    return made;
  };
  const line = (row) => {
    const made = document.createElement("tr");
    if (row.rank > data.selected) made.className = "off";
    made.append(cell("td", "rank", row.rank));
    const cut = row.name.length > data.longest;
    const head = cell("th", "name", cut ? row.name.slice(0, data.longest - 1) + "…" : row.name);
    if (cut) head.setAttribute("data-tip", row.name);
    head.scope = "row";
    head.dir = "auto";
    made.append(head, cell("td", "score", short(row.score)));
    const bar = cell("td", "bar", ""), track = cell("span", "track", ""), part = cell("span", "", "");
    part.style.width = row.length + "%";
    track.append(part);
    bar.append(track);
    made.append(bar);
    for (const column of data.columns) {
      const value = row[column.name], share = column.share && typeof value === "number";
      made.append(cell("td", "more " + column.name, share ? Math.round(100 * value) + " %" : short(value, column.digits)));
    }
    made.append(cell("td", "note", row.note || (row.rank <= data.selected ? "selected" : "")));
    return made;
  };
  // All rows as CSV, in the order of the ranking. A cell that a spreadsheet would run as a formula gets a quote.
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  byId("download").addEventListener("click", () => {
    const names = data.columns.map((column) => column.name);
    const header = ["rank", "feature", data.value, ...names, "selected", "remark"];
    const lines = rows.map((r) => [r.rank, r.name, r.score, ...names.map((n) => r[n]), r.rank <= data.selected, r.note]);
    const text = [header, ...lines].map((cells) => cells.map(quoted).join(",")).join("\r\n") + "\r\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = "ranking.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const draw = () => {
    const found = rows.filter((r) => (!state.only || r.rank <= data.selected) && r.text.includes(state.words));
    if (state.key !== "rank" || state.down) {
      found.sort((a, b) => {
        const missing = state.key === "name" ? 0 : Number.isNaN(order(a[state.key])) - Number.isNaN(order(b[state.key]));
        return missing || (state.down ? -compare(a, b) : compare(a, b)) || a.rank - b.rank;
      });
    }
    const part = found.slice(0, state.shown);
    body.replaceChildren(...part.map(line));
    for (const header of headers) {
      const mine = header.dataset.key === state.key;
      header.setAttribute("aria-sort", mine ? (state.down ? "descending" : "ascending") : "none");
    }
    const what = found.length === rows.length ? "" : number.format(found.length) + " match; ";
    byId("count").textContent = what + number.format(part.length) + " of " + number.format(data.total) + " features shown";
    byId("more").hidden = part.length >= found.length;
  };
  for (const header of headers) {
    header.querySelector("button").addEventListener("click", () => {
      const key = header.dataset.key;
      state.down = state.key === key ? !state.down : data.columns.some((column) => column.name === key && column.down);
      state.key = key;
      draw();
    });
  }
  byId("search").addEventListener("input", (event) => {
    state.words = event.target.value.trim().toLowerCase();
    state.shown = data.page;
    draw();
  });
  byId("only").addEventListener("change", (event) => { state.only = event.target.checked; draw(); });
  byId("more").addEventListener("click", () => { state.shown += data.page; draw(); });
  byId("tools").hidden = false;
  draw();
})();
