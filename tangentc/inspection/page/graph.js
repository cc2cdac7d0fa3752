// Loops, trips and calls of a picture of a graph fold: the boxes in one that is folded are hidden, what stands below
// moves up, and its edges begin and end at the box itself.
(function () {
  "use strict";
  var script = document.currentScript;
  var svg = script && script.closest ? script.closest("svg") : null;
  if (!svg) return;
  var sizes = JSON.parse(svg.querySelector("metadata").textContent);
  var elements = {}, folded = {};
  svg.querySelectorAll("[data-box]").forEach(function (g) { elements[g.dataset.box] = g; });

  function Box(row) {
    return {name: row[0], x: row[1], y: row[2], width: row[3], height: row[4], row: row[5], inside: row[6].map(Box)};
  }

  // The height of a box, and the places of those in it.
  function layOut(box) {
    if (folded[box.name]) return sizes.title + sizes.gap / 2;
    if (!box.inside.length) return box.height;
    var parts = {};
    box.inside.forEach(function (b) {
      b.shown = layOut(b);
      var at = b.row.split(".");
      var rows = parts[at[0]] = parts[at[0]] || {};
      (rows[at[1]] = rows[at[1]] || []).push(b);
    });
    var bottom = 0;
    Object.keys(parts).forEach(function (part) {
      var top = (box.name ? sizes.title : 0) + sizes.gap;
      Object.keys(parts[part]).map(Number).sort(function (a, b) { return a - b; }).forEach(function (rank) {
        var row = parts[part][rank];
        var height = Math.max.apply(null, row.map(function (b) { return b.shown; }));
        row.forEach(function (b) { b.y = top + (height - b.shown) / 2; });
        top += height + sizes.between;
      });
      bottom = Math.max(bottom, top - sizes.between);
    });
    return bottom + sizes.gap;
  }

  // Put the boxes where they stand; `shownAs` is the box that stands for them.
  function put(box, x, y, shownAs, places) {
    box.inside.forEach(function (b) {
      var g = elements[b.name], at = shownAs || {x: x + b.x, y: y + b.y, width: b.width, height: b.shown};
      g.style.display = shownAs ? "none" : "";
      places[b.name] = at;
      if (!shownAs) {
        g.setAttribute("transform", "translate(" + at.x.toFixed(1) + "," + at.y.toFixed(1) + ")");
        g.querySelector("rect").setAttribute("height", at.height.toFixed(1));
      }
      put(b, x + b.x, y + b.y, shownAs || (folded[b.name] ? Object.assign({whole: true}, at) : null), places);
    });
  }

  function draw() {
    var height = layOut(whole), places = {};
    put(whole, 0, 0, null, places);
    svg.setAttribute("viewBox", "0 0 " + Math.round(whole.width) + " " + Math.round(height));
    svg.setAttribute("height", Math.round(height));
    var seen = new Set();
    svg.querySelectorAll(".tangentc-line").forEach(function (g) {
      var a = places[g.dataset.from], b = places[g.dataset.to], label = g.querySelector("text");
      var x0 = a.x + a.width / 2, y0 = a.y + a.height, x1 = b.x + b.width / 2, y1 = b.y, middle = (y0 + y1) / 2;
      var path = "M" + [x0, y0].join(" ") + "C" + [x0, middle, x1, middle, x1, y1].join(" ");
      g.style.display = a === b || seen.has(path) ? "none" : "";
      seen.add(path);
      g.querySelector("path").setAttribute("d", path);
      if (label) {
        label.style.display = a.whole || b.whole ? "none" : "";
        label.setAttribute("x", x0 + (x1 - x0) * 0.156 + 4);
        label.setAttribute("y", y0 + (y1 - y0) * 0.36);
      }
    });
    Object.keys(elements).forEach(function (name) {
      var g = elements[name];
      if (!g.classList.contains("tangentc-cluster")) return;
      g.setAttribute("aria-expanded", String(!folded[name]));
      g.querySelector("text").textContent = (folded[name] ? "\u25b8 " : "\u25be ") + g.querySelector("title").textContent;
    });
  }

  var whole = Box(sizes.tree);
  Object.keys(elements).forEach(function (name) {
    var g = elements[name];
    if (!g.classList.contains("tangentc-cluster")) return;
    function turn(event) {
      folded[name] = !folded[name];
      draw();
      event.preventDefault();
    }
    g.setAttribute("role", "button");
    g.setAttribute("tabindex", "0");
    g.addEventListener("click", turn);
    g.addEventListener("keydown", function (event) {
      if (event.key === "Enter" || event.key === " ") turn(event);
    });
  });
  draw();
})();
