"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  for (const part of document.querySelectorAll(".js")) part.hidden = false;
  const rows = [...document.querySelectorAll("tr[data-row]")];
  const changed = new Set();

  // Any tag may be added to a row.
  for (const row of rows) {
    const select = row.querySelector("select");
    const known = new Set([...row.querySelectorAll("input[type=checkbox][data-tag]")].map((box) => Number(box.dataset.tag)));
    data.classes.forEach((name, j) => { if (!known.has(j)) select.add(new Option(name, j)); });
  }
  function addTag(row, j) {
    const box = document.createElement("input");
    box.type = "checkbox"; box.checked = true; box.dataset.tag = j;
    const label = document.createElement("label");
    label.append(box, " " + data.classes[j]);
    row.querySelector(".added").append(label, " ");
  }
  document.addEventListener("change", (event) => {
    const row = event.target.closest("tr[data-row]");
    if (row === null) return;
    if (event.target.tagName === "SELECT" && event.target.value !== "") {
      addTag(row, Number(event.target.value));
      event.target.remove(event.target.selectedIndex);
      event.target.value = "";
    }
    const done = row.querySelector("input.done");
    if (event.target !== done) done.checked = true;
    if (done.checked) changed.add(row); else changed.delete(row);
    for (const button of document.querySelectorAll(".save")) button.disabled = changed.size === 0;
    const text = changed.size === 1 ? "1 row checked, not saved yet." : `${changed.size} rows checked, not saved yet.`;
    for (const place of document.querySelectorAll(".corrected")) place.textContent = changed.size ? text : "No row checked yet.";
  });
  const cell = (text) => /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  function asCsv() {
    const lines = ["row,label"];
    for (const row of rows) {
      if (!changed.has(row)) continue;
      const boxes = [...row.querySelectorAll("input[type=checkbox][data-tag]")].filter((box) => box.checked);
      const tags = boxes.map((box) => data.classes[Number(box.dataset.tag)]);
      lines.push(cell(data.names[Number(row.dataset.row)]) + "," + cell(tags.length ? tags.join("|") : "[]"));
    }
    return lines.join("\r\n") + "\r\n";
  }
  for (const button of document.querySelectorAll(".save")) button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([asCsv()], { type: "text/csv" }));
    link.download = "corrections.csv";
    link.click();
    URL.revokeObjectURL(link.href);
    for (const place of document.querySelectorAll(".corrected")) place.textContent = `${changed.size} saved as corrections.csv.`;
  });
})();
