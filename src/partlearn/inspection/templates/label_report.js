"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const corrections = new Map();
  let box = null; // selected rectangle, in the units of the picture
  for (const part of document.querySelectorAll(".js")) part.hidden = false;

  // Characters that reorder text are shown, not obeyed.
  const visible = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => "[U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "]");
  const candidates = (i) => data.sets[data.set[i]];

  function chooser(i) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", "Right label of row " + visible(data.names[i]));
    select.dataset.row = i;
    const labels = ["", ...candidates(i), ...data.classes.keys()];
    labels.forEach((j, place) => {
      const other = place > candidates(i).length;
      if (other && candidates(i).includes(j)) return;
      const option = new Option(j === "" ? "not checked" : visible(data.classes[j]) + (other ? " (no candidate)" : ""), j);
      select.add(option);
    });
    select.value = corrections.has(i) ? corrections.get(i) : "";
    return select;
  }

  document.addEventListener("change", (event) => {
    const row = event.target.dataset && event.target.dataset.row;
    if (row === undefined || event.target.tagName !== "SELECT") return;
    const i = Number(row);
    if (event.target.value === "") corrections.delete(i);
    else corrections.set(i, Number(event.target.value));
    for (const twin of document.querySelectorAll(`select[data-row="${i}"]`)) twin.value = event.target.value;
    for (const button of document.querySelectorAll(".save")) button.disabled = corrections.size === 0;
    const text = corrections.size === 1 ? "1 correction, not saved yet." : `${corrections.size} corrections, not saved yet.`;
    for (const place of document.querySelectorAll(".corrected")) place.textContent = corrections.size ? text : "No correction yet.";
  });

  const cell = (text) => /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  function asCsv() {
    const lines = ["row,label"];
    for (const [i, j] of corrections) lines.push(cell(data.names[i]) + "," + cell(data.classes[j]));
    return lines.join("\r\n") + "\r\n";
  }
  for (const button of document.querySelectorAll(".save")) button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([asCsv()], { type: "text/csv" }));
    link.download = "corrections.csv";
    link.click();
    URL.revokeObjectURL(link.href);
    for (const place of document.querySelectorAll(".corrected")) place.textContent = `${corrections.size} saved as corrections.csv.`;
  });
  for (const place of document.querySelectorAll("td[data-row]")) place.append(chooser(Number(place.dataset.row)));

  // The list: rows inside the rectangle and the filters, the least certain first.
  const order = data.names.map((_, i) => i).sort((a, b) => data.confidence[a] - data.confidence[b] || a - b);
  data.classes.forEach((name, j) => byId("by-label").add(new Option(visible(name), j)));
  function inside(i) {
    if (!box) return true;
    const x = data.xy[2 * i], y = data.xy[2 * i + 1];
    return x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3];
  }
  function list() {
    const label = byId("by-label").value, most = 100 * Number(byId("by-confidence").value);
    const part = byId("by-name").value.toLowerCase();
    const rows = order.filter((i) => inside(i) && data.confidence[i] <= most &&
      (label === "" || data.label[i] === Number(label)) && (!part || data.names[i].toLowerCase().includes(part)));
    const shown = rows.slice(0, 20);
    byId("count").textContent = `${rows.length} row${rows.length === 1 ? "" : "s"}${box ? " in the rectangle" : ""}` +
      (rows.length > shown.length ? `; the ${shown.length} least certain are listed` : "");
    byId("listed").replaceChildren(...shown.map((i) => {
      const line = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = visible(data.names[i]);
      line.append(head);
      const texts = [["label", data.classes[data.label[i]]], ["confidence", (data.confidence[i] / 100).toFixed(2)],
        ["candidates", candidates(i).map((j) => data.classes[j]).join(", ")]];
      for (const [name, text] of texts) {
        const td = document.createElement("td");
        td.dataset.name = name;
        td.textContent = visible(text);
        line.append(td);
      }
      const last = document.createElement("td");
      last.append(chooser(i));
      line.append(last);
      return line;
    }));
  }
  for (const id of ["by-label", "by-confidence", "by-name"]) byId(id).addEventListener("input", list);
  byId("clear").addEventListener("click", () => {
    box = null;
    byId("by-label").value = "";
    byId("by-confidence").value = 1;
    byId("by-name").value = "";
    draw();
    list();
  });

  // The picture of all rows.
  const view = byId("view");
  let canvas = null;
  const side = 1000;
  // Names of labels at the middle of their rows, as the picture without a script has them.
  const marks = [...document.querySelectorAll(".mark")].map((text) =>
    [Number(text.getAttribute("x")), Number(text.getAttribute("y")), text.textContent]);
  const radius = (i) => data.radius + 0.1 * (100 - data.confidence[i]);
  function draw() {
    if (!canvas) return;
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, side, side);
    pen.globalAlpha = data.names.length > 5000 ? 0.5 : 0.75;
    for (let k = order.length - 1; k >= 0; k--) { // doubtful rows on top
      const i = order[k];
      pen.fillStyle = data.colors[data.label[i] % data.colors.length];
      pen.beginPath();
      pen.arc(data.xy[2 * i], data.xy[2 * i + 1], radius(i), 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    const ink = getComputedStyle(document.body).color;
    pen.font = "600 32px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 10;
    pen.strokeStyle = getComputedStyle(view).backgroundColor;
    pen.fillStyle = ink;
    for (const [x, y, name] of marks) {
      pen.strokeText(name, x, y);
      pen.fillText(name, x, y);
    }
    if (box) {
      pen.strokeStyle = ink;
      pen.lineWidth = 3;
      pen.strokeRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
    }
  }
  if (view && data.xy) {
    canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", byId("static").getAttribute("aria-label").replace(/of \d+ rows/, `of ${data.names.length} rows`));
    byId("static").replaceWith(canvas);
    const caption = view.parentElement.querySelector("figcaption");
    if (caption) caption.remove();
    const tip = byId("tip");
    const place = (event) => {
      const edge = canvas.getBoundingClientRect();
      return [(event.clientX - edge.left) * side / edge.width, (event.clientY - edge.top) * side / edge.height];
    };
    let start = null;
    canvas.addEventListener("pointerdown", (event) => { start = place(event); canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (start) {
        box = [Math.min(start[0], x), Math.min(start[1], y), Math.max(start[0], x), Math.max(start[1], y)];
        tip.hidden = true;
        draw();
        return;
      }
      let best = -1, least = 400;
      for (let i = 0; i < data.names.length; i++) {
        const dx = data.xy[2 * i] - x, dy = data.xy[2 * i + 1] - y, gap = dx * dx + dy * dy;
        if (gap < least) { least = gap; best = i; }
      }
      tip.hidden = best < 0;
      if (best < 0) return;
      tip.textContent = visible(`Row ${data.names[best]}: ${data.classes[data.label[best]]}, confidence ${(data.confidence[best] / 100).toFixed(2)}`);
      tip.style.left = Math.min(72, 100 * data.xy[2 * best] / side) + "%";
      tip.style.top = Math.min(90, 100 * data.xy[2 * best + 1] / side + 2) + "%";
    });
    canvas.addEventListener("pointerup", () => {
      if (box && (box[2] - box[0] < 8 || box[3] - box[1] < 8)) box = null;
      start = null;
      draw();
      list();
    });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  }
  list();
})();
