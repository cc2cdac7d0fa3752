// Rows of the two texts that belong together light up together, and so do a variable and its adjoint; a click scrolls
// to them, another one to the next of them.
(function () {
  "use strict";
  var yours = document.getElementById("yours"), emitted = document.getElementById("emitted");
  var details = document.getElementById("details"), help = details.innerHTML;
  var pinned = null, held = null, turn = 0;  // the key of the row that was chosen, the row itself, and how often

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
    [yours, emitted].forEach(mark);
    tell(key);
  }

  // Where the rows that are lit stand, as marks on the scrollbar.
  function mark(side) {
    var strip = side.parentNode.querySelector(".marks"), all = Math.max(side.scrollHeight, side.clientHeight);
    strip.style.height = side.clientHeight + "px";
    var lit = side.scrollHeight > side.clientHeight ? side.querySelectorAll("li.lit, li.there") : [];
    strip.replaceChildren(...Array.from(lit).map(function (li) {
      var line = document.createElement("i");
      ["primal", "adjoint", "there"].forEach(function (kind) {
        line.classList.toggle(kind, li.classList.contains(kind));
      });
      line.style.top = 100 * (li.offsetTop + li.offsetHeight / 2) / all + "%";
      return line;
    }));
  }

  // The rows of a side that have a key, each run of them one place.
  function places(side, key) {
    var every = rowsOf(side).filter(function (li) { return li.dataset.g === key; });
    return every.filter(function (li, k) { return !k || every[k - 1].nextElementSibling !== li; });
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

  function reveal(li) {
    var side = li.parentNode, top = li.offsetTop;
    if (top < side.scrollTop || top + li.offsetHeight > side.scrollTop + side.clientHeight) {
      side.scrollTop = Math.max(0, top - side.clientHeight / 3);
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
    all("li.there").forEach(function (other) { other.classList.remove("there"); });
    light(pinned);
  }

  // Choose a row, and scroll the other side to a place that belongs to it; if it was chosen before, to the next one.
  function go(li) {
    turn = li.classList.contains("here") && pinned === li.dataset.g ? turn + 1 : 0;
    choose(li);
    reveal(li);
    var other = li.parentNode === yours ? emitted : yours, found = places(other, pinned);
    if (!found.length) return;
    var there = found[turn % found.length];
    there.classList.add("there");
    reveal(there);
    mark(other);
    if (found.length > 1) {
      var told = document.createElement("p");
      told.textContent = "place " + (turn % found.length + 1) + " of " + found.length + "; a click goes to the next";
      details.prepend(told);
    }
  }

  function drop() {
    pinned = held = null;
    turn = 0;
    all("li.there").forEach(function (other) { other.classList.remove("there"); });
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
      } else if (event.key === "Enter" && here >= 0) {
        go(rows[here]);
        event.preventDefault();
      } else if (event.key === "Escape") {
        drop();
      }
    });
  });

  window.addEventListener("resize", function () { [yours, emitted].forEach(mark); });
  window.linked = {plain: plain, anew: anew};
})();
