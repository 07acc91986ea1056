"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  for (const part of document.querySelectorAll(".js")) part.hidden = false;
  const rows = [...document.querySelectorAll("tr[data-row]")];
  const changed = new Set();

  // Any tag may be added to a row; all rows share one list to choose from.
  const place = new Map(data.classes.map((name, j) => [name, j]));
  const all = document.createElement("datalist");
  all.id = "all-tags";
  all.append(...data.classes.map((name) => new Option("", name)));
  document.body.append(all);
  function addTag(row, j) {
    const there = row.querySelector(`input[data-tag="${j}"]`);
    if (there !== null) { there.checked = true; return; }
    const box = document.createElement("input");
    box.type = "checkbox"; box.checked = true; box.dataset.tag = j;
    const label = document.createElement("label");
    label.className = "tag";
    label.append(box, " " + data.classes[j]);
    row.querySelector(".added").append(label, " ");
  }
  document.addEventListener("change", (event) => {
    const row = event.target.closest("tr[data-row]");
    if (row === null) return;
    if (event.target.list) {
      const name = event.target.value.trim();
      if (name === "") return;
      if (!place.has(name)) {
        for (const told of document.querySelectorAll(".corrected")) told.textContent = `No tag is named ${name}: nothing was added.`;
        return;
      }
      addTag(row, place.get(name));
      event.target.value = "";
    }
    const done = row.querySelector("input.done");
    if (event.target !== done) done.checked = true;
    if (done.checked) changed.add(row); else changed.delete(row);
    for (const button of document.querySelectorAll(".save")) button.disabled = changed.size === 0;
    const text = changed.size === 1 ? "1 row checked, not saved yet." : `${changed.size} rows checked, not saved yet.`;
    for (const told of document.querySelectorAll(".corrected")) told.textContent = changed.size ? text : "No row checked yet.";
  });
  const cell = (text) => /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  // A name that holds the separator, or looks like a list, needs a list.
  const odd = (tags) => tags.some((tag) => tag.includes(data.sep) || tag.startsWith("["));
  const written = (tags) => tags.length === 0 ? "[]" : odd(tags) ? JSON.stringify(tags) : tags.join(data.sep);
  function asCsv() {
    const lines = ["row,label"];
    for (const row of rows) {
      if (!changed.has(row)) continue;
      const boxes = [...row.querySelectorAll("input[type=checkbox][data-tag]")].filter((box) => box.checked);
      const tags = boxes.map((box) => data.classes[Number(box.dataset.tag)]);
      lines.push(cell(data.names[Number(row.dataset.row)]) + "," + cell(written(tags)));
    }
    return lines.join("\r\n") + "\r\n";
  }
  for (const button of document.querySelectorAll(".save")) button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([asCsv()], { type: "text/csv" }));
    link.download = "corrections.csv";
    link.click();
    URL.revokeObjectURL(link.href);
    for (const told of document.querySelectorAll(".corrected")) told.textContent = `${changed.size} saved as corrections.csv.`;
  });
})();
