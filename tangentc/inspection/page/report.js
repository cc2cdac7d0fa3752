// Tabs, the texts of the stages, and tables that sort.
(function () {
  "use strict";
  document.querySelectorAll("[role=tablist]").forEach(function (list) {
    var tabs = Array.from(list.querySelectorAll("[role=tab]"));
    function show(tab) {
      tabs.forEach(function (t) {
        t.setAttribute("aria-selected", String(t === tab));
        t.tabIndex = t === tab ? 0 : -1;
        document.getElementById(t.getAttribute("aria-controls")).hidden = t !== tab;
      });
      document.querySelectorAll("ol[data-stage]:empty").forEach(function (ol) {
        if (ol.offsetParent) fill(ol);
      });
    }
    list.addEventListener("click", function (event) {
      var tab = event.target.closest("[role=tab]");
      if (tab) show(tab);
    });
    list.addEventListener("keydown", function (event) {
      var at = tabs.indexOf(document.activeElement), last = tabs.length - 1;
      var to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last}[event.key];
      if (at < 0 || to === undefined) return;
      to = (to + tabs.length) % tabs.length;
      show(tabs[to]);
      tabs[to].focus();
      event.preventDefault();
    });
  });

  document.querySelectorAll(".zoom button").forEach(function (button) {
    button.addEventListener("click", function () {
      var picture = document.querySelector(".picture svg").tangentc;
      if (button.dataset.zoom) picture.zoom(Number(button.dataset.zoom));
      else picture.fit(true);
    });
  });

  // What a stage changed is told as what stays (a number), what is gone (below zero) and what is new (a text).
  var stages = JSON.parse(document.getElementById("stages").textContent), CONTEXT = 3;
  function rows(k) {  // of the program after a stage, each with how it came there
    var stage = stages[k], before = [], at = 0, out = [];
    if (stage.rows) return stage.rows;
    if (stage.base !== null) before = texts(stage.base);
    stage.ops.forEach(function (op) {
      if (typeof op === "string") {
        op.split("\n").forEach(function (text) { out.push([text, stage.base === null ? "" : "new"]); });
      } else {
        before.slice(at, at += Math.abs(op)).forEach(function (text) { out.push([text, op > 0 ? "" : "gone"]); });
      }
    });
    return stage.rows = out;
  }
  function texts(k) {
    return rows(k).filter(function (row) { return row[1] !== "gone"; }).map(function (row) { return row[0]; });
  }
  function fill(ol) {
    var every = rows(Number(ol.dataset.stage)), whole = stages[ol.dataset.stage].base === null;
    function item(row) {
      var li = document.createElement("li"), text = row[0] || " ";
      li.className = row[1];
      (row[1] ? li.appendChild(document.createElement(row[1] === "new" ? "ins" : "del")) : li).textContent = text;
      if (/^\s*#/.test(text)) li.classList.add("remark");
      return li;
    }
    for (var k = 0; k < every.length;) {
      var end = k;
      while (end < every.length && !every[end][1]) end += 1;
      var first = k ? k + CONTEXT : k, last = end < every.length ? end - CONTEXT : end;
      if (whole || last - first < 2 * CONTEXT) first = last = end;
      ol.append(...every.slice(k, first).map(item));
      if (last > first) ol.append(more(every.slice(first, last).map(item)));
      ol.append(...every.slice(last, end).map(item));
      for (k = end; k < every.length && every[k][1]; k += 1) ol.append(item(every[k]));
    }
  }
  function more(items) {
    var li = document.createElement("li"), button = li.appendChild(document.createElement("button"));
    li.className = "more";
    button.textContent = "\u2026 " + items.length + " rows as before";
    button.addEventListener("click", function () { li.replaceWith(...items); });
    return li;
  }

  // A click on the head of a column sorts by it, another one the other way, a third one puts the rows back.
  function value(cell) {
    var text = cell ? cell.textContent : "", shape = /^\(([\d, ]*)\)$/.exec(text);
    if (shape) return shape[1].split(",").filter(Boolean).reduce(function (n, part) { return n * Number(part); }, 1);
    return text.trim() === "" || isNaN(text) ? text : Number(text);
  }
  function compare(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : Number(a > b);
    return typeof a === "number" ? -1 : 1;
  }
  document.querySelectorAll(".tangentc table").forEach(function (table) {
    var body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells), given = Array.from(body.rows);
    heads.forEach(function (head, k) {
      var button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", function () {
        var next = {ascending: "descending", descending: "none"}[head.ariaSort] || "ascending";
        heads.forEach(function (other) { other.ariaSort = other === head ? next : "none"; });
        var rows = given.slice();
        if (next !== "none") {
          var sign = next === "ascending" ? 1 : -1;
          rows = rows.filter(function (row) { return row.cells.length > 1; });
          rows.sort(function (a, b) {
            var x = value(a.cells[k]), y = value(b.cells[k]);
            return x === "" || y === "" ? Number(x === "") - Number(y === "") : sign * compare(x, y);
          });
        }
        body.replaceChildren(...rows);
      });
    });
  });
})();
