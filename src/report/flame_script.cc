// The script inside a flame graph: zoom, search, details. It reads the boxes from the SVG elements, so the graph is
// complete where scripts do not run.
// SPDX-License-Identifier: Apache-2.0
#include "report/flame_layout.h"

namespace opscope {

const char* const kFlameScript = R"js("use strict";
(function () {
  const byId = function (id) { return document.getElementById(id); };
  const svg = document.documentElement, details = byId("details"), matched = byId("matched");
  const searchButton = byId("search"), resetButton = byId("reset");
  const all = Number(svg.getAttribute("data-width")), left = Number(svg.getAttribute("data-left"));
  const letter = Number(svg.getAttribute("data-letter"));
  const hint = details.textContent;
  const boxes = Array.from(byId("boxes").children).map(function (g) {
    const rect = g.querySelector("rect"), title = g.querySelector("title").textContent;
    return {
      g: g, rect: rect, text: g.querySelector("text"), title: title, fill: rect.getAttribute("fill"),
      name: g.getAttribute("data-name") || title, x: Number(rect.getAttribute("x")) - left,
      width: Number(rect.getAttribute("width")), depth: Number(g.getAttribute("data-depth"))
    };
  });
  let pattern = null;

  function place(box, x, width) {
    box.rect.setAttribute("x", (left + x).toFixed(2));
    box.rect.setAttribute("width", Math.max(width, 0).toFixed(2));
    const room = Math.floor((width - 6) / letter);
    box.text.setAttribute("x", (left + x + 3).toFixed(2));
    box.text.textContent = room < 3 ? "" : box.name.length <= room ? box.name : box.name.slice(0, room - 2) + "..";
  }
  function zoom(target) {
    const scale = all / target.width, end = target.x + target.width, slack = 0.011;
    for (const box of boxes) {
      const holds = box.depth <= target.depth && box.x <= target.x + slack && box.x + box.width >= end - slack;
      const inside = box.depth > target.depth && box.x >= target.x - slack && box.x + box.width <= end + slack;
      box.g.style.display = holds || inside ? "" : "none";
      box.g.style.opacity = holds && box.depth < target.depth ? "0.5" : "";
      if (holds) { place(box, 0, all); } else if (inside) { place(box, (box.x - target.x) * scale, box.width * scale); }
    }
    resetButton.style.display = target.depth === 0 ? "none" : "";
  }
  function show() {
    let until = -1, width = 0;
    const found = [];
    for (const box of boxes) {
      const hit = pattern !== null && box.depth > 0 && pattern.test(box.name);
      box.rect.setAttribute("fill", hit ? "rgb(230,0,230)" : box.fill);
      if (hit) { found.push(box); }
    }
    found.sort(function (a, b) { return a.x - b.x || b.width - a.width; });
    for (const box of found) {
      if (box.x + box.width <= until) { continue; }
      width += box.x + box.width - Math.max(box.x, until);
      until = box.x + box.width;
    }
    matched.textContent = pattern === null ? "" : "Matched: " + (100 * width / all).toFixed(1) + "%";
    searchButton.textContent = pattern === null ? "Search" : "Reset Search";
  }
  function search() {
    if (pattern !== null) { pattern = null; show(); return; }
    const asked = window.prompt("Names to search for (a regular expression):", "");
    if (!asked) { return; }
    try { pattern = new RegExp(asked); } catch (error) { window.alert(error.message); return; }
    show();
  }
  for (const box of boxes) {
    box.g.addEventListener("click", function () { zoom(box); });
    box.g.addEventListener("mouseover", function () { details.textContent = box.title; });
    box.g.addEventListener("mouseout", function () { details.textContent = hint; });
  }
  searchButton.addEventListener("click", search);
  resetButton.addEventListener("click", function () { zoom(boxes[0]); });
  window.addEventListener("keydown", function (event) {
    if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f")) {
      event.preventDefault();
      pattern = null;
      search();
    } else if (event.key === "Escape") {
      pattern = null;
      show();
      zoom(boxes[0]);
    }
  });
  searchButton.style.display = "";
})();
)js";

}  // namespace opscope
