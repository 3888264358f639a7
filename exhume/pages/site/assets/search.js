// The page of all bugs: words, filters and order, all of them in the address. Texts are set as text, never as HTML.
"use strict";
(() => {
  const PAGE = 30;
  const { facets, colours, rows } = window.exhumeBugs;
  const [ID, TITLE, CLASS, BAD, GOOD, REPORTED, DAYS, BYTES, ISSUE, OPERATORS, FACETS] = rows.length ? rows[0].keys() : [];
  const box = document.getElementById("q");
  const order = document.getElementById("sort");
  const hits = document.getElementById("hits");
  const more = document.getElementById("more");
  const count = document.getElementById("count");
  const filters = document.getElementById("filters");
  const chosen = facets.map(() => new Set());
  const ORDERS = {
    newest: (a, b) => (rows[b][REPORTED] > rows[a][REPORTED]) - (rows[b][REPORTED] < rows[a][REPORTED]),
    slowest: (a, b) => rows[b][DAYS] - rows[a][DAYS],
    smallest: (a, b) => rows[a][BYTES] - rows[b][BYTES],
  };
  let found = [];
  let shown = 0;
  let counts = []; // per facet and value, the rows that choosing it would show
  let words = null; // [words, places] as soon as they are loaded
  let loading = null;

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  // The words are a file of their own, which is loaded when they are first needed.
  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = element("script");
      script.src = "data/words.js";
      script.onload = () => {
        const { words: all, places } = window.exhumeWords;
        words = [all.split("\n"), places.split("\n")];
        delete window.exhumeWords;
        resolve();
      };
      script.onerror = () => reject(new Error("data/words.js cannot be loaded"));
      document.head.append(script);
    });
    return loading;
  }

  // How well each row matches a word: 0 not at all, 1 holds it within a word, 2 as a word. Words of one or two letters
  // match the beginning only.
  function match(word) {
    const marks = new Uint8Array(rows.length);
    const [all, places] = words;
    for (let at = 0; at < all.length; at++) {
      if (!(word.length < 3 ? all[at].startsWith(word) : all[at].includes(word))) continue;
      const mark = all[at] === word ? 2 : 1;
      let row = 0;
      for (const step of places[at].split(" ")) {
        row += parseInt(step, 36);
        if (marks[row] < mark) marks[row] = mark;
      }
    }
    return marks;
  }

  function search() {
    const asked = box.value.toLowerCase().split(/[\s()";|,]+/).filter(Boolean);
    const score = new Uint16Array(rows.length).fill(1);
    for (const word of new Set(asked)) {
      const marks = match(word);
      for (let row = 0; row < rows.length; row++) score[row] = marks[row] && score[row] && score[row] + marks[row];
    }
    return score;
  }

  // Whether a row has, per facet, one of the chosen values; the first facet that fails, -1 if none does, -2 if several do.
  function failing(row) {
    let fails = -1;
    for (let at = 0; at < facets.length; at++) {
      if (!chosen[at].size || rows[row][FACETS][at].some((value) => chosen[at].has(value))) continue;
      if (fails >= 0) return -2;
      fails = at;
    }
    return fails;
  }

  function update() {
    if (box.value.trim() && !words) {
      count.textContent = "Loading the words …";
      load().then(update, (problem) => { count.textContent = problem.message; });
      return;
    }
    const score = search();
    counts = facets.map((facet) => new Uint32Array(facet.names.length));
    found = [];
    for (let row = 0; row < rows.length; row++) {
      if (!score[row]) continue;
      const fails = failing(row);
      if (fails === -1) found.push(row);
      // A value counts the rows that choosing it would show: the facet's own choice does not matter.
      for (let at = 0; at < facets.length; at++) {
        if (fails === -1 || fails === at) for (const value of rows[row][FACETS][at]) counts[at][value]++;
      }
    }
    const compare = ORDERS[order.value] ?? ((a, b) => score[b] - score[a]);
    found.sort((a, b) => compare(a, b) || a - b);
    hits.replaceChildren();
    shown = 0;
    showMore();
    count.textContent = `${found.length} of ${rows.length} bugs`;
    controls.forEach(showCounts);
    showChosen();
    remember();
  }

  function showMore() {
    const end = Math.min(found.length, shown + PAGE);
    const first = hits.children.length;
    for (; shown < end; shown++) hits.append(hit(rows[found[shown]]));
    more.hidden = shown === found.length;
    return hits.children[first];
  }

  function hit(row) {
    const item = element("li");
    const link = element("a", row[TITLE]);
    link.href = `bugs/${row[ID]}.html`;
    item.append(element("span", row[CLASS], `kind k${colours[row[CLASS]]}`), " ", link);
    const parts = [`last bad ${row[BAD]}, first good ${row[GOOD]}`, row[ISSUE]];
    if (row[REPORTED]) parts.push(`reported ${row[REPORTED]}`);
    if (row[DAYS] >= 0) parts.push(`${row[DAYS]} days to fix`);
    parts.push(`${row[BYTES].toLocaleString("en")} bytes`);
    if (row[OPERATORS]) parts.push(row[OPERATORS]);
    item.append(element("p", parts.join(" · ")));
    return item;
  }

  // Filters

  const controls = facets.map((facet, at) => {
    const group = element("details", undefined, "facet");
    group.open = at < 3;
    group.addEventListener("toggle", () => counts.length && showCounts(controls[at], at));
    group.append(element("summary", facet.title));
    const values = element("div", undefined, "values");
    values.setAttribute("role", "group");
    values.setAttribute("aria-label", facet.title);
    const made = facet.names.map((name, value) => {
      const label = element("label");
      const check = element("input");
      check.type = "checkbox";
      check.addEventListener("change", () => {
        check.checked ? chosen[at].add(value) : chosen[at].delete(value);
        update();
      });
      const number = element("small");
      label.append(check, element("span", name), number);
      values.append(label);
      return { label, check, number };
    });
    group.append(values);
    if (facet.names.length > 1) document.getElementById("facets").append(group);
    return { group, made };
  });

  // Closed filters are updated when they are opened.
  function showCounts({ group, made }, at) {
    if (chosen[at].size) group.open = true;
    if (!group.open) return;
    made.forEach(({ label, check, number }, value) => {
      const sum = counts[at][value];
      number.textContent = sum;
      check.checked = chosen[at].has(value);
      label.style.display = sum || check.checked ? "" : "none";
    });
  }

  function showChosen() {
    const sum = chosen.reduce((total, values) => total + values.size, 0);
    document.getElementById("chosen").textContent = sum ? `(${sum} chosen)` : "";
    document.getElementById("clear").hidden = !sum;
  }

  // The address

  function remember() {
    const state = new URLSearchParams();
    if (box.value.trim()) state.set("q", box.value.trim());
    facets.forEach((facet, at) => {
      for (const value of [...chosen[at]].sort((a, b) => a - b)) state.append(facet.key, facet.names[value]);
    });
    if (order.value) state.set("sort", order.value);
    const hash = state.size ? `#${state}` : "";
    if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname + location.search);
  }

  function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    box.value = state.get("q") ?? "";
    order.value = Object.hasOwn(ORDERS, state.get("sort")) ? state.get("sort") : "";
    facets.forEach((facet, at) => {
      chosen[at].clear();
      for (const name of state.getAll(facet.key)) {
        const value = facet.names.indexOf(name);
        if (value >= 0) chosen[at].add(value);
      }
    });
    update();
  }

  box.addEventListener("input", update);
  box.addEventListener("focus", () => load().catch(() => {}));
  order.addEventListener("change", update);
  more.addEventListener("click", () => showMore()?.querySelector("a").focus());
  document.getElementById("clear").addEventListener("click", () => {
    chosen.forEach((values) => values.clear());
    update();
    box.focus();
  });
  document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", recall);
  filters.open = window.matchMedia("(min-width: 52rem)").matches;
  recall();
})();
