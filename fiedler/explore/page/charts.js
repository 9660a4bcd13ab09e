// Small drawings: curves, histograms by class, and rows as spectra or images.
import { make, shortNumber } from "./dom.js";

export function lineChart({ title, series, width = 260, height = 120, mark = null, unit = (v) => shortNumber(v) }) {
  const left = 36, right = 8, top = 8, bottom = 20;
  const xs = series.flatMap((s) => s.points.map((p) => p[0]));
  const ys = series.flatMap((s) => s.points.map((p) => p[1])).filter((v) => v !== null);
  const low = Math.min(0, ...ys), high = Math.max(...ys, low + 1e-9);
  const first = Math.min(...xs), last = Math.max(...xs, first + 1e-9);
  const x = (v) => left + ((v - first) / (last - first)) * (width - left - right);
  const y = (v) => height - bottom - ((v - low) / (high - low)) * (height - top - bottom);
  const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, class: "fx-chart", role: "img", "aria-label": title });
  for (const v of [low, high]) {
    svg.append(make("svg:line", { x1: left, x2: width - right, y1: y(v), y2: y(v), class: "fx-grid" }));
    svg.append(make("svg:text", { x: left - 4, y: y(v) + 4, "text-anchor": "end", class: "fx-tick", text: unit(v) }));
  }
  for (const [v, anchor] of [[first, "start"], [last, "end"]]) {
    svg.append(make("svg:text", { x: x(v), y: height - 5, "text-anchor": anchor, class: "fx-tick", text: String(Math.round(v)) }));
  }
  if (mark !== null && mark >= first && mark <= last) {
    svg.append(make("svg:line", { x1: x(mark), x2: x(mark), y1: top, y2: height - bottom, class: "fx-mark" }));
  }
  series.forEach((s, at) => {
    const points = s.points.filter((p) => p[1] !== null).map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`);
    svg.append(make("svg:polyline", { points: points.join(" "), class: `fx-line fx-line-${at}` }));
    if (points.length < 30) for (const p of points) svg.append(make("svg:circle", { cx: p.split(",")[0], cy: p.split(",")[1], r: 2, class: `fx-dot fx-line-${at}` }));
  });
  return make("figure", { class: "fx-figure" }, make("figcaption", { text: title }), svg);
}

export function histogram({ groups, ends }, names, colourNames, width = 300) {
  const rows = groups.classes ? groups.classes.map((counts, code) => [names[code], counts, colourNames[code]]) : [["all rows", groups.all, "accent"]];
  const figure = make("div", { class: "fx-histograms" });
  for (const [name, counts, colour] of rows.slice(0, 12)) {
    const most = Math.max(1, ...counts);
    const height = rows.length > 1 ? 26 : 60;
    const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, class: "fx-histogram", role: "img", "aria-label": `${name}: ${counts.reduce((a, b) => a + b, 0)} rows` });
    const step = width / counts.length;
    counts.forEach((count, at) => {
      if (!count) return;
      const h = Math.max(1.5, (count / most) * (height - 2));
      svg.append(make("svg:rect", { x: at * step + 0.5, y: height - h, width: step - 1, height: h, class: `fx-bar-${colour}` }));
    });
    figure.append(make("div", { class: "fx-histogram-row" }, make("span", { class: "fx-name", text: name }), svg));
  }
  figure.append(make("div", { class: "fx-range" }, ends.map((text) => make("span", { text }))));
  return figure;
}

export function rowPicture(values, table) {
  if (!values) return null;
  const known = values.filter((v) => v !== null);
  const low = Math.min(...known), high = Math.max(...known, low + 1e-12);
  if (table.image) {
    const [height, width] = table.image;
    const canvas = make("canvas", { width, height, class: "fx-image", role: "img", "aria-label": "The row as an image" });
    const g = canvas.getContext("2d");
    const pixels = g.createImageData(width, height);
    values.forEach((v, at) => {
      const shade = v === null ? 0 : Math.round((255 * (v - low)) / (high - low));
      pixels.data.set([shade, shade, shade, 255], 4 * at);
    });
    g.putImageData(pixels, 0, 0);
    return canvas;
  }
  const axis = table.axis;
  const first = Math.min(axis[0], axis[axis.length - 1]), last = Math.max(axis[0], axis[axis.length - 1]);
  const points = values.map((v, at) => (v === null ? null : `${((axis[at] - first) / (last - first) * 200).toFixed(1)},${(60 - ((v - low) / (high - low)) * 56).toFixed(1)}`));
  const svg = make("svg:svg", { viewBox: "0 0 200 64", class: "fx-spectrum", role: "img", "aria-label": "The row as a spectrum" });
  svg.append(make("svg:polyline", { points: points.filter(Boolean).join(" "), class: "fx-line fx-line-0" }));
  return svg;
}
