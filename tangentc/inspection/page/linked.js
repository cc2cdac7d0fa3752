// Rows of the two texts that belong together light up together, and so do a variable and its adjoint.
(function () {
  "use strict";
  var yours = document.getElementById("yours"), emitted = document.getElementById("emitted");
  var details = document.getElementById("details"), help = details.innerHTML;
  var pinned = null, held = null;  // the key of the row that was chosen, and the row itself

  function all(selector) { return Array.from(document.querySelectorAll(selector)); }
  function rowsOf(side) { return Array.from(side.querySelectorAll("li[data-g]")); }
  function sameGroup(key) { return all("li[data-g]").filter(function (li) { return li.dataset.g === key; }); }
  function plain(li) {
    var copy = li.cloneNode(true);
    copy.querySelectorAll(".value").forEach(function (value) { value.remove(); });
    return copy.textContent.replace(/\s+#.*$/, "").trim();
  }

  function light(key) {
    all("li.lit").forEach(function (li) { li.classList.remove("lit"); });
    if (key) sameGroup(key).forEach(function (li) { li.classList.add("lit"); });
    tell(key);
  }

  function tell(key) {
    if (!key) { details.innerHTML = help; return; }
    var table = document.createElement("table");
    sameGroup(key).filter(function (li) { return emitted.contains(li) && li.dataset.note; }).forEach(function (li) {
      var row = table.insertRow();
      [li.dataset.n, plain(li), li.dataset.note].forEach(function (text) { row.insertCell().textContent = text; });
    });
    details.textContent = "";
    if (table.rows.length) { details.appendChild(table); return; }
    var nothing = document.createElement("p");
    nothing.textContent = "Nothing in the derivative computes anything for this line.";
    details.appendChild(nothing);
  }

  function name(value) {
    all("[data-v].named").forEach(function (span) { span.classList.remove("named"); });
    if (value) all("[data-v]").forEach(function (span) { span.classList.toggle("named", span.dataset.v === value); });
  }

  function reveal(li, smooth) {
    var side = li.parentNode, top = li.offsetTop;
    if (top < side.scrollTop || top + li.offsetHeight > side.scrollTop + side.clientHeight) {
      side.scrollTo({top: Math.max(0, top - side.clientHeight / 3), behavior: smooth ? "smooth" : "auto"});
    }
  }

  function choose(li) {
    var side = li.parentNode;
    side.querySelectorAll("li.here").forEach(function (other) {
      other.classList.remove("here");
      other.removeAttribute("id");
    });
    li.classList.add("here");
    li.id = side.id + "-here";
    side.setAttribute("aria-activedescendant", li.id);
    held = {side: side, text: plain(li), number: Number(li.dataset.n)};
    pinned = li.dataset.g;
    light(pinned);
  }

  function go(li) {
    choose(li);
    reveal(li, false);
    var other = li.parentNode === yours ? emitted : yours;
    var first = rowsOf(other).find(function (row) { return row.dataset.g === pinned; });
    if (first) reveal(first, true);
  }

  function drop() {
    pinned = held = null;
    light(null);
    name(null);
  }

  // The rows are others now: what was chosen stays so, if a row with its text is there.
  function anew(other) {
    var same = held && !other ? rowsOf(held.side).filter(function (li) { return plain(li) === held.text; }) : [];
    function away(li) { return Math.abs(Number(li.dataset.n) - held.number); }
    if (same.length) choose(same.reduce(function (a, b) { return away(b) < away(a) ? b : a; }));
    else drop();
  }

  [yours, emitted].forEach(function (side) {
    side.addEventListener("pointerover", function (event) {
      var li = event.target.closest("li[data-g]"), span = event.target.closest("[data-v]");
      if (li) light(li.dataset.g);
      name(span && span.dataset.v);
    });
    side.addEventListener("pointerleave", function () { light(pinned); name(null); });
    side.addEventListener("click", function (event) {
      var li = event.target.closest("li[data-g]");
      if (li) go(li);
    });
    side.addEventListener("keydown", function (event) {
      var rows = rowsOf(side), here = rows.findIndex(function (li) { return li.classList.contains("here"); });
      var step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (step && rows.length) {
        go(rows[Math.min(rows.length - 1, Math.max(0, here < 0 ? 0 : here + step))]);
        event.preventDefault();
      } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && here >= 0) {
        var names = Array.from(rows[here].querySelectorAll("[data-v]"));
        var at = names.findIndex(function (span) { return span.classList.contains("named"); });
        at += event.key === "ArrowRight" ? 1 : -1;
        name(names.length ? names[(at + names.length) % names.length].dataset.v : null);
        event.preventDefault();
      } else if (event.key === "Escape") {
        drop();
      }
    });
  });

  window.linked = {plain: plain, anew: anew};
})();
