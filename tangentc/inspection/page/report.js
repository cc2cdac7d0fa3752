// Tabs.
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
})();
