// SQL on the exported Parquet files, by DuckDB-WASM in a worker. A query of a link is shown, and run only on request.
"use strict";
(() => {
  const MOST = 1000;
  const TABLES = ["bug", "run", "unverified"];
  const form = document.getElementById("ask");
  const box = document.getElementById("sql");
  const button = document.getElementById("run");
  const status = document.getElementById("status");
  const result = document.getElementById("result");
  const engine = new URL("duckdb/", document.baseURI);
  let opened = null;

  function loadScript(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL(name, engine);
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${name} cannot be loaded`));
      document.head.append(script);
    });
  }

  async function open() {
    await loadScript("arrow.js");
    const duckdb = await import(new URL("duckdb-browser.mjs", engine));
    const worker = new Worker(new URL("duckdb-browser-eh.worker.js", engine));
    const db = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
    await db.instantiate(new URL("duckdb-eh.wasm", engine).href);
    await db.open({ query: { castBigIntToDouble: true, castDecimalToDouble: true, castTimestampToDate: true } });
    const connection = await db.connect();
    for (const table of TABLES) {
      const answer = await fetch(`export/${table}.parquet`);
      if (!answer.ok) throw new Error(`export/${table}.parquet cannot be loaded`);
      await db.registerFileBuffer(`${table}.parquet`, new Uint8Array(await answer.arrayBuffer()));
      await connection.query(`create table ${table} as from '${table}.parquet'`);
    }
    // Queries come with links: none of them may read anything else.
    await connection.query("set enable_external_access = false");
    await connection.query("set lock_configuration = true");
    return connection;
  }

  async function run() {
    if (button.disabled) return;
    button.disabled = true;
    result.replaceChildren();
    try {
      if (!opened) status.textContent = "Loading the engine …";
      opened ??= open();
      const connection = await opened.catch((problem) => { opened = null; throw problem; });
      status.textContent = "Running …";
      const began = performance.now();
      const table = await connection.query(box.value);
      show(table, performance.now() - began);
    } catch (problem) {
      status.textContent = "";
      const said = document.createElement("p");
      said.className = "error";
      said.setAttribute("role", "alert");
      said.textContent = problem.message ?? String(problem);
      result.append(said);
    } finally {
      button.disabled = false;
    }
  }

  function show(table, milliseconds) {
    const names = table.schema.fields.map((field) => field.name);
    const made = document.createElement("table");
    const head = made.createTHead().insertRow();
    for (const name of names) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name;
      head.append(cell);
    }
    const body = made.createTBody();
    const columns = names.map((_, at) => table.getChildAt(at));
    const rows = Math.min(table.numRows, MOST);
    for (let row = 0; row < rows; row++) {
      const line = body.insertRow();
      columns.forEach((column, at) => fill(line.insertCell(), column.get(row), names[at]));
    }
    result.append(made);
    const cut = table.numRows > rows ? `, the first ${rows} shown` : "";
    status.textContent = `${table.numRows} rows in ${Math.round(milliseconds)} ms${cut}`;
  }

  function fill(cell, value, name) {
    if (value === null || value === undefined) return;
    if (typeof value === "number" || typeof value === "bigint") cell.className = "number";
    const text = String(value);
    if ((name === "id" || name === "bug_id") && /^[A-Za-z0-9][\w.+-]*$/.test(text)) {
      const link = document.createElement("a");
      link.href = `bugs/${encodeURIComponent(text)}.html`;
      link.textContent = text;
      cell.append(link);
    } else {
      cell.textContent = text.length > 500 ? `${text.slice(0, 500)} …` : text;
    }
  }

  function remember() {
    history.replaceState(null, "", `#${new URLSearchParams({ sql: box.value })}`);
  }

  function recall() {
    const given = new URLSearchParams(location.hash.slice(1)).get("sql");
    if (given !== null) box.value = given;
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); run(); });
  box.addEventListener("input", remember);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  });
  for (const example of document.querySelectorAll(".example")) {
    example.addEventListener("click", () => { box.value = example.dataset.sql; remember(); run(); });
  }
  window.addEventListener("hashchange", recall);
  recall();
  if (location.protocol === "file:") {
    document.getElementById("disk").hidden = false;
    form.querySelectorAll("button").forEach((one) => { one.disabled = true; });
    document.querySelectorAll(".example").forEach((one) => { one.disabled = true; });
  }
})();
