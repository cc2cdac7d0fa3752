// The picture of a graph: loops, trips and calls fold, what is there is laid out anew, a node that is pointed at tells
// what it is, and the whole is fitted into its window, where the wheel, two fingers and dragging move it.
(function () {
  "use strict";
  var script = document.currentScript, svg = script && script.closest ? script.closest("svg") : null;
  if (!svg) return;
  var data = JSON.parse(svg.querySelector("metadata").textContent);
  var WIDTH = 8, ROW = 17, GAP = 14, ACROSS = 22, DOWN = 34, TITLE = ROW + GAP / 2;
  var content = svg.querySelector(".tangentc-content"), boxes = {}, links = [];

  function Box(row, around) {
    var box = {name: row[0], text: row[1], kind: row[2], values: row[3], about: row[4], around: around};
    box.shut = data.folded && (box.kind === "loop" || box.kind === "trip");
    box.inside = row[5].map(function (inner) { return Box(inner, box); });
    return boxes[box.name] = box;
  }
  var whole = Box(["", "", "whole", [], [], data.boxes], null);

  function isOpen(box) { return box.inside.length > 0 && !box.shut; }
  function around(box) { return box ? around(box.around).concat([box]) : []; }
  function seen(box) { return around(box).find(function (b) { return b.shut; }) || box; }
  function titled(box) {
    if (!box.inside.length) return box.text;
    var trips = box.inside[box.inside.length - 1].text.replace("trip ", "");
    return (box.shut ? "\u25b8 " : "\u25be ") + box.text + (box.shut && box.kind === "loop" ? " (" + trips + " trips)" : "");
  }

  // ---------------------------------------------------------------- layout
  // What is in a box stands in rows, each below what it is computed from (Sugiyama, Tagawa and Toda, 1981); an edge
  // that passes rows has a place in each, which the edges from one node share, and one where it comes in or goes out.
  function layOut(box) {
    if (!isOpen(box)) {
      box.width = [titled(box)].concat(box.values.filter(Boolean)).join("  ").length * WIDTH + 2 * GAP;
      box.height = ROW + GAP;
      return;
    }
    box.inside.forEach(layOut);
    var places = {}, rows = [], pairs = [];
    function place(key, of) {
      return places[key] = places[key] || {key: key, box: of, width: of ? of.width : 0, height: of ? of.height : 0,
        rank: 0, above: [], below: []};
    }
    box.inside.forEach(function (b) { place(b.name, b); });
    links.forEach(function (link) {
      var a = within(link.from, box), b = within(link.to, box);
      if (a === b) return;
      link.passes[box.name] = [a ? a.name : "in " + link.from.name, b ? b.name : "out " + link.from.name];
      pairs.push([place(link.passes[box.name][0]), place(link.passes[box.name][1]), link]);
    });
    var order = Object.keys(places).map(function (key) { return places[key]; });
    order.sort(function (a, b) { return stage(a) - stage(b); });
    function stage(p) { return p.box ? 0 : p.key.startsWith("in ") ? -1 : 1; }
    order.forEach(function (p) {
      pairs.forEach(function (pair) { if (pair[0] === p) pair[1].rank = Math.max(pair[1].rank, p.rank + 1); });
    });
    order.slice().reverse().forEach(function (p) {  // what is made of one thing at most stands where it is needed first
      var uses = pairs.filter(function (pair) { return pair[0] === p; });
      var made = pairs.filter(function (pair) { return pair[1] === p; });
      if (p.box && made.length < 2 && uses.length) {
        p.rank = Math.min.apply(null, uses.map(function (pair) { return pair[1].rank; })) - 1;
      }
    });
    var last = Math.max.apply(null, order.map(function (p) { return p.rank; }));
    order.forEach(function (p) { if (stage(p) > 0) p.rank = last; });
    pairs.forEach(function (pair) {
      var here = pair[0], from = pair[2].from.name, way = [here];
      for (var rank = here.rank + 1; rank < pair[1].rank; rank += 1) {
        var next = place("by " + from + " " + rank);
        next.rank = rank;
        join(here, next);
        way.push(here = next);
      }
      join(here, pair[1]);
      pair[2].ways[box.name] = way.concat([pair[1]]);
    });
    Object.keys(places).forEach(function (key) {
      var p = places[key];
      (rows[p.rank] = rows[p.rank] || []).push(p);
    });
    rows = rows.filter(Boolean);
    arrange(rows);
    measure(box, rows);
  }
  function within(inner, box) {
    var way = around(inner), at = way.indexOf(box);
    return at < 0 ? null : way[at + 1] || null;
  }
  function join(a, b) {
    if (a.below.indexOf(b) < 0) { a.below.push(b); b.above.push(a); }
  }
  function mean(numbers) { return numbers.reduce(function (a, b) { return a + b; }, 0) / numbers.length; }
  function middle(p) { return p.x + p.width / 2; }

  // Order each row, and put it where its neighbours above or below are.
  function arrange(rows) {
    function pack(row) {
      var x = 0;
      row.forEach(function (p) { p.x = x; x += p.width + ACROSS; });
      row.forEach(function (p) { p.x -= x / 2; });
    }
    rows.forEach(pack);
    for (var turn = 0; turn < 24; turn += 1) {
      var down = turn % 2 === 0, sorts = turn < 12;
      (down ? rows : rows.slice().reverse()).forEach(function (row) {
        row.forEach(function (p) {
          var near = (down ? p.above : p.below).concat(sorts ? [] : down ? p.below : p.above);
          p.want = near.length ? mean(near.map(middle)) : middle(p);
        });
        if (sorts) row.sort(function (a, b) { return a.want - b.want; });
        var right = -Infinity;
        row.forEach(function (p) {
          p.x = Math.max(p.want - p.width / 2, right);
          right = p.x + p.width + ACROSS;
        });
        var off = mean(row.map(function (p) { return middle(p) - p.want; }));
        row.forEach(function (p) { p.x -= off; });
      });
    }
  }
  function measure(box, rows) {
    var every = [].concat.apply([], rows), y = box.name ? TITLE : 0;
    var left = Math.min.apply(null, every.map(function (p) { return p.x; })) - GAP;
    rows.forEach(function (row, k) {
      var height = Math.max.apply(null, row.map(function (p) { return p.height; }));
      y += k ? (height || k < rows.length - 1 ? DOWN : GAP) : height ? GAP : 0;
      row.forEach(function (p) {
        p.x -= left;
        p.top = y;
        p.bottom = y + height;
        if (p.box) {
          p.box.x = p.x;
          p.box.y = p.top = y + (height - p.height) / 2;
          p.bottom = p.top + p.height;
        }
      });
      y += height;
      if (k === rows.length - 1) y += height ? GAP : 0;
    });
    box.width = Math.max(Math.max.apply(null, every.map(function (p) { return p.x + p.width; })) + GAP,
      titled(box).length * WIDTH + 2 * GAP);
    box.height = y;
  }

  // ---------------------------------------------------------------- drawing
  function make(tag, attributes, text, into) {
    var made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.keys(attributes).forEach(function (name) { made.setAttribute(name, attributes[name]); });
    if (text) made.textContent = text;
    return into ? into.appendChild(made) : made;
  }
  function corner(box) {
    var at = {x: 0, y: 0};
    around(box).forEach(function (b) { at.x += b.x || 0; at.y += b.y || 0; });
    return at;
  }
  function draw() {
    var merged = {};
    links = [];
    data.edges.forEach(function (row) {
      var from = seen(boxes[row[0]]), to = seen(boxes[row[1]]), key = from.name + " " + to.name;
      if (from === to) return;
      var own = from.name === row[0] && to.name === row[1];
      if (merged[key]) { merged[key].carries = merged[key].carries || row[3]; return; }
      links.push(merged[key] = {from: from, to: to, label: own ? row[2] : "", carries: row[3], passes: {}, ways: {}});
    });
    layOut(whole);
    content.replaceChildren();
    hide();
    var shown = [];
    (function each(box) {
      box.inside.forEach(function (b) {
        shown.push(b);
        if (isOpen(b)) each(b);
      });
    })(whole);
    shown.filter(isOpen).forEach(drawBox);
    links.forEach(drawLink);
    shown.filter(function (b) { return !isOpen(b); }).forEach(drawBox);
    fit();
  }
  function drawBox(box) {
    var at = corner(box), folds = box.inside.length > 0, open = isOpen(box);
    var g = make("g", {"class": open ? "tangentc-cluster" : "tangentc-node tangentc-" + box.kind, "data-box": box.name,
      tabindex: 0, transform: "translate(" + at.x + "," + at.y + ")"}, "", content);
    make("rect", {width: box.width, height: box.height, rx: open || box.kind !== "argument" ? 4 : 14}, "", g);
    var text = make("text", open ? {x: GAP / 2, y: ROW} : {x: GAP, y: GAP / 2 + ROW * 0.75}, titled(box), g);
    box.values.forEach(function (value, k) {
      if (value) make("tspan", {"class": k ? "tangentc-is-adjoint" : "tangentc-is-primal", dx: 2 * WIDTH}, value, text);
    });
    if (!folds) {
      g.setAttribute("aria-label", [box.text].concat(box.about.map(function (row) { return row[0]; })).join("; "));
      g.addEventListener("pointerenter", function () { tell(box); });
      g.addEventListener("focus", function () { tell(box); });
      g.addEventListener("pointerleave", hide);
      g.addEventListener("blur", hide);
      return;
    }
    function turn(event) {
      if (moved) return;
      event.preventDefault();
      box.shut = !box.shut;
      draw();
      content.querySelector("[data-box='" + box.name + "']").focus({preventScroll: true});
    }
    g.setAttribute("role", "button");
    g.setAttribute("aria-expanded", String(open));
    g.addEventListener("click", turn);
    g.addEventListener("keydown", function (event) { if (event.key === "Enter" || event.key === " ") turn(event); });
  }
  function pathOf(link) {
    var points = [], up = around(link.from).slice(0, -1).reverse(), down = around(link.to).slice(0, -1);
    up.concat(down.filter(function (b) { return up.indexOf(b) < 0; })).forEach(function (box) {
      var at = corner(box);
      (link.ways[box.name] || []).forEach(function (p) {
        if (p.box && isOpen(p.box)) return;  // its own part says where
        var x = at.x + middle(p);
        if (p.box !== link.from) points.push([x, at.y + p.top]);
        if (p.box !== link.to) points.push([x, at.y + p.bottom]);
      });
    });
    return points;
  }
  function drawLink(link) {
    var points = pathOf(link), d = "M" + points[0].join(" "), y = points[0][1];
    for (var k = 1; k < points.length; k += 1) {
      var x0 = points[k - 1][0], y0 = points[k - 1][1], x1 = points[k][0], y1 = points[k][1], half = (y0 + y1) / 2;
      d += x0 === x1 ? "L" + x1 + " " + y1 : "C" + [x0, half, x1, half, x1, y1].join(" ");
    }
    var g = make("g", {"class": "tangentc-line" + (link.carries ? " tangentc-carries" : ""),
      "data-from": link.from.name, "data-to": link.to.name}, "", content);
    make("path", {"class": "tangentc-edge", d: d, "marker-end": "url(#tangentc-arrow)"}, "", g);
    if (link.label) {
      var end = points[points.length - 1], before = points[points.length - 2];
      make("text", {"class": "tangentc-label", x: (end[0] + before[0]) / 2 + 4, y: (end[1] + before[1]) / 2 + 3},
        link.label, g);
    }
  }

  // ---------------------------------------------------------------- what a node tells
  function hide() {
    svg.querySelectorAll(".tangentc-card").forEach(function (card) { card.remove(); });
    svg.querySelectorAll(".tangentc-near").forEach(function (g) { g.classList.remove("tangentc-near"); });
  }
  function tell(box) {
    hide();
    links.forEach(function (link, k) {
      var g = content.querySelectorAll(".tangentc-line")[k];
      g.classList.toggle("tangentc-near", link.from === box || link.to === box);
    });
    var at = corner(box), scale = Math.max(view.width / svg.clientWidth, view.height / svg.clientHeight) || 1;
    var most = Math.max(16, Math.floor(svg.clientWidth / WIDTH) - 6);
    var rows = box.about.map(function (row) {
      return [row[0].length > most ? row[0].slice(0, most - 1) + "\u2026" : row[0], row[1]];
    });
    var width = Math.max.apply(null, rows.map(function (row) { return row[0].length; })) * WIDTH + 2 * GAP;
    var height = rows.length * ROW + GAP, x = at.x, y = at.y + box.height + 6 * scale;
    x = Math.max(view.x, Math.min(x, view.x + view.width - width * scale));
    if (y + height * scale > view.y + view.height) y = at.y - (height + 6) * scale;
    var place = "translate(" + x + "," + y + ") scale(" + scale + ")";
    var card = make("g", {"class": "tangentc-card", transform: place}, "", svg);
    make("rect", {width: width, height: height, rx: 4}, "", card);
    rows.forEach(function (row, k) {
      make("text", {x: GAP, y: GAP / 2 + (k + 0.75) * ROW, "class": "tangentc-is-" + row[1]}, row[0], card);
    });
  }

  // ---------------------------------------------------------------- moving
  var view = {}, moved = false, held = new Map(), own = svg.parentNode === document || svg.closest(".picture");
  function look(x, y, width, height) {
    view = {x: x, y: y, width: width, height: height};
    svg.setAttribute("viewBox", [x, y, width, height].map(function (n) { return n.toFixed(1); }).join(" "));
  }
  function fit(all) {  // all of it, or as much as can be read
    if (!own) {
      svg.setAttribute("width", Math.round(whole.width));
      svg.setAttribute("height", Math.round(whole.height));
    }
    var most = Math.max(whole.width / svg.clientWidth || 1, whole.height / svg.clientHeight || 1, 0.8);
    if (!all) most = Math.min(most, 2.2);
    var width = svg.clientWidth * most || whole.width, height = svg.clientHeight * most || whole.height;
    look((whole.width - width) / 2, Math.min(0, (whole.height - height) / 2), width, height);
    hide();
  }
  function zoom(factor, x, y) {
    var at = svg.getBoundingClientRect(), along = 0.5, across = 0.5;
    if (x !== undefined) { along = (x - at.left) / at.width; across = (y - at.top) / at.height; }
    var width = view.width / factor, height = view.height / factor;
    look(view.x + (view.width - width) * along, view.y + (view.height - height) * across, width, height);
    hide();
  }
  function spread() {
    var at = Array.from(held.values());
    return Math.hypot(at[0][0] - at[1][0], at[0][1] - at[1][1]) || 1;
  }
  svg.addEventListener("wheel", function (event) {
    if (!own && !event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
  }, {passive: false});
  svg.addEventListener("pointerdown", function (event) {
    held.set(event.pointerId, [event.clientX, event.clientY]);
    moved = false;
  });
  window.addEventListener("pointermove", function (event) {
    var before = held.get(event.pointerId), now = [event.clientX, event.clientY];
    if (!before) return;
    if (!moved && Math.hypot(now[0] - before[0], now[1] - before[1]) < 4) return;
    moved = true;
    var wide = held.size === 2 ? spread() : 0, scale = view.width / svg.clientWidth;
    held.set(event.pointerId, now);
    if (wide) zoom(spread() / wide, now[0], now[1]);
    else look(view.x - (now[0] - before[0]) * scale, view.y - (now[1] - before[1]) * scale, view.width, view.height);
  });
  ["pointerup", "pointercancel"].forEach(function (kind) {
    window.addEventListener(kind, function (event) { held.delete(event.pointerId); });
  });
  svg.addEventListener("keydown", function (event) {
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8);
    else if (event.key === "0") fit(true);
    else if (event.key === "Escape") hide();
  });
  new ResizeObserver(function () { if (svg.clientWidth) fit(); }).observe(svg);
  svg.tangentc = {zoom: zoom, fit: fit};
  svg.querySelectorAll("title").forEach(function (title) { title.remove(); });
  draw();
})();
