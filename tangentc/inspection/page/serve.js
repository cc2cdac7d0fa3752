// The page of a file that is being written: it asks for what is to be shown, and whether there is something new.
(function () {
  "use strict";
  function element(id) { return document.getElementById(id); }
  var at = element("at"), wrt = element("wrt"), yours = element("yours"), emitted = element("emitted");
  var said = read("said") || {};  // for each function what is in the two boxes
  var wanted = read("wanted"), shown = null, version = 0, asking = false, again = false;

  function read(key) {
    try { return JSON.parse(sessionStorage.getItem(key)); } catch (error) { return null; }
  }
  function keep() {
    sessionStorage.setItem("said", JSON.stringify(said));
    sessionStorage.setItem("wanted", JSON.stringify(wanted));
  }
  function tell(text, ended) {
    element("state").textContent = text;
    document.body.classList.toggle("ended", Boolean(ended));
  }
  function make(tag, text) {
    var made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  async function ask() {
    if (asking) { again = true; return; }
    asking = true;
    var late = [[300, "running \u2026"], [3000, "still running; a save ends it, or Ctrl-C in the terminal"]].map(
      function (row) { return setTimeout(tell, row[0], row[1]); });
    do {
      again = false;
      var query = new URLSearchParams();
      if (wanted) query.set("function", wanted);
      var own = said[wanted];
      if (own) { query.set("at", own.at); query.set("wrt", own.wrt); }
      try {
        var answer = await fetch("state?" + query);
        show(await answer.json());
      } catch (error) {
        break;  // the other loop says so
      }
    } while (again);
    late.forEach(clearTimeout);
    asking = false;
  }

  async function listen() {
    for (;;) {
      try {
        var news = await (await fetch("news?since=" + version)).json();
        if (document.body.classList.contains("ended")) tell("");
        if (news.version !== version) {
          version = news.version;
          await ask();
        }
      } catch (error) {
        tell("tangentc serve has ended; this is what it showed last", true);
        await new Promise(function (done) { setTimeout(done, 1500); });
      }
    }
  }

  function show(state) {
    document.title = state.file + (state.function ? ": " + state.function : "");
    element("file").textContent = state.file;
    element("functions").replaceChildren(...state.functions.map(function (name) {
      var item = make("li"), button = item.appendChild(make("button", name));
      button.type = "button";
      button.setAttribute("aria-current", String(name === state.function));
      button.addEventListener("click", function () { take(); wanted = name; keep(); ask(); });
      return item;
    }));
    element("troubles").replaceChildren(...state.troubles.map(function (text) { return make("pre", text); }));
    tell(state.status);
    var has = Boolean(state.function);
    ["signature", "asked", "told"].forEach(function (id) { element(id).hidden = !has; });
    document.querySelector(".sides").hidden = element("details").hidden = !has;
    var other = state.function !== shown;
    shown = state.function;
    if (!has) return;
    wanted = wanted || state.function;
    element("signature").textContent = state.signature;
    if (other || !said[shown]) {
      var own = said[shown] || {at: state.at, wrt: state.wrt};
      said[shown] = own;
      at.value = own.at;
      wrt.value = own.wrt;
      keep();
    }
    at.placeholder = state.hint;
    wrt.placeholder = state.moving;
    choices(state.parameters);
    element("told").replaceChildren(...state.told.map(function (row) {
      var pair = make("div");
      pair.classList.toggle("warn", row[0] === "not finite");
      pair.append(make("dt", row[0]), make("dd", row[1]));
      return pair;
    }));
    ["mine", "theirs"].forEach(function (id, k) {
      element(id).textContent = state.titles[k];
      element(id).closest(".side").classList.toggle("old", state.old[k]);
    });
    var changed = [put(yours, state.yours, other), put(emitted, state.emitted, other)];
    if (changed[0] || changed[1]) window.linked.anew(other);
  }

  // Put rows in place of others, at the same place of the scroll, and let those that are new show that they are.
  function put(side, rows, other) {
    if (side.given === rows) return false;
    side.given = rows;
    function text(li) { return "n" in li.dataset ? window.linked.plain(li) : ""; }
    function texts() { return Array.from(side.children).map(text); }
    var before = new Set(texts()), top = other ? 0 : side.scrollTop, left = other ? 0 : side.scrollLeft;
    side.innerHTML = rows;
    side.scrollTo(left, top);
    if (!other && before.size) {
      Array.from(side.children).forEach(function (li) {
        li.classList.toggle("fresh", text(li) !== "" && !before.has(text(li)));
      });
    }
    return true;
  }

  // The names in the box, which if it is empty are those that it shows.
  function parts() {
    return (wrt.value.trim() || wrt.placeholder).split(",").map(function (w) { return w.trim(); }).filter(Boolean);
  }

  function choices(names) {
    element("parameters").replaceChildren(...names.map(function (name) {
      var button = make("button", name);
      button.type = "button";
      button.title = "take the derivative by " + name;
      button.setAttribute("aria-pressed", String(parts().includes(name)));
      button.addEventListener("click", function () {
        var now = parts();
        var others = now.filter(function (w) { return w !== name; });
        wrt.value = (now.includes(name) ? others : now.concat(name)).join(", ");
        run();
      });
      return button;
    }));
  }

  function take() { if (shown) said[shown] = {at: at.value, wrt: wrt.value}; }

  function run() { take(); keep(); ask(); }

  element("asked").addEventListener("submit", function (event) { event.preventDefault(); run(); });
  at.addEventListener("keydown", function (event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); run(); }
  });
  listen();
})();
