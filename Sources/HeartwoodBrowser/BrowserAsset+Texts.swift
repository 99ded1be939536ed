// Made by Scripts/embed-assets of the files in Assets.

extension BrowserAsset {
  static let texts: [String: String] = [
    "browse.css": #####"""
    :root {
      color-scheme: light dark;
      --back: light-dark(#fff, #16181b);
      --panel: light-dark(#f5f5f2, #1f2226);
      --line: light-dark(#d5d5cf, #3a3f45);
      --text: light-dark(#1c1d1f, #e6e6e3);
      --dim: light-dark(#5b5e63, #a3a7ad);
      --accent: light-dark(#0b5c3b, #79d0a5);
      --mark: light-dark(#e4f1ea, #20392e);
      --wrong: light-dark(#a11717, #ff9b93);
      font: 15px/1.45 system-ui, sans-serif;
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--back); color: var(--text); min-height: 100vh; display: flex; flex-direction: column; }
    header { display: flex; gap: 1rem; align-items: baseline; padding: .5rem 1rem; background: var(--panel); border-bottom: 1px solid var(--line); flex-wrap: wrap; }
    h1 { font-size: 1.05rem; margin: 0; }
    h2 { font-size: 1.1rem; margin: 1.2rem 0 .4rem; }
    h3 { font-size: 1rem; margin: .9rem 0 .2rem; }
    a { color: var(--accent); }
    a:focus-visible, button:focus-visible, input:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
    nav { display: flex; gap: .5rem; }
    nav a + a::before { content: "› "; color: var(--dim); }
    main { padding: 0 1rem 1rem; flex: 1; display: flex; flex-direction: column; min-height: 0; outline: none; }
    .view { display: contents; }
    .dim { color: var(--dim); }
    .wrong { color: var(--wrong); white-space: pre-wrap; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .4rem 0; }
    dt { color: var(--dim); }
    dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
    table { border-collapse: collapse; }
    th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
    td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
    pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.4 ui-monospace, monospace; }
    img { max-width: 100%; max-height: 24rem; background: repeating-conic-gradient(#8883 0 25%, #0000 0 50%) 0 0/16px 16px; }
    button, input, select { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 4px; padding: .25rem .6rem; }
    button { cursor: pointer; background: var(--panel); }
    #news { margin: 0; padding: 0 .6rem; background: var(--mark); border-radius: 4px; }
    .bar { display: flex; gap: .5rem; align-items: center; margin: .6rem 0; flex-wrap: wrap; }
    .bar .field { flex: 1 1 16rem; position: relative; min-width: 0; }
    .bar .field input { width: 100%; font-family: ui-monospace, monospace; }
    .suggestions { position: absolute; z-index: 2; left: 0; top: 100%; margin: 0; padding: .2rem 0; list-style: none; background: var(--panel); border: 1px solid var(--line); border-radius: 4px; max-height: 18rem; overflow: auto; font-family: ui-monospace, monospace; }
    .suggestions li { padding: .15rem .8rem; cursor: pointer; }
    .suggestions li[aria-selected=true], .suggestions li:hover { background: var(--mark); }
    .bar input.text { flex: 0 1 12rem; font-family: inherit; }
    .history { list-style: none; padding: 0; }
    .history li { margin: .2rem 0; }
    .kind { font-weight: 600; }
    .kind.delete { color: var(--wrong); }
    .menu { position: relative; }
    .menu summary { cursor: pointer; padding: .25rem .4rem; }
    .menu > div { position: absolute; right: 0; z-index: 2; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .5rem; display: grid; gap: .2rem; max-height: 50vh; overflow: auto; white-space: nowrap; }
    .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: .6rem; }
    .card { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .7rem; background: var(--panel); }
    .split { display: flex; gap: 1rem; flex: 1; min-height: 20rem; }
    .grid { flex: 1; min-width: 0; border: 1px solid var(--line); border-radius: 6px; overflow: auto; position: relative; height: 70vh; }
    .grid .head { position: sticky; top: 0; z-index: 1; display: grid; background: var(--panel); border-bottom: 1px solid var(--line); }
    .grid .head .cell { padding: .25rem .5rem; }
    .grid .head div { min-width: 0; }
    .grid .head button { width: 100%; border: 0; border-radius: 0; background: none; text-align: left; padding: .25rem .5rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600; }
    .grid .head button.number { text-align: right; }
    .grid .sheet { position: relative; }
    .grid .row { position: absolute; left: 0; display: grid; height: 26px; line-height: 26px; border-bottom: 1px solid color-mix(in srgb, var(--line) 50%, transparent); cursor: pointer; }
    .grid .row:hover, .grid .row:focus { background: var(--mark); outline-offset: -2px; }
    .grid .cell { padding: 0 .5rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .grid .cell.number { text-align: right; font-variant-numeric: tabular-nums; }
    .facets { width: 17rem; overflow: auto; max-height: 70vh; }
    .facets ol { list-style: none; margin: 0; padding: 0; }
    .facets li button { --share: 0; background: linear-gradient(to right, var(--mark) calc(var(--share) * 100%), transparent 0); display: grid; grid-template-columns: 1fr auto; gap: .5rem; width: 100%; text-align: left; border: 0; padding: .15rem .3rem; overflow: hidden; }
    .facets li button:hover { text-decoration: underline; }
    .facets span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .chart { width: 100%; display: block; margin: .5rem 0; }
    .chart rect { fill: var(--accent); }
    .chart line { stroke: var(--line); }
    .chart text { fill: var(--dim); font-size: 11px; }
    section.groups { flex: 1; min-width: 0; overflow: auto; }
    .groups .bar h2 { margin: 0; }
    table.groups tbody th { font-weight: 400; }
    table.groups th:first-child { padding-right: 3rem; }
    .diagram { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; flex: 1; min-height: 60vh; touch-action: none; }
    .diagram svg { width: 100%; height: 70vh; display: block; cursor: grab; }
    :root:has(#edits:not([hidden])) { scroll-padding-bottom: 5rem; }
    .unsaved { color: var(--accent); font-weight: 600; }
    #edits { position: sticky; bottom: 0; z-index: 3; display: flex; gap: .5rem; align-items: center; flex-wrap: wrap; padding: .5rem 1rem; background: var(--panel); border-top: 1px solid var(--line); }
    #edits[hidden] { display: none; }
    #edits output { flex: 1 1 12rem; }
    button:disabled { opacity: .55; cursor: default; }
    button.main { background: var(--accent); color: var(--back); border-color: var(--accent); }
    .values { width: 100%; }
    .values th { width: 12rem; }
    .values th.unsaved::after { content: " ●"; }
    .input { display: flex; gap: .5rem; align-items: start; flex-wrap: wrap; }
    .input input, .input textarea, .input select { flex: 1 1 14rem; min-width: 0; max-width: 40rem; }
    textarea { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 4px; padding: .25rem .6rem; field-sizing: content; min-height: 2rem; max-height: 20rem; resize: vertical; }
    textarea:focus-visible, select:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
    [aria-invalid=true] { border-color: var(--wrong); }
    .rule { font-size: .85rem; margin: .1rem 0 0; }
    .links { list-style: none; margin: 0; padding: 0; }
    .links li { display: flex; gap: .4rem; align-items: center; margin: .1rem 0; flex-wrap: wrap; }
    .links button { padding: 0 .4rem; }
    dialog { color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 8px; width: min(34rem, calc(100vw - 2rem)); }
    dialog::backdrop { background: #0006; }
    dialog .choices { list-style: none; margin: .5rem 0; padding: 0; max-height: 40vh; overflow: auto; }
    dialog .choices button { width: 100%; text-align: left; border: 0; background: none; }
    dialog .choices button:hover { background: var(--mark); }
    dialog input { width: 100%; }
    fieldset { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; min-width: 0; }
    .conflict { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; padding: 0 .7rem; }
    .conflict fieldset { border: 0; margin: 0; padding: 0; }
    .conflict .bar { margin: .6rem 0; }
    .keep { display: inline-flex; gap: .7rem; white-space: nowrap; }
    .scroll { overflow-x: auto; }
    .note { background: var(--mark); border-radius: 6px; padding: .4rem .7rem; overflow-wrap: anywhere; }
    .visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
    @media (max-width: 40rem) {
      .values, .values tbody, .values tr, .values th, .values td { display: block; width: auto; }
      .values th { border: 0; padding-bottom: 0; }
      .split { flex-direction: column; }
      .grid, section.groups { flex: none; }
      .facets { width: auto; max-height: 14rem; }
      main { padding: 0 .5rem .5rem; }
    }
    @media (prefers-reduced-motion: no-preference) { .grid .row { transition: background .08s; } }

    """#####,
    "browse.js": #####"""
    // The pages, by the fragment of the address: #/ (stores), #/0/model, #/0/entity/NAME?where=…&text=…&sort=…, #/0/record?uri=…,
    // #/0/history, #/0/changes, #/0/migration, #/differences?first=0&second=1&match=reference

    import { ask, element, text, link, number } from "./parts.js";
    import { showEntity } from "./grid.js";
    import { showModel } from "./diagram.js";
    import { showRecord } from "./record.js";
    import { showChanges } from "./changes.js";
    import { showMigration } from "./migration.js";
    import * as edits from "./edits.js";

    const page = document.getElementById("page");
    const trail = document.getElementById("trail");
    const news = document.getElementById("news");
    let stores = null;

    /** The stores, asked for once; the first page asks anew, since counts change. */
    async function loadStores(anew) {
      if (!stores || anew) stores = await ask("api/stores");
      return stores;
    }

    function setTrail(...links) {
      trail.replaceChildren(...links);
    }

    /** The number of pages that were asked for; only the latest is shown, whichever is there first. */
    let turns = 0;

    async function route() {
      const turn = ++turns;
      const view = element("div", { class: "view" });
      page.setAttribute("aria-busy", "true");
      try {
        await fill(view, () => turn === turns);
      } catch (error) {
        view.replaceChildren(element("p", { class: "wrong", role: "alert" }, error.message));
      }
      if (turn !== turns) return;
      page.replaceChildren(view);
      page.removeAttribute("aria-busy");
    }

    /** Makes the page of the address in a view, which is shown when it is complete. */
    async function fill(page, isLatest) {
      const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
      const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
      const options = new URLSearchParams(query ?? "");
      const all = await loadStores(parts.length === 0);
      edits.show(all[Number(parts[0])], Number(parts[0]));
      if (parts.length === 0) return showStores(page, all);
      if (parts[0] === "differences") {
        setTrail(link(location.hash, "Differences"));
        document.title = "Differences – Heartwood";
        return showDifferences(page, all, options);
      }
      const index = Number(parts[0]);
      const store = all[index];
      if (!store) throw new Error("There is no such store.");
      const storeLink = link(`#/${index}/model`, store.title);
      if (parts[1] === "model") {
        setTrail(storeLink);
        document.title = `${store.title} – Heartwood`;
        showModel(page, store, index);
      } else if (parts[1] === "entity") {
        setTrail(storeLink, link(`#/${index}/entity/${encodeURIComponent(parts[2])}`, parts[2]));
        document.title = `${parts[2]} – ${store.title} – Heartwood`;
        showEntity(page, store, index, parts[2], options);
      } else if (parts[1] === "history") {
        setTrail(storeLink, link(`#/${index}/history`, "History"));
        document.title = `History – ${store.title} – Heartwood`;
        await showHistory(page, index);
      } else if (parts[1] === "changes") {
        setTrail(storeLink, link(`#/${index}/changes`, "Unsaved changes"));
        document.title = `Unsaved changes – ${store.title} – Heartwood`;
        await showChanges(page, store, index);
      } else if (parts[1] === "migration") {
        setTrail(storeLink, link(`#/${index}/migration`, "Migration"));
        document.title = `Migration – ${store.title} – Heartwood`;
        await showMigration(page, index);
      } else if (parts[1] === "record") {
        const record = await showRecord(page, store, index, options.get("uri"));
        if (!isLatest()) return;
        setTrail(storeLink, link(`#/${index}/entity/${encodeURIComponent(record.entity)}`, record.entity));
        document.title = `${record.label} – ${record.entity} – Heartwood`;
      } else {
        throw new Error("There is no such page.");
      }
    }

    // MARK: Stores

    function showStores(page, all) {
      setTrail();
      document.title = "Heartwood";
      page.replaceChildren(...(all.length > 1 ? [comparison(all)] : []), ...all.map((store, index) => element("section", {}, [
        element("h2", {}, [link(`#/${index}/model`, store.title)]),
        ...store.stores.map(storeFacts),
        health(index),
        element("div", { class: "cards" }, store.entities.filter((entity) => !entity.isAbstract).map((entity) => element("div", { class: "card" }, [
          element("strong", {}, [link(`#/${index}/entity/${encodeURIComponent(entity.name)}`, entity.name)]),
          element("div", { class: "dim" }, `${number(entity.count)} ${entity.count === 1 ? "record" : "records"} · ${entity.properties.length} properties`),
        ]))),
      ])));
    }

    function storeFacts(store) {
      const facts = [
        ["place", store.place ?? "in memory"], ["type", `${store.type} (${store.typeName})`], ["identifier", store.identifier],
        ...Object.entries(store.metadata).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
      ];
      return element("dl", {}, facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
    }

    /** A button that gives way to what is wrong with a store, as heartwood verify tells it. */
    function health(index) {
      const button = element("button", { type: "button", onclick: async () => {
        button.disabled = true;
        button.textContent = "Checking…";
        try {
          const answer = await ask(`api/stores/${index}/health`);
          const more = answer.count - answer.findings.length;
          const findings = [...answer.findings, ...(more > 0 ? [`and ${number(more)} more`] : [])];
          button.replaceWith(answer.count === 0 ? element("p", { role: "status" }, "All is well with the file and its records.") : element("ul", { class: "wrong", role: "status" }, findings.map((finding) => element("li", {}, finding))));
        } catch (error) {
          button.replaceWith(element("p", { class: "wrong", role: "alert" }, error.message));
        }
      } }, "Check the file and all records");
      return element("p", {}, [button]);
    }

    // MARK: Differences

    function comparison(all) {
      const choose = (label, chosen) => {
        const choice = element("select", { "aria-label": label }, all.map((store, index) => element("option", { value: index }, store.title)));
        choice.value = chosen;
        return choice;
      };
      const [first, second] = [choose("First store", 0), choose("Second store", 1)];
      const match = element("select", { "aria-label": "Which records are the same" }, [
        element("option", { value: "reference" }, "by their references"), element("option", { value: "value" }, "by their values"),
      ]);
      return element("form", { class: "bar", onsubmit: (event) => {
        event.preventDefault();
        location.hash = `#/differences?first=${first.value}&second=${second.value}&match=${match.value}`;
      } }, [first, text("and"), second, match, element("button", {}, "Compare")]);
    }

    const kinds = { removed: "only in the first", added: "only in the second", changed: "with other values", identifier: "identifier", metadata: "metadata", entity: "entities", property: "properties" };

    async function showDifferences(page, all, options) {
      const titles = ["first", "second"].map((side) => all[Number(options.get(side))]?.title ?? "");
      const answer = await ask(`api/differences?${options}`);
      const summary = Object.entries(answer.counts).map(([kind, count]) => `${number(count)} ${kinds[kind]}`).join(", ");
      const rows = answer.differences.flatMap(differenceRows);
      const more = Object.values(answer.counts).reduce((sum, count) => sum + count, 0) - answer.differences.length;
      page.replaceChildren(
        element("h2", {}, titles.join(" and ")),
        element("p", { role: "status" }, summary || "No differences."),
        ...(hasOthersOnly(answer.counts, options) ? [element("p", {}, [
          text("No record has the same reference in both, as after a conversion to a type with references of its own. "),
          link(`#/differences?first=${options.get("first")}&second=${options.get("second")}&match=value`, "Compare the records by their values"),
        ])] : []),
        ...(rows.length ? [element("table", {}, [
          element("thead", {}, [element("tr", {}, ["What", "Property", ...titles].map((title) => element("th", { scope: "col" }, title)))]),
          element("tbody", {}, rows),
        ])] : []),
        ...(more > 0 ? [element("p", { class: "dim" }, `and ${number(more)} more`)] : []),
      );
    }

    /** Whether nothing in one store has anything of the same reference in the other. */
    function hasOthersOnly(counts, options) {
      return options.get("match") !== "value" && counts.removed > 0 && counts.added > 0 && !counts.changed;
    }

    function differenceRows(difference) {
      const what = [difference.entity, difference.id].filter(Boolean).join(" ") || difference.change;
      const side = (name) => {
        const onlyIn = difference.onlyIn ?? { removed: "first", added: "second" }[difference.change];
        return onlyIn === undefined ? "" : onlyIn === name ? "there" : "–";
      };
      const row = (...cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell)));
      const shown = (value) => (value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value));
      if (difference.change === "changed") {
        return Object.entries(difference.values).map(([name, values], place) => row(place ? "" : what, name, shown(values.first), shown(values.second)));
      }
      if (difference.values) return [row(difference.change, difference.key ?? "", shown(difference.values.first), shown(difference.values.second))];
      return [row(what, difference.property ?? "", side("first"), side("second"))];
    }

    // MARK: History

    async function showHistory(page, index) {
      const list = element("ol", { class: "history" });
      const more = element("button", { type: "button" }, "Earlier ones");
      let before = "";
      const load = async () => {
        const answer = await ask(`api/stores/${index}/history${before}`);
        list.append(...answer.transactions.map((transaction) => element("li", {}, [transactionNode(transaction, index)])));
        const last = answer.transactions.at(-1);
        more.hidden = answer.count <= answer.transactions.length;
        if (last) before = `?before=${last.number}`;
        else list.append(element("li", { class: "dim" }, "Nothing has been saved since the history began."));
      };
      more.addEventListener("click", load);
      await load();
      page.replaceChildren(element("h2", {}, "History"), list, more);
    }

    function transactionNode(transaction, index) {
      const who = [transaction.author, transaction.context, transaction.process ?? transaction.bundle].filter(Boolean).join(", ");
      const changes = transaction.changes.map((change) => element("li", {}, [
        element("span", { class: `kind ${change.kind}` }, change.kind), text(" "),
        change.kind === "delete" ? text(`${change.entity} ${change.reference}`) : link(`#/${index}/record?uri=${encodeURIComponent(change.uri)}`, `${change.entity} ${change.reference}`),
        element("span", { class: "dim" }, change.properties.length ? ` ${change.properties.join(", ")}` : ""),
      ]));
      const more = transaction.count - transaction.changes.length;
      if (more > 0) changes.push(element("li", { class: "dim" }, `and ${number(more)} more`));
      return element("details", { open: transaction.count <= 10 }, [
        element("summary", {}, [
          element("time", { datetime: transaction.date }, transaction.date.replace("T", " ").replace(/\.\d+/, "")),
          text(` · ${number(transaction.count)} ${transaction.count === 1 ? "change" : "changes"}`), element("span", { class: "dim" }, who && ` · ${who}`),
        ]),
        element("ul", {}, changes),
      ]);
    }

    // MARK: What others save

    const seen = new Map();

    /** Asks whether others have saved, while somebody looks. A page never jumps by itself. */
    async function watch() {
      const index = /^#\/(\d+)\//.exec(location.hash)?.[1];
      if (index === undefined || document.hidden) return;
      try {
        const { version, edits: state } = await ask(`api/stores/${index}/state`);
        if (state) edits.note(Number(index), state);
        if (version > (seen.get(index) ?? 0)) news.hidden = false;
        seen.set(index, version);
      } catch {
        // The page says what is wrong when it next asks for records.
      }
    }

    news.querySelector("button").addEventListener("click", () => { news.hidden = true; stores = null; route(); });
    setInterval(watch, 3000);

    // MARK: Start

    /** The token comes in the fragment, which is sent to nobody, and is then kept for this tab alone. */
    function takeToken() {
      const token = /^#t=([\w-]+)$/.exec(location.hash)?.[1];
      if (!token) return;
      sessionStorage.setItem("token", token);
      history.replaceState(null, "", "#/");
    }

    takeToken();
    edits.begin(() => { stores = null; return route(); });
    addEventListener("hashchange", () => { takeToken(); route().then(() => page.focus({ preventScroll: true })); });
    route();

    """#####,
    "changes.js": #####"""
    // The page of all unsaved changes, of what keeps them from being saved, and of records that others have changed too.

    import { ask, cellText, element, link, number, text } from "./parts.js";
    import { recordLink, refusals, save } from "./edits.js";

    export async function showChanges(page, store, index) {
      const { changes, count } = await ask(`api/stores/${index}/edits`);
      const refusal = refusals.get(index);
      const more = count - changes.length;
      page.replaceChildren(
        element("h2", {}, "Unsaved changes"),
        ...(refusal?.faults ? [faults(refusal, index)] : []),
        ...(refusal?.conflicts ? [conflicts(refusal, index)] : []),
        ...(count ? [] : [element("p", { class: "dim" }, "Nothing has been changed since the last save.")]),
        ...changes.map((change) => changeNode(change, index)),
        ...(more > 0 ? [element("p", { class: "dim" }, `and ${number(more)} more`)] : []),
      );
    }

    const kinds = { inserted: "insert", changed: "update", deleted: "delete" };

    function changeNode({ kind, record, values }, index) {
      const title = kind === "deleted" ? text(record.label) : recordLink(index, record);
      const heads = { inserted: ["Property", "Value"], changed: ["Property", "Before", "Now"], deleted: ["Property", "Value"] }[kind];
      const cells = ({ name, before, after }) => (kind === "changed" ? [name, shown(before), shown(after)] : [name, shown(kind === "deleted" ? before : after)]);
      return element("section", { class: "change" }, [
        element("h3", {}, [element("span", { class: `kind ${kinds[kind]}` }, kind), text(` ${record.entity} `), title]),
        ...(values.length ? [table(heads, values.map(cells))] : []),
      ]);
    }

    function shown(value) {
      if (value === null || value === undefined) return "nil";
      return Array.isArray(value) && !value.length ? "none" : cellText(value);
    }

    function table(heads, rows) {
      return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values" }, [element("table", {}, [
        element("thead", {}, [element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))]),
        element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, typeof cell === "string" ? cell : [cell]))))),
      ])]);
    }

    // MARK: Rules

    function faults(refusal, index) {
      return element("div", { role: "alert", class: "faults" }, [
        element("p", { class: "wrong" }, refusal.message),
        element("ul", {}, refusal.faults.map((fault) => element("li", {}, [
          link(`#/${index}/record?uri=${encodeURIComponent(fault.uri)}`, `${fault.entity} ${fault.reference}`), text(`: ${fault.message}`),
        ]))),
      ]);
    }

    // MARK: Conflicts

    /** A choice for each record that others have changed too, and for each value that was changed here; the save is tried again when all are made. */
    function conflicts(refusal, index) {
      const fields = refusal.conflicts.map((conflict, place) => conflictField(conflict, place, index));
      const wrong = element("p", { class: "wrong", role: "alert" });
      const chooseAll = (choice) => {
        for (const field of fields) {
          const whole = field.querySelector(`.bar input[value=${choice}]`) ?? field.querySelector(".bar input");
          whole.checked = true;
          whole.dispatchEvent(new Event("change", { bubbles: true }));
        }
      };
      return element("form", { class: "conflicts", onsubmit: (event) => {
        event.preventDefault();
        const form = new FormData(event.target);
        const choices = {};
        refusal.conflicts.forEach((conflict, place) => { choices[conflict.record.uri] = choice(form, conflict, place); });
        if (Object.values(choices).includes(null)) wrong.textContent = "Choose for each record what to keep.";
        else save(choices);
      } }, [
        element("p", { class: "wrong", role: "alert" }, refusal.message),
        ...(fields.length > 1 ? [element("div", { class: "bar" }, [
          element("button", { type: "button", onclick: () => chooseAll("mine") }, "Mine for all"), element("button", { type: "button", onclick: () => chooseAll("theirs") }, "Theirs for all"),
        ])] : []),
        ...fields, wrong, element("button", { class: "main" }, "Save with these choices"),
      ]);
    }

    /** What to keep of a record: mine or theirs, or one of them for each value that was changed here; null where nothing is chosen. */
    function choice(form, conflict, place) {
      const names = conflict.values.filter((value) => value.isChangedHere).map((value) => value.name);
      const sides = names.map((name) => form.get(`choice-${place}-${name}`));
      if (sides.every((side) => side === null)) return form.get(`choice-${place}`);
      if (sides.includes(null)) return null;
      if (sides.every((side) => side === sides[0])) return sides[0];
      return Object.fromEntries(names.map((name, number) => [name, sides[number]]));
    }

    function conflictField(conflict, place, index) {
      const { record, values, isDeletedHere, isDeletedInStore } = conflict;
      const side = (value, isDeleted) => (isDeleted ? "deleted" : shown(value));
      const option = (name, value, label, attributes = {}) => element("label", {}, [element("input", { type: "radio", name, value, ...attributes }), text(` ${label}`)]);
      const mine = isDeletedHere ? "Mine: delete the record" : "Mine: save my changes on top of theirs";
      const theirs = isDeletedInStore ? "Theirs: the record is deleted, and my changes are dropped" : "Theirs: keep the record as it is stored, and drop my changes";
      const isByValue = !isDeletedHere && !isDeletedInStore;
      const keep = ({ name, isChangedHere }) => (isChangedHere
        ? element("fieldset", { class: "keep" }, [element("legend", { class: "visually-hidden" }, `What to keep of ${name}`), option(`choice-${place}-${name}`, "mine", "mine"), option(`choice-${place}-${name}`, "theirs", "theirs")])
        : text("theirs"));
      const heads = ["Property", "At the start", "Here", "In the store"];
      const node = element("section", { class: "conflict" }, [
        element("h3", {}, [text(`${record.entity} `), isDeletedHere ? text(record.label) : recordLink(index, record)]),
        table(isByValue ? [...heads, "Keep"] : heads, values.map((value) => [
          value.name, shown(value.start), side(value.here, isDeletedHere), side(value.stored, isDeletedInStore), ...(isByValue ? [keep(value)] : []),
        ])),
        element("fieldset", { class: "bar" }, [
          element("legend", { class: "visually-hidden" }, "What to keep of the record"),
          ...(isDeletedInStore ? [] : [option(`choice-${place}`, "mine", mine)]), option(`choice-${place}`, "theirs", theirs),
        ]),
      ]);
      // A choice for the record is one for all its values; values of both sides leave none for the record.
      node.addEventListener("change", ({ target }) => {
        const wholes = [...node.querySelectorAll(".bar input")];
        const parts = [...node.querySelectorAll(".keep input")];
        if (wholes.includes(target)) {
          for (const part of parts) part.checked = part.value === target.value;
        } else {
          const chosen = parts.filter((part) => part.checked).map((part) => part.value);
          for (const whole of wholes) whole.checked = chosen.length * 2 === parts.length && chosen.every((value) => value === whole.value);
        }
      });
      return node;
    }

    """#####,
    "chart.js": #####"""
    // Charts of groups of records: bars, and the distribution of a column of numbers or dates.

    import { amountText, ask, element, number } from "./parts.js";

    const space = "http://www.w3.org/2000/svg";
    const room = 94;
    const axis = 16;
    const widestBar = 100;
    // Narrower labels could not be read.
    const narrowestLabel = 45;
    const letterWidth = 6.5;

    /**
     * Shows the distribution of a column in a node: bars, and a list of the same intervals.
     *
     * - Parameter question: what the records have to meet.
     * - Parameter narrow: takes the lower and the upper bound of the interval that was chosen; the last has no upper one.
     */
    export async function showChart(node, index, question, column, signal, narrow) {
      const answer = await ask(`api/stores/${index}/histogram`, question, signal);
      if (!answer.intervals.length) return node.replaceChildren();
      const choice = unitChoice(answer, (unit) => {
        showChart(node, index, { ...question, unit }, column, signal, narrow).then(
          () => node.querySelector("select")?.focus(),
          (error) => node.append(element("p", { class: "wrong", role: "alert" }, error.message)),
        );
      });
      node.replaceChildren(
        ...choice, bars(answer.intervals.map(({ label, count }) => ({ label, value: count })), `Records by ${column.name}`),
        element("details", {}, [element("summary", {}, "The intervals"), element("ol", {}, answer.intervals.map((interval) => (
          element("li", {}, [element("button", { type: "button", onclick: () => narrow(interval.from, interval.to) }, [
            element("span", {}, intervalLabel(interval, answer)), element("span", { class: "dim" }, number(interval.count)),
          ])])
        )))]),
      );
    }

    /** A choice of the unit of time, for a column of dates. */
    export function unitChoice(answer, choose) {
      if (!answer.unit) return [];
      const options = answer.units.map((name) => element("option", { value: name, selected: name === answer.unit }, `by ${name}`));
      return [element("select", { "aria-label": "Length of the intervals", onchange: (event) => choose(event.target.value) }, options)];
    }

    /** An interval of dates has its name; one of numbers has its bounds. */
    export function intervalLabel(interval, answer) {
      if (answer.unit) return interval.label;
      return interval.to === null ? `${interval.label} and more` : `${interval.label} to ${interval.to}`;
    }

    /**
     * A picture of values, which may be below zero, with its contents in words.
     *
     * - Parameter groups: their labels and values.
     */
    export function bars(groups, name, width = 260) {
      const values = groups.map((group) => Number(group.value ?? 0));
      const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
      const scale = (room - 2) / (most - least || 1);
      const zero = room + least * scale;
      const svg = shape("svg", { viewBox: `0 0 ${width} ${room + axis}`, role: "img", class: "chart", "aria-label": described(groups, values, name) });
      const step = Math.min(widestBar, width / groups.length);
      groups.forEach((group, place) => {
        // Few records are seen, too.
        const height = values[place] ? Math.max(1, Math.abs(values[place]) * scale) : 0;
        const y = values[place] < 0 ? zero : zero - height;
        const bar = shape("rect", { x: place * step, y, width: Math.max(0.5, step - Math.min(1.5, step / 4)), height });
        bar.append(shape("title", {}, `${group.label}: ${amountText(values[place])}`));
        svg.append(bar);
      });
      svg.append(shape("line", { x1: 0, y1: zero, x2: width, y2: zero }), ...labels(groups, step));
      return svg;
    }

    /** The labels of all groups if there is room, or else of the first and the last. */
    function labels(groups, step) {
      const y = room + axis - 3;
      const end = groups.length * step;
      if (step >= narrowestLabel) return groups.map(({ label }, place) => shape("text", { x: place * step, y }, shortened(label, step)));
      return [groups[0], groups.at(-1)].map(({ label }, place) => shape("text", { x: place * end, y, "text-anchor": place ? "end" : "start" }, shortened(label, end / 2)));
    }

    function shortened(label, width) {
      const most = Math.floor(width / letterWidth);
      return label.length > most ? `${label.slice(0, Math.max(1, most - 1))}…` : label;
    }

    function described(groups, values, name) {
      const most = Math.max(...values);
      const peak = groups[values.indexOf(most)];
      const span = groups.length > 1 ? `${number(groups.length)} bars from ${groups[0].label} to ${groups.at(-1).label}` : `1 bar, ${groups[0].label}`;
      return `${name}: ${span}. The greatest is ${amountText(most)}, at ${peak.label}.`;
    }

    function shape(name, attributes, content) {
      const node = document.createElementNS(space, name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      if (content !== undefined) node.textContent = content;
      return node;
    }

    """#####,
    "completion.js": #####"""
    // What may come next in a condition: keys of the entity and of those that it is related to, operators that fit the type, and words between terms.

    import { element } from "./parts.js";

    const text = ["==", "!=", "CONTAINS[cd]", "BEGINSWITH[cd]", "ENDSWITH[cd]", "LIKE[cd]", "MATCHES", "IN {"];
    const ordered = ["==", "!=", "<", "<=", ">", ">=", "BETWEEN {", "IN {"];
    const boolean = ["== YES", "== NO", "== nil"];
    const related = ["== nil", "!= nil"];
    const counted = [".@count == 0", ".@count > "];
    const most = 12;

    /** What fits before the caret: the words, and how many characters of the field each replaces. */
    export function suggestions(before, entity, entities) {
      if (isInQuotes(before)) return { words: [], length: 0 };
      const token = /[\w.@[\]]*$/.exec(before)[0];
      const rest = before.slice(0, before.length - token.length).trimEnd();
      const previous = /[\w.@]+$/.exec(rest)?.[0];
      const property = previous && followed(previous, entity, entities);
      const isSpaced = rest.length < before.length - token.length;
      if (property && isSpaced) return { words: starting(operators(property), token), length: token.length };
      if (/["'}\d)]$|\b(YES|NO|nil|true|false)$/.test(rest) && isSpaced) return { words: starting(["AND ", "OR "], token), length: token.length };
      const dot = token.lastIndexOf(".");
      const owner = dot < 0 ? entity : destination(token.slice(0, dot), entity, entities);
      if (!owner) return { words: [], length: 0 };
      const start = token.slice(dot + 1);
      const keys = owner.properties.filter((property) => !property.isTransient).map((property) => property.name);
      const prefixes = dot < 0 && /(^|\()$|\b(AND|OR|NOT)$/i.test(rest) ? ["NOT (", "ANY ", "ALL "] : [];
      return { words: start || dot >= 0 || !rest || prefixes.length ? starting([...keys, ...(start ? prefixes : [])], start) : [], length: start.length };
    }

    function isInQuotes(string) {
      let open = null;
      for (let place = 0; place < string.length; place++) {
        if (open && string[place] === "\\") place++;
        else if (open) open = string[place] === open ? null : open;
        else if (string[place] === '"' || string[place] === "'") open = string[place];
      }
      return open !== null;
    }

    function starting(words, start) {
      const low = start.toLowerCase();
      return words.filter((word) => word.toLowerCase().startsWith(low) && word !== start).slice(0, most);
    }

    function operators(property) {
      if (property.destination) return property.isToMany ? counted : related;
      if (property.type === "string" || property.type === "uri") return text;
      return property.type === "boolean" ? boolean : ordered;
    }

    /** The property that a key path leads to. */
    function followed(path, entity, entities) {
      const names = path.split(".");
      const owner = names.length > 1 ? destination(names.slice(0, -1).join("."), entity, entities) : entity;
      return owner?.properties.find((property) => property.name === names.at(-1));
    }

    /** The entity that a key path of relationships leads to. */
    function destination(path, entity, entities) {
      return path.split(".").reduce((owner, name) => {
        const relationship = owner?.properties.find((property) => property.name === name && property.destination);
        return relationship && entities.find((entity) => entity.name === relationship.destination);
      }, entity);
    }

    /** Lets a field suggest what may come next: the arrow keys choose, Tab and Return take it, Escape leaves it. */
    export function complete(field, entity, entities) {
      const list = element("ul", { role: "listbox", id: "suggestions", class: "suggestions", "aria-label": "What may come next", hidden: true });
      let found = { words: [], length: 0 };
      let chosen = -1;
      for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": "suggestions", "aria-expanded": "false" })) field.setAttribute(name, value);

      const show = () => {
        list.hidden = found.words.length === 0;
        field.setAttribute("aria-expanded", String(!list.hidden));
        list.replaceChildren(...found.words.map((word, place) => element("li", {
          role: "option", id: `suggestion-${place}`, "aria-selected": String(place === chosen), onmousedown: (event) => { event.preventDefault(); take(place); },
        }, word.trim())));
        if (chosen >= 0) field.setAttribute("aria-activedescendant", `suggestion-${chosen}`);
        else field.removeAttribute("aria-activedescendant");
      };
      const close = () => { found = { words: [], length: 0 }; chosen = -1; show(); };
      const look = () => { found = suggestions(field.value.slice(0, field.selectionStart), entity, entities); chosen = -1; show(); };
      const take = (place) => {
        const caret = field.selectionStart;
        const word = found.words[place];
        const head = field.value.slice(0, caret - found.length);
        const before = (word.startsWith(".") ? head.trimEnd() : head) + word + (/[\s({]$/.test(word) ? "" : " ");
        field.value = before + field.value.slice(caret);
        field.setSelectionRange(before.length, before.length);
        look();
      };
      field.addEventListener("input", look);
      field.addEventListener("focus", () => { if (!field.value) look(); });
      field.addEventListener("blur", close);
      field.addEventListener("keydown", (event) => {
        const count = found.words.length;
        if (count === 0) return;
        if (event.key === "ArrowDown" || event.key === "ArrowUp") chosen = event.key === "ArrowDown" ? (chosen + 1) % count : (Math.max(chosen, 0) + count - 1) % count;
        else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) { event.preventDefault(); return take(chosen); }
        else if (event.key === "Escape") return close();
        else return;
        event.preventDefault();
        show();
      });
      return list;
    }

    """#####,
    "conditions.js": #####"""
    // Conditions that narrow what is shown to a value or an interval of a column, in the language of predicates.

    /** What records have to meet, as the server is asked for it. */
    export function conditions(state) {
      return { condition: state.condition || undefined, text: state.text || undefined };
    }

    /** The condition with a value of a column. */
    export function narrowed(condition, column, value) {
      // Only the beginning of a long text is known here.
      const operator = value?.text === undefined ? "==" : "BEGINSWITH";
      return joined(condition, `${column.name} ${operator} ${literal(column, value)}`);
    }

    /** The condition with the bounds of an interval, which need not have an upper one. */
    export function within(condition, column, from, to) {
      return joined(condition, [`${column.name} >= ${literal(column, from)}`, ...(to === null ? [] : [`${column.name} < ${literal(column, to)}`])].join(" AND "));
    }

    function joined(condition, term) {
      return condition ? `(${condition}) AND ${term}` : term;
    }

    function literal(column, value) {
      if (value === null) return "nil";
      if (typeof value === "boolean") return value ? "YES" : "NO";
      if (isNumeric(column)) return String(value);
      if (column.destination) return `CAST(${JSON.stringify(value.uri)}, "NSManagedObjectID")`;
      if (column.type === "date") return `CAST(${(Date.parse(value) - Date.UTC(2001, 0, 1)) / 1000}, "NSDate")`;
      return JSON.stringify(String(value.text ?? value));
    }

    export function isNumeric(column) {
      return ["integer16", "integer32", "integer64", "decimal", "double", "float"].includes(column.type);
    }

    """#####,
    "diagram.js": #####"""
    // The model as a diagram: entities in layers, an entity below what its relationships to one lead to and below the one that it inherits from.

    import { element, keep, link, number } from "./parts.js";

    const space = "http://www.w3.org/2000/svg";
    const width = 230;
    const lineHeight = 18;
    const gap = { x: 70, y: 60 };

    export function showModel(page, store, index) {
      const diagram = draw(store.entities, index);
      const frame = element("div", { class: "diagram" });
      frame.append(diagram);
      makeMovable(diagram);
      page.replaceChildren(
        element("div", { class: "bar" }, [
          element("span", { class: "dim" }, `${number(store.entities.length)} entities. Drag to move, use the wheel to zoom.`),
          element("button", { type: "button", onclick: () => save(diagram, store.title) }, "Save as SVG"), link(`#/${index}/history`, "History"),
          ...(store.hasMigration ? [link(`#/${index}/migration`, "Migration")] : []),
        ]),
        frame,
        element("h2", {}, "Entities"),
        ...store.entities.map((entity) => entityTable(entity, index)),
      );
    }

    function entityTable(entity, index) {
      const rows = entity.properties.map((property) => element("tr", {}, [
        element("td", {}, property.name), element("td", {}, kind(property)), element("td", { class: "dim" }, traits(property, entity)),
      ]));
      const title = entity.isAbstract ? element("span", {}, entity.name) : link(`#/${index}/entity/${encodeURIComponent(entity.name)}`, entity.name);
      return element("details", {}, [
        element("summary", {}, [title]),
        element("table", {}, [element("tbody", {}, rows)]),
      ]);
    }

    function kind(property) {
      if (property.type) return property.type;
      return property.isToMany ? `${property.isOrdered ? "ordered " : ""}to many ${property.destination}` : `to ${property.destination}`;
    }

    function traits(property, entity) {
      return [
        property.isOptional ? "optional" : "required",
        property.isTransient && "transient", property.isInherited && "inherited", property.isDerived && "derived",
        property.deleteRule && `on deletion: ${property.deleteRule}`,
        property.destination && (property.inverse ? `inverse ${property.inverse}` : "no inverse"),
        property.isToMany && (property.minCount || property.maxCount) && `${property.minCount} to ${property.maxCount || "any number"}`,
        entity.unique.some((names) => names.includes(property.name)) && "unique",
      ].filter(Boolean).join(", ");
    }

    // MARK: Layout

    /** The layer of each entity: one below the deepest of those that it belongs to. A circle of relationships is cut where it is entered. */
    function layers(entities) {
      const byName = new Map(entities.map((entity) => [entity.name, entity]));
      const depth = new Map();
      const visit = (entity, open) => {
        if (depth.has(entity.name)) return depth.get(entity.name);
        if (open.has(entity.name)) return -1;
        open.add(entity.name);
        const above = [entity.parent, ...entity.properties.filter((property) => property.destination && !property.isToMany && !property.isInherited).map((property) => property.destination)];
        const deepest = Math.max(-1, ...above.filter((name) => name && name !== entity.name).map((name) => visit(byName.get(name), open)));
        open.delete(entity.name);
        depth.set(entity.name, deepest + 1);
        return deepest + 1;
      };
      for (const entity of entities) visit(entity, new Set());
      const result = [];
      for (const entity of entities) (result[depth.get(entity.name)] ??= []).push(entity);
      return result.filter(Boolean);
    }

    function boxes(entities) {
      const boxes = new Map();
      const perLine = Math.max(3, Math.ceil(Math.sqrt(entities.length * 1.6)));
      const lines = layers(entities).flatMap((layer) => {
        const parts = [];
        for (let start = 0; start < layer.length; start += perLine) parts.push(layer.slice(start, start + perLine));
        return parts;
      });
      const widest = Math.max(...lines.map((line) => line.length));
      let y = 20;
      for (const line of lines) {
        const left = 20 + ((widest - line.length) * (width + gap.x)) / 2;
        const heights = line.map((entity) => 36 + Math.max(1, own(entity).length) * lineHeight);
        line.forEach((entity, place) => boxes.set(entity.name, { x: left + place * (width + gap.x), y, width, height: heights[place] }));
        y += Math.max(...heights) + gap.y;
      }
      return boxes;
    }

    function own(entity) {
      return entity.properties.filter((property) => !property.isInherited);
    }

    // MARK: Drawing

    function svg(name, attributes = {}, content = []) {
      const node = document.createElementNS(space, name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      if (typeof content === "string") node.textContent = content;
      else node.append(...content);
      return node;
    }

    function draw(entities, index) {
      const places = boxes(entities);
      const right = Math.max(...[...places.values()].map((box) => box.x + box.width)) + 20;
      const bottom = Math.max(...[...places.values()].map((box) => box.y + box.height)) + 20;
      const names = entities.map((entity) => entity.name).join(", ");
      return svg("svg", { xmlns: space, viewBox: `0 0 ${right} ${bottom}`, role: "img", "aria-label": `The entities ${names} and their relationships` }, [
        svg("rect", { width: right, height: bottom, fill: "Canvas" }),
        ...entities.flatMap((entity) => lines(entity, places)),
        ...entities.map((entity) => box(entity, places.get(entity.name), index)),
      ]);
    }

    function box(entity, place, index) {
      const rows = own(entity).map((property, line) => svg("text", { x: 10, y: 44 + line * lineHeight, "font-size": 12, fill: "CanvasText" }, shortened(`${property.name}  ${mark(property)}`)));
      const content = [
        svg("rect", { width: place.width, height: place.height, rx: 6, fill: "Canvas", stroke: "GrayText" }),
        svg("text", { x: 10, y: 19, "font-weight": 600, "font-size": 14, "font-style": entity.isAbstract ? "italic" : "normal", fill: "LinkText" }, shortened(entity.name)),
        svg("line", { x1: 0, x2: place.width, y1: 27, y2: 27, stroke: "GrayText" }),
        ...rows,
      ];
      const group = svg("g", { transform: `translate(${place.x} ${place.y})`, "font-family": "system-ui, sans-serif" }, content);
      if (entity.isAbstract) return group;
      return svg("a", { href: `#/${index}/entity/${encodeURIComponent(entity.name)}` }, [group]);
    }

    function shortened(string) {
      return string.length > 32 ? `${string.slice(0, 31)}…` : string;
    }

    function mark(property) {
      if (property.type) return property.type + (property.isOptional ? "?" : "");
      return `${property.isToMany ? "⇉" : "→"} ${property.destination}${property.isOptional ? "?" : ""}`;
    }

    function lines(entity, places) {
      const from = places.get(entity.name);
      const result = [];
      if (entity.parent) result.push(connection(from, places.get(entity.parent), "inherits", { "stroke-dasharray": "5 4" }));
      for (const property of own(entity).filter((property) => property.destination)) {
        const target = places.get(property.destination);
        // A relationship and its inverse are one line, drawn from the side whose name comes first.
        if (property.inverse && `${property.destination}.${property.inverse}` < `${entity.name}.${property.name}`) continue;
        const label = property.inverse ? `${property.name} / ${property.inverse}` : property.name;
        result.push(connection(from, target, `${label} (${property.deleteRule})`, {}));
      }
      return result;
    }

    function connection(from, to, label, attributes) {
      const path = svg("path", { d: way(from, to), fill: "none", stroke: "GrayText", "stroke-width": 1.5, ...attributes });
      path.append(svg("title", {}, label));
      return path;
    }

    function way(from, to) {
      if (from === to) {
        const x = from.x + from.width;
        return `M ${x} ${from.y + 20} c 40 0, 40 40, 0 40`;
      }
      const start = { x: from.x + from.width / 2, y: from.y + from.height / 2 };
      const end = { x: to.x + to.width / 2, y: to.y + to.height / 2 };
      const middle = (start.y + end.y) / 2;
      return `M ${start.x} ${start.y} C ${start.x} ${middle}, ${end.x} ${middle}, ${end.x} ${end.y}`;
    }

    // MARK: Moving

    function makeMovable(diagram) {
      const view = diagram.viewBox.baseVal;
      let grip = null;
      diagram.addEventListener("pointerdown", (event) => { grip = { x: event.clientX, y: event.clientY }; });
      addEventListener("pointerup", () => { grip = null; });
      diagram.addEventListener("pointermove", (event) => {
        if (!grip || event.buttons === 0) return;
        const scale = view.width / diagram.clientWidth;
        view.x -= (event.clientX - grip.x) * scale;
        view.y -= (event.clientY - grip.y) * scale;
        grip = { x: event.clientX, y: event.clientY };
      });
      diagram.addEventListener("wheel", (event) => {
        event.preventDefault();
        const factor = event.deltaY > 0 ? 1.15 : 1 / 1.15;
        const frame = diagram.getBoundingClientRect();
        const [x, y] = [(event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height];
        view.x += view.width * x * (1 - factor);
        view.y += view.height * y * (1 - factor);
        view.width *= factor;
        view.height *= factor;
      }, { passive: false });
    }

    function save(diagram, title) {
      const copy = diagram.cloneNode(true);
      copy.querySelectorAll("a").forEach((node) => node.replaceWith(...node.childNodes));
      const source = new XMLSerializer().serializeToString(copy).replaceAll("CanvasText", "#1c1d1f").replaceAll("Canvas", "#ffffff").replaceAll("GrayText", "#777").replaceAll("LinkText", "#0b5c3b");
      keep(new Blob([source], { type: "image/svg+xml" }), `${title}.svg`);
    }

    """#####,
    "edits.js": #####"""
    // The unsaved changes of the store that is shown: the bar with undo, redo and save, and the requests that change something.

    import { ask, element, link, number } from "./parts.js";

    const bar = document.getElementById("edits");
    /** The state of each store's changes, by its index. */
    const states = new Map();
    let shown = null;
    let reload = () => {};
    /** Requests are sent one after the other, so that a field that loses the focus is set before what follows. */
    let queue = Promise.resolve();
    /** What has kept the changes of a store from being saved, until the next save. */
    export const refusals = new Map();

    /** Sends a change and shows the new state; what the server refuses is thrown. */
    export function change(store, index, name, question = {}) {
      const sent = queue.then(() => ask(`api/stores/${index}/edits/${name}`, question, undefined, { "X-Heartwood-Edits": store.editing }));
      queue = sent.catch(() => {});
      return sent.then((answer) => {
        if (answer.state) note(index, answer.state);
        return answer;
      });
    }

    export function note(index, state) {
      const former = states.get(index);
      states.set(index, state);
      if (shown?.index === index && JSON.stringify(former) !== JSON.stringify(state)) draw();
    }

    /** Shows the bar for a store, or hides it where there is none or it is only read. */
    export function show(store, index) {
      shown = store?.editing ? { store, index } : null;
      bar.hidden = !shown;
      if (!shown) return;
      draw();
      if (!states.has(index)) perform(async () => note(index, (await ask(`api/stores/${index}/edits`)).state));
    }

    /** - Parameter shows: shows the page anew. */
    export function begin(shows) {
      reload = shows;
    }

    // MARK: The bar

    const status = element("output", { role: "status" });
    const problem = element("span", { class: "wrong", role: "alert" });
    const buttons = {
      undo: element("button", { type: "button", title: "Ctrl+Z outside of fields", onclick: () => step("undo") }, "Undo"),
      redo: element("button", { type: "button", title: "Ctrl+Shift+Z outside of fields", onclick: () => step("redo") }, "Redo"),
      review: element("button", { type: "button", onclick: () => { location.hash = `#/${shown.index}/changes`; } }, "Review"),
      discard: element("button", { type: "button", onclick: () => discard() }, "Discard"),
      save: element("button", { type: "button", class: "main", title: "Ctrl+S", onclick: () => save() }, "Save"),
    };
    bar.append(status, problem, ...Object.values(buttons));

    function draw() {
      const state = states.get(shown.index) ?? { count: 0 };
      const backup = state.backup ? ` Backup: ${state.backup}` : "";
      status.textContent = state.count ? `${number(state.count)} ${state.count === 1 ? "record is" : "records are"} not saved.${backup}` : `No unsaved changes.${backup}`;
      buttons.undo.disabled = !state.canUndo;
      buttons.redo.disabled = !state.canRedo;
      for (const name of ["review", "discard", "save"]) buttons[name].disabled = !state.count;
    }

    async function perform(body) {
      problem.textContent = "";
      try {
        await body();
      } catch (error) {
        problem.textContent = error.message;
      }
    }

    /** Undoes or redoes a step, and shows the page with what it changed. */
    function step(name) {
      if (buttons[name].disabled) return;
      perform(async () => {
        await change(shown.store, shown.index, name);
        refusals.delete(shown.index);
        await reload();
      });
    }

    async function discard() {
      const state = states.get(shown.index);
      const sure = await confirmed("Discard all changes?", [element("p", {}, `${number(state.count)} changed records get back their saved values. This cannot be undone.`)], "Discard");
      if (sure) step("discard");
    }

    /** Saves; with choices if others have changed the same records. What refuses it is shown on the page of the changes. */
    export function save(choices) {
      if (buttons.save.disabled) return;
      return perform(async () => {
        document.activeElement?.blur();
        await queue;
        const invalid = document.querySelector("[aria-invalid=true]");
        if (invalid) {
          invalid.focus();
          throw new Error("A field has a value that is not allowed. Correct it first.");
        }
        const { index, store } = shown;
        try {
          const answer = await change(store, index, "save", { choices });
          refusals.delete(index);
          follow(index, answer.renamed);
          await reload();
          status.textContent = `Saved.${answer.state.backup ? ` Backup: ${answer.state.backup}` : answer.hasFile ? "" : " There is no backup, because the store is no file."}`;
        } catch (error) {
          if (!error.faults && !error.conflicts) throw error;
          refusals.set(index, error);
          const address = `#/${index}/changes`;
          if (location.hash === address) await reload();
          else location.hash = address;
        }
      });
    }

    /** The page of a new record has another address once it is saved. */
    function follow(index, renamed) {
      const uri = new URLSearchParams(location.hash.split("?")[1] ?? "").get("uri");
      if (uri && renamed[uri]) history.replaceState(null, "", `#/${index}/record?uri=${encodeURIComponent(renamed[uri])}`);
    }

    // MARK: Asking

    /** Asks whether something is to be done. */
    export function confirmed(title, content, label) {
      return new Promise((resolve) => {
        const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, [
          element("h2", { id: "dialog-title" }, title), ...content,
          element("div", { class: "bar" }, [
            element("button", { type: "button", class: "main", onclick: () => dialog.close("yes") }, label),
            element("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
          ]),
        ]);
        dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); });
        bar.append(dialog);
        dialog.showModal();
      });
    }

    /** Lets the user choose one of the records of an entity; null if none is chosen. */
    export function chosenRecord(index, entity, title) {
      return new Promise((resolve) => {
        let choice = null;
        let asked = 0;
        const list = element("ul", { class: "choices" });
        const found = element("p", { class: "dim", role: "status" });
        const field = element("input", { type: "search", "aria-label": `Text in a record of ${entity}`, placeholder: "Text anywhere in the record" });
        const search = async () => {
          const number = ++asked;
          const answer = await ask(`api/stores/${index}/links`, { entity, text: field.value.trim() || null }).catch((error) => ({ links: [], error }));
          if (number !== asked) return;
          const more = answer.count - answer.links.length;
          found.textContent = answer.error?.message ?? (more > 0 ? `The first ${answer.links.length} of ${answer.count.toLocaleString("en")}` : `${answer.count} found`);
          list.replaceChildren(...answer.links.map((record) => element("li", {}, [
            element("button", { type: "button", onclick: () => { choice = record; dialog.close(); } }, record.entity === entity ? record.label : `${record.label} (${record.entity})`),
          ])));
        };
        field.addEventListener("input", search);
        const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, [
          element("h2", { id: "dialog-title" }, title), field, found, list,
          element("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
        ]);
        dialog.addEventListener("close", () => { dialog.remove(); resolve(choice); });
        bar.append(dialog);
        dialog.showModal();
        search();
      });
    }

    // MARK: Keys

    addEventListener("keydown", (event) => {
      if (!shown || !(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open]")) return;
      const key = event.key.toLowerCase();
      if (key === "s") {
        event.preventDefault();
        save();
      } else if (!event.target.closest("input, textarea, select") && (key === "z" || key === "y")) {
        event.preventDefault();
        step(key === "y" || event.shiftKey ? "redo" : "undo");
      }
    });

    addEventListener("beforeunload", (event) => {
      if ([...states.values()].some((state) => state.count)) event.preventDefault();
    });

    /** A link to a record. */
    export function recordLink(index, record) {
      return link(`#/${index}/record?uri=${encodeURIComponent(record.uri)}`, record.label);
    }


    """#####,
    "fields.js": #####"""
    // The field of an attribute: an input of its type, its rules, and what is wrong with the value.

    import { askBlob, element, number, valueNode } from "./parts.js";
    import { change } from "./edits.js";

    const numeric = { integer16: "numeric", integer32: "numeric", integer64: "numeric", decimal: "decimal", double: "decimal", float: "decimal" };
    /** A file that is longer does not fit into a request, in which it is base64. */
    const fileLimit = 700_000;

    /**
     * The nodes of a field.
     * - changed: takes the answer of the server, and returns the property as it is now.
     */
    export function editor(value, property, place, changed) {
      const identifier = `value-${property.name}`;
      const rule = element("p", { class: "rule dim", id: `rule-${property.name}` }, rules(property));
      const wrong = element("p", { class: "rule wrong", role: "alert", id: `wrong-${property.name}` });
      const box = element("div", { class: "input" });
      const send = async (string) => {
        try {
          const now = changed(await change(place.store, place.index, "set", { uri: place.uri, name: property.name, text: string }));
          tell(now.faults?.join(" ") ?? "");
          if (property.type === "binary" || property.type === "transformable") draw(now);
          else if (string === null) draw(now, true);
          if (nothing) nothing.disabled = now.value === null;
        } catch (error) {
          tell(error.faults?.map((fault) => fault.message).join(" ") ?? error.message, true);
        }
      };
      /** A value that was refused is marked until it is corrected; the record keeps the one before. */
      const tell = (message, isRefused = false) => {
        wrong.textContent = message;
        box.querySelector(`#${CSS.escape(identifier)}`)?.setAttribute("aria-invalid", isRefused);
      };
      let nothing = null;
      const draw = (value, hasFocus) => {
        const attributes = { id: identifier, "aria-describedby": `${rule.id} ${wrong.id}` };
        const address = `api/stores/${place.index}/value?name=${encodeURIComponent(property.name)}&uri=${encodeURIComponent(place.uri)}`;
        nothing = property.isOptional ? element("button", { type: "button", disabled: value.value === null, "aria-label": `Set ${property.name} to nil`, onclick: () => send(null) }, "nil") : null;
        box.replaceChildren(...input(value.value, property, attributes, send, address, place.index), ...(nothing ? [nothing] : []));
        if (hasFocus) box.querySelector(`#${CSS.escape(identifier)}`)?.focus();
      };
      draw(value);
      wrong.textContent = (value.faults ?? []).join(" ");
      return [box, rule, wrong];
    }

    function rules(property) {
      return [property.isOptional ? "" : "required", ...property.rules].filter(Boolean).join(", ");
    }

    function input(value, property, attributes, send, address, index) {
      switch (property.type) {
        case "boolean": return [choice(value, property, attributes, send)];
        case "binary": case "transformable": return file(value, attributes, send, address, index);
        case "string": return typeof value === "object" && value !== null ? [loading(value, attributes, send, address)] : [area(value, attributes, send)];
        default: return [line(value, property, attributes, send)];
      }
    }

    function choice(value, property, attributes, send) {
      const options = [["true", "true"], ["false", "false"], ...(property.isOptional || value === null ? [["", "nil"]] : [])];
      const select = element("select", { ...attributes, onchange: () => send(select.value || null) }, options.map(([value, label]) => element("option", { value }, label)));
      select.value = value === null ? "" : String(value);
      return select;
    }

    /** Text of any length and with line breaks; an emptied field is an empty text, and not nil. */
    function area(value, attributes, send) {
      const area = element("textarea", { ...attributes, rows: 1, spellcheck: "true", placeholder: value === null ? "nil" : undefined, onchange: () => { area.removeAttribute("placeholder"); send(area.value); } });
      area.value = value ?? "";
      return area;
    }

    /** The beginning of a long text, which is loaded as a whole before it can be changed. */
    function loading(value, attributes, send, address) {
      const button = element("button", { type: "button", id: attributes.id, onclick: async () => {
        const field = area(await (await askBlob(address)).text(), attributes, send);
        button.replaceWith(field);
        field.focus();
      } }, `Edit all ${number(value.length)} characters`);
      return element("div", {}, [element("pre", {}, `${value.text.slice(0, 2000)}…`), button]);
    }

    /** Numbers, dates and the like as text, which the server reads; an emptied field is nil. */
    function line(value, property, attributes, send) {
      const field = element("input", {
        ...attributes, type: property.type === "uri" ? "url" : "text", inputmode: numeric[property.type], spellcheck: "false", autocomplete: "off",
        placeholder: value === null ? "nil" : undefined, onchange: () => send(field.value.trim() || null),
      });
      field.value = value === null ? "" : String(value);
      return field;
    }

    /** Binary data as a file to take in place of them. */
    function file(value, attributes, send, address, index) {
      const field = element("input", { ...attributes, type: "file", onchange: async () => {
        const [chosen] = field.files;
        if (!chosen) return;
        if (chosen.size > fileLimit) {
          field.value = "";
          field.replaceWith(field, element("p", { class: "rule wrong", role: "alert" }, `The file has ${number(chosen.size)} bytes; ${number(fileLimit)} are the most here.`));
          return;
        }
        send(base64(new Uint8Array(await chosen.arrayBuffer())));
      } });
      return [element("div", {}, [valueNode(value, index, address)]), field];
    }

    function base64(bytes) {
      let string = "";
      for (const byte of bytes) string += String.fromCharCode(byte);
      return btoa(string);
    }

    """#####,
    "grid.js": #####"""
    // The records of an entity as a table that can be scrolled through, however long it is: only the rows in sight are there.

    import { complete } from "./completion.js";
    import { amountText, ask, askBlob, element, keep, cellText, number } from "./parts.js";
    import { showChart } from "./chart.js";
    import { conditions, isNumeric, narrowed, within } from "./conditions.js";
    import { groupForm, showGroups } from "./groups.js";
    import { change } from "./edits.js";

    const rowHeight = 26;
    const pageLength = 100;
    const pagesKept = 40;
    // Browsers lay nothing out that is much higher; a longer table moves faster than the bar.
    const highest = 15_000_000;

    export function showEntity(page, store, index, name, options) {
      const entity = store.entities.find((entity) => entity.name === name);
      if (!entity) throw new Error(`The store has no entity called ${name}.`);
      const state = {
        condition: options.get("where") ?? "",
        text: options.get("text") ?? "",
        sort: (options.get("sort") ?? "").split(",").filter(Boolean).map((part) => ({ key: part.replace(/:desc$/, ""), descending: part.endsWith(":desc") })),
        group: options.get("group") ?? "",
        amount: options.get("amount") ?? "",
        unit: options.get("unit") ?? "",
      };
      const address = (changes) => {
        const { condition, sort, ...rest } = { ...state, ...changes };
        const query = new URLSearchParams(Object.entries({ where: condition, sort: sortText(sort), ...rest }).filter(([, value]) => value));
        return `#/${index}/entity/${encodeURIComponent(name)}${query.size ? `?${query}` : ""}`;
      };
      const go = (changes) => {
        const next = address(changes);
        if (location.hash === next) dispatchEvent(new HashChangeEvent("hashchange"));
        else location.hash = next;
      };
      const status = element("span", { class: "dim", role: "status" }, "…");
      const wrong = element("pre", { class: "wrong", role: "alert", id: "wrong" });
      const field = element("input", {
        type: "text", value: state.condition, "aria-label": "Condition", "aria-describedby": "wrong", spellcheck: "false", autocapitalize: "off",
        placeholder: 'A condition, such as name CONTAINS[c] "tea" AND count > 3',
      });
      const anywhere = element("input", { type: "search", class: "text", value: state.text, "aria-label": "Text in any attribute", placeholder: "Text anywhere" });
      const columns = entity.properties.filter((property) => !property.isTransient && !property.isToMany);
      const ordered = [...columns.filter((property) => property.type), ...columns.filter((property) => !property.type)];
      const hidden = new Set(JSON.parse(sessionStorage.getItem(`hidden ${name}`) ?? "[]"));
      const form = element("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); go({ condition: field.value.trim(), text: anywhere.value.trim() }); } }, [
        element("div", { class: "field" }, [field, complete(field, entity, store.entities)]), anywhere, element("button", {}, "Find"),
        ...(store.editing && !entity.isAbstract ? [element("button", { type: "button", onclick: () => add() }, "Add")] : []),
        menu("Columns", ordered.map((column) => columnChoice(column, hidden, () => { sessionStorage.setItem(`hidden ${name}`, JSON.stringify([...hidden])); go({}); }))),
        menu("Take along", [
          element("button", { type: "button", onclick: () => copyCommand(store, name, state, ordered) }, "Copy as a command"),
          element("button", { type: "button", onclick: () => copySwift(name, state, ordered) }, "Copy as Swift"),
          ...[["csv", "CSV"], ["jsonl", "JSON, a record on each line"]].map(([format, label]) => element("button", { type: "button", onclick: () => save({ format }, format) }, label)),
          element("span", { class: "dim" }, "As a store"),
          ...store.exports.map((type) => element("button", { type: "button", onclick: () => save({ storeType: type.type }, type.extension) }, `${type.name} (.${type.extension})`)),
        ]),
        status,
      ]);
      const save = async (kind, ending) => {
        status.textContent = "Exporting…";
        wrong.textContent = "";
        try {
          keep(await askBlob(`api/stores/${index}/export`, { ...kind, records: { entity: name, ...conditions(state), sort: state.sort } }), `${name}.${ending}`);
          status.textContent = "Exported.";
        } catch (error) {
          status.textContent = "";
          wrong.textContent = error.message;
        }
      };
      const add = async () => {
        try {
          const { record } = await change(store, index, "insert", { entity: name });
          location.hash = `#/${index}/record?uri=${encodeURIComponent(record.uri)}`;
        } catch (error) {
          wrong.textContent = error.message;
        }
      };
      const facets = element("aside", { class: "facets", "aria-label": "Values" });
      showFacets(facets, { index, name, state, columns: ordered, go });
      const show = (content) => page.replaceChildren(form, groupForm({ state, columns: ordered, go }), wrong, element("div", { class: "split" }, [content, facets]));
      if (state.group) return show(groupsNode({ index, name, state, columns: ordered, address, go, status, wrong }));
      const grid = new Grid({ index, name, state, columns: ordered, hidden, status, wrong, sortBy: (key) => go({ sort: nextSort(state.sort, key) }) });
      show(grid.node);
      grid.begin();
    }

    /** The groups in place of the records. */
    function groupsNode({ status, wrong, ...options }) {
      const node = element("section", { class: "groups", "aria-label": "Groups", "aria-busy": "true" });
      const control = new AbortController();
      addEventListener("hashchange", () => control.abort(), { once: true });
      showGroups(node, { ...options, signal: control.signal }).catch((error) => {
        if (error.name !== "AbortError") wrong.textContent = pointed(error);
      }).finally(() => { status.textContent = ""; node.removeAttribute("aria-busy"); });
      return node;
    }

    /** A button that opens a list. */
    function menu(label, content) {
      return element("details", { class: "menu" }, [element("summary", {}, label), element("div", {}, content)]);
    }

    function columnChoice(column, hidden, done) {
      const box = element("input", { type: "checkbox", onchange: () => { if (box.checked) hidden.delete(column.name); else hidden.add(column.name); done(); } });
      box.checked = !hidden.has(column.name);
      return element("label", {}, [box, ` ${column.name}`]);
    }

    /** The order as an address and the option --sort have it. */
    function sortText(sort) {
      return sort.map((key) => key.key + (key.descending ? ":desc" : "")).join(",");
    }

    /** Ascending, then descending, then not sorted. */
    function nextSort(sort, key) {
      const now = sort.find((part) => part.key === key);
      if (!now) return [{ key, descending: false }];
      return now.descending ? [] : [{ key, descending: true }];
    }

    function quote(argument) {
      return `'${argument.replaceAll("'", "'\\''")}'`;
    }

    /** The condition with the text that is looked for, as one. */
    function wholeCondition(state, columns) {
      if (!state.text) return state.condition;
      const names = columns.filter((column) => column.type === "string").map((column) => column.name);
      const somewhere = names.map((name) => `${name} CONTAINS[cd] ${JSON.stringify(state.text)}`).join(" OR ");
      return state.condition ? `(${state.condition}) AND (${somewhere})` : somewhere;
    }

    function copyCommand(store, name, state, columns) {
      const parts = ["heartwood fetch", quote(store.stores[0]?.place ?? store.title), name];
      const condition = wholeCondition(state, columns);
      if (condition) parts.push("--where", quote(condition));
      if (state.group) parts.push(...groupOptions(state));
      else if (state.sort.length) parts.push("--sort", quote(sortText(state.sort)));
      navigator.clipboard?.writeText(parts.join(" "));
    }

    /** The groups by each value of the column, as options of the command. */
    function groupOptions(state) {
      const [operation, operand] = state.amount.split(":");
      const columns = [state.group, "count(SELF)", ...(operation ? [`${operation}(${operand})`] : [])];
      return ["--group-by", quote(state.group), "--select", quote(columns.join(","))];
    }

    function copySwift(name, state, columns) {
      navigator.clipboard?.writeText(state.group ? groupsInSwift(name, state, columns) : `try context.fetch(${requestInSwift(name, state, columns)})`);
    }

    function requestInSwift(name, state, columns) {
      const condition = wholeCondition(state, columns);
      const parts = [`entityName: ${JSON.stringify(name)}`];
      if (condition) parts.push(`where: FetchPredicate(format: ####"${condition}"####)`);
      if (state.sort.length && !state.group) {
        const sorts = state.sort.map((key) => `FetchSortDescriptor(${JSON.stringify(key.key)}, ascending: ${!key.descending})`);
        parts.push(`sortedBy: [${sorts.join(", ")}]`);
      }
      return `FetchRequest<ManagedObject>(${parts.join(", ")})`;
    }

    /** The groups by each value of the column, as the command makes them. */
    function groupsInSwift(name, state, columns) {
      const [operation, operand] = state.amount.split(":");
      const request = requestInSwift(name, state, columns);
      return [
        `var request = ${wholeCondition(state, columns) ? "try " : ""}${request}`,
        `let key = try ExpressionDescription(format: ${JSON.stringify(state.group)})`,
        ...(operation ? [`let amount = try ExpressionDescription(format: "${operation}(${operand})")`] : []),
        "request.propertiesToGroupBy = [key]",
        `request.propertiesToFetch = [key, .count()${operation ? ", amount" : ""}]`,
        "let rows = try context.fetchRows(request)",
      ].join("\n");
    }

    // MARK: Grid

    class Grid {
      constructor(options) {
        Object.assign(this, options);
        this.pages = new Map();
        this.asked = new Map();
        this.count = 0;
        this.shown = this.columns.map((column, place) => ({ column, place })).filter(({ column }) => !this.hidden.has(column.name));
        this.head = element("div", { class: "head", role: "row" }, [this.headCell("", "id"), ...this.shown.map(({ column }) => this.headCell(column.name, column.name, isNumeric(column)))]);
        this.sheet = element("div", { class: "sheet" });
        this.node = element("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": this.name, "aria-busy": "true" }, [this.head, this.sheet]);
        const widths = ["9rem", ...this.shown.map(({ column }) => (isNumeric(column) ? "8rem" : column.type === "boolean" ? "6rem" : "15rem"))];
        this.template = widths.join(" ");
        this.head.style.gridTemplateColumns = this.template;
        this.head.style.width = "max-content";
        this.node.addEventListener("scroll", () => this.draw(), { passive: true });
        this.node.addEventListener("keydown", (event) => this.move(event));
        this.observer = new ResizeObserver(() => this.draw());
        this.observer.observe(this.node);
      }

      headCell(key, label, numeric) {
        const sort = this.state.sort.find((part) => part.key === key);
        const arrow = sort ? (sort.descending ? " ▼" : " ▲") : "";
        if (!key) return element("span", { class: "cell dim", role: "columnheader" }, label);
        const order = sort ? (sort.descending ? "descending" : "ascending") : "none";
        const button = { type: "button", class: numeric ? "number" : undefined, title: `Sort by ${label}`, onclick: () => this.sortBy(key) };
        return element("div", { role: "columnheader", "aria-sort": order }, [element("button", button, label + arrow)]);
      }

      async begin() {
        await this.load(0);
        this.node.removeAttribute("aria-busy");
      }

      question(page) {
        return { entity: this.name, ...conditions(this.state), sort: this.state.sort, from: page * pageLength, count: pageLength };
      }

      async load(page) {
        if (this.pages.has(page) || this.asked.has(page)) return;
        const control = new AbortController();
        this.asked.set(page, control);
        try {
          const answer = await ask(`api/stores/${this.index}/rows`, this.question(page), control.signal);
          this.pages.set(page, answer.rows);
          if (this.pages.size > pagesKept) this.pages.delete(this.pages.keys().next().value);
          if (page === 0 || answer.count !== this.count) this.setCount(answer.count);
          if (page === 0) this.status.textContent = `${number(answer.count)} found, ${answer.milliseconds} ms`;
          this.wrong.textContent = "";
        } catch (error) {
          if (error.name === "AbortError") return;
          this.status.textContent = "";
          this.wrong.textContent = pointed(error);
        } finally {
          this.asked.delete(page);
        }
        this.draw();
      }

      setCount(count) {
        this.count = count;
        this.height = Math.min(count * rowHeight, highest);
        this.sheet.style.height = `${this.height}px`;
        this.node.setAttribute("aria-rowcount", count + 1);
      }

      get inSight() {
        return Math.max(1, Math.ceil((this.node.clientHeight - this.head.offsetHeight) / rowHeight));
      }

      /** The first row in sight. In a table that is higher than the sheet, the bar moves by shares of it. */
      get first() {
        const room = this.height - (this.node.clientHeight - this.head.offsetHeight);
        if (this.count * rowHeight <= highest || room <= 0) return Math.floor(this.node.scrollTop / rowHeight);
        return Math.round((this.node.scrollTop / room) * (this.count - this.inSight + 1));
      }

      draw() {
        if (this.drawing) return;
        this.drawing = true;
        requestAnimationFrame(() => { this.drawing = false; this.render(); });
      }

      render() {
        const first = Math.max(0, Math.min(this.first, Math.max(0, this.count - 1)));
        const last = Math.min(this.count, first + this.inSight + 1);
        const scaled = this.count * rowHeight > highest;
        const top = scaled ? this.node.scrollTop : first * rowHeight;
        const focused = this.sheet.contains(document.activeElement) ? Number(document.activeElement.dataset.place) : null;
        const rows = [];
        for (let place = first; place < last; place++) rows.push(this.row(place, top + (place - first) * rowHeight));
        this.sheet.replaceChildren(...rows);
        this.sheet.setAttribute("role", rows.length ? "rowgroup" : "presentation");
        if (focused !== null) this.focus(focused);
        const wanted = new Set([Math.floor(first / pageLength), Math.floor(Math.max(first, last - 1) / pageLength)]);
        for (const [page, control] of this.asked) if (!wanted.has(page) && page !== 0) control.abort();
        if (this.count > 0) for (const page of wanted) this.load(page);
      }

      row(place, top) {
        const record = this.pages.get(Math.floor(place / pageLength))?.[place % pageLength];
        const cells = record
          ? [cell(marks[record.change] ?? record.reference, record.change ? "unsaved" : "dim"), ...(record.error ? [cell(record.error, "wrong")] : this.shown.map(({ column, place }) => cell(cellText(record.cells[place]), isNumeric(column) ? "number" : "")))]
          : [cell("…", "dim")];
        const node = element("div", {
          class: "row", role: "row", tabindex: "-1", "aria-rowindex": place + 2, "data-place": place,
          onclick: () => this.open(place),
        }, cells);
        node.style.top = `${top}px`;
        node.style.gridTemplateColumns = this.template;
        return node;
      }

      open(place) {
        const record = this.pages.get(Math.floor(place / pageLength))?.[place % pageLength];
        if (record) location.hash = `#/${this.index}/record?uri=${encodeURIComponent(record.uri)}`;
      }

      focus(place) {
        this.sheet.querySelector(`[data-place="${place}"]`)?.focus({ preventScroll: true });
      }

      move(event) {
        const row = event.target.closest(".row");
        const place = row ? Number(row.dataset.place) : this.first - 1;
        const page = this.inSight - 1;
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
        if (event.key === "Enter" && row) return this.open(place);
        if (!(event.key in steps) || event.target.closest(".head")) return;
        event.preventDefault();
        const target = Math.max(0, Math.min(this.count - 1, place + steps[event.key]));
        if (target < this.first || target >= this.first + this.inSight - 1) this.scrollTo(target);
        this.render();
        this.focus(target);
      }

      scrollTo(place) {
        const scaled = this.count * rowHeight > highest;
        const room = this.height - (this.node.clientHeight - this.head.offsetHeight);
        this.node.scrollTop = scaled ? (place / Math.max(1, this.count - this.inSight + 1)) * room : place * rowHeight;
      }
    }

    const marks = { inserted: "new, not saved", changed: "changed, not saved" };

    function cell(string, kind) {
      return element("div", { class: `cell ${kind}`, role: "gridcell", title: string.length > 20 ? string : undefined }, string);
    }

    /** The message, and a caret under the place in the condition. */
    function pointed(error) {
      if (error.from === undefined) return error.message;
      const before = new TextDecoder().decode(new TextEncoder().encode(error.text).subarray(0, error.from));
      return `${error.message}\n${error.text}\n${" ".repeat([...before].length)}^`;
    }

    // MARK: Facets

    function showFacets(node, { index, name, state, columns, go }) {
      const choice = element("select", { "aria-label": "Column whose values are counted" }, [
        element("option", { value: "" }, "Values of…"),
        ...columns.filter((column) => column.type && column.type !== "binary" && column.type !== "transformable").map((column) => element("option", { value: column.name }, column.name)),
      ]);
      const list = element("ol");
      const summary = element("dl");
      const chart = element("div");
      // The server ends what nobody waits for.
      let control = new AbortController();
      addEventListener("hashchange", () => control.abort(), { once: true });
      choice.addEventListener("change", async () => {
        control.abort();
        control = new AbortController();
        list.replaceChildren();
        summary.replaceChildren();
        chart.replaceChildren();
        if (!choice.value) return;
        try {
          const question = { entity: name, ...conditions(state), column: choice.value, limit: 100 };
          const answer = await ask(`api/stores/${index}/values`, question, control.signal);
          const column = columns.find((column) => column.name === choice.value);
          summary.replaceChildren(...Object.entries(answer.summary).flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, amountText(value))]));
          const most = Math.max(1, ...answer.values.map((entry) => entry.count));
          list.replaceChildren(...answer.values.map((entry) => {
            const button = element("button", { type: "button", onclick: () => go({ condition: narrowed(state.condition, column, entry.value) }) }, [
              element("span", {}, entry.value === null ? "nil" : cellText(entry.value)), element("span", { class: "dim" }, number(entry.count)),
            ]);
            button.style.setProperty("--share", entry.count / most);
            return element("li", {}, [button]);
          }));
          if (!isNumeric(column) && column.type !== "date") return;
          const narrow = (from, to) => go({ condition: within(state.condition, column, from, to) });
          await showChart(chart, index, { entity: name, ...conditions(state), column: column.name }, column, control.signal, narrow);
        } catch (error) {
          if (error.name === "AbortError") return;
          list.replaceChildren(element("li", { class: "wrong" }, error.message));
        }
      });
      node.replaceChildren(choice, summary, chart, list);
    }

    """#####,
    "groups.js": #####"""
    // Groups of the records that meet the condition, with their number and a sum or another amount: as bars, and as a table whose rows lead to the records.

    import { amountText, ask, element, keep, link, cellText, number } from "./parts.js";
    import { bars, intervalLabel, unitChoice } from "./chart.js";
    import { conditions, isNumeric, narrowed, within } from "./conditions.js";

    const functions = { sum: "sum of", average: "average of", min: "least", max: "greatest" };
    const mostGroups = 200;

    /** The fields for a group: its column, and what is computed for it. */
    export function groupForm({ state, columns, go }) {
      const numeric = columns.filter(isNumeric);
      const [chosenFunction, chosenColumn] = (state.amount || "count").split(":");
      const by = choice("Group by", [["", "Group by…"], ...columns.filter(isGroupable).map(({ name }) => [name, name])], state.group);
      const amount = choice("What is computed for each group", [["count", "number of records"], ...(numeric.length ? Object.entries(functions) : [])], chosenFunction);
      const of = choice("Column of the amount", numeric.map(({ name }) => [name, name]), chosenColumn ?? numeric[0]?.name ?? "");
      const update = () => { of.hidden = amount.value === "count"; };
      amount.addEventListener("change", update);
      update();
      return element("form", { class: "bar", onsubmit: (event) => {
        event.preventDefault();
        go({ group: by.value, amount: by.value && amount.value !== "count" ? `${amount.value}:${of.value}` : "", unit: "" });
      } }, [by, amount, of, element("button", {}, "Group")]);
    }

    function choice(label, options, chosen) {
      const node = element("select", { "aria-label": label }, options.map(([value, text]) => element("option", { value }, text)));
      node.value = chosen;
      return node;
    }

    function isGroupable(column) {
      return column.type !== "binary" && column.type !== "transformable";
    }

    /** Shows the groups of the address. */
    export async function showGroups(node, { index, name, state, columns, address, go, signal }) {
      const column = columns.find((column) => column.name === state.group);
      if (!column) throw new Error(`${name} has no column called ${state.group}.`);
      const [operation, operand] = state.amount.split(":");
      const amount = operation ? { function: operation, column: operand } : undefined;
      const title = amount ? `${functions[operation] ?? operation} ${operand}` : "records";
      const question = { entity: name, ...conditions(state), column: column.name, amount };
      const { groups, choices, note } = inIntervals(column, state)
        ? await intervals(index, question, state, column, go, signal) : await values(index, question, state, column, go, signal);
      node.replaceChildren(
        element("div", { class: "bar" }, [element("h2", {}, `${title} by ${column.name}`), ...choices, link(address({ group: "", amount: "", unit: "" }), "Show the records"),
          ...(groups.length ? [element("button", { type: "button", onclick: () => keep(csv(groups, column.name, amount && title), `${name} by ${column.name}.csv`) }, "Groups as CSV")] : [])]),
        ...(groups.length ? [
          bars(groups.map((group) => ({ label: group.label, value: amount ? group.amount : group.count })), `${title} by ${column.name}`, 800),
          table(groups, column.name, amount && title, (condition) => address({ condition, group: "", amount: "", unit: "" })),
        ] : [element("p", { role: "status" }, "No record has a value.")]),
        ...(note ? [element("p", { class: "dim" }, note)] : []),
      );
    }

    /** Whether the values of a column are put together: dates always are, numbers if that was chosen. */
    function inIntervals(column, state) {
      return column.type === "date" || (isNumeric(column) && state.unit === "interval");
    }

    async function intervals(index, question, state, column, go, signal) {
      const unit = column.type === "date" ? state.unit || undefined : undefined;
      const answer = await ask(`api/stores/${index}/histogram`, { ...question, unit }, signal);
      const groups = answer.intervals.map((interval) => ({
        ...interval, label: intervalLabel(interval, answer), condition: within(state.condition, column, interval.from, interval.to),
      }));
      return { groups, choices: column.type === "date" ? unitChoice(answer, (unit) => go({ unit })) : [numberChoice(state, go)] };
    }

    async function values(index, question, state, column, go, signal) {
      const answer = await ask(`api/stores/${index}/values`, { ...question, limit: mostGroups }, signal);
      const groups = answer.values.map((entry) => ({
        ...entry, label: entry.value === null ? "nil" : cellText(entry.value), condition: narrowed(state.condition, column, entry.value),
      }));
      const note = answer.hasMore ? `These are the ${number(mostGroups)} greatest groups.` : "";
      return { groups, note, choices: isNumeric(column) ? [numberChoice(state, go)] : [] };
    }

    function numberChoice(state, go) {
      const node = choice("How numbers are put together", [["", "each value"], ["interval", "in intervals"]], state.unit);
      node.addEventListener("change", () => go({ unit: node.value }));
      return node;
    }

    /** The groups that are shown, with their amounts unrounded. */
    function csv(groups, name, title) {
      const field = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
      const rows = groups.map((group) => [group.label, group.count, ...(title ? [cellText(group.amount)] : [])]);
      const lines = [[name, "records", ...(title ? [title] : [])], ...rows].map((row) => row.map((value) => field(String(value))).join(","));
      return new Blob([lines.join("\n"), "\n"], { type: "text/csv" });
    }

    function table(groups, name, title, address) {
      const heads = [element("th", { scope: "col" }, name), element("th", { scope: "col", class: "number" }, "records"), ...(title ? [element("th", { scope: "col", class: "number" }, title)] : [])];
      return element("table", { class: "groups" }, [
        element("thead", {}, [element("tr", {}, heads)]),
        element("tbody", {}, groups.map((group) => element("tr", {}, [
          element("th", { scope: "row" }, [link(address(group.condition), group.label || "(empty)")]),
          element("td", { class: "number" }, number(group.count)),
          ...(title ? [element("td", { class: "number" }, amountText(group.amount))] : []),
        ]))),
      ]);
    }

    """#####,
    "icon.svg": #####"""
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#a06b3b"/><circle cx="8" cy="8" r="4.5" fill="none" stroke="#e9cfae"/><circle cx="8" cy="8" r="2" fill="#5e3418"/></svg>

    """#####,
    "index.html": #####"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Heartwood</title>
    <link rel="icon" href="icon.svg">
    <link rel="stylesheet" href="browse.css">
    <script type="module" src="browse.js"></script>
    </head>
    <body>
    <header>
      <h1><a href="#/">Heartwood</a></h1>
      <nav id="trail" aria-label="Where you are"></nav>
      <p id="news" role="status" hidden>Others have changed the store. <button type="button">Show</button></p>
    </header>
    <main id="page" tabindex="-1" aria-live="polite"><noscript>This page needs JavaScript, all of which comes from this server.</noscript></main>
    <div id="edits" role="region" aria-label="Unsaved changes" hidden></div>
    </body>
    </html>

    """#####,
    "migration.js": #####"""
    // What a migration of a store to a newer model would do, as heartwood migrate --dry-run tells it. Nothing is migrated here.

    import { ask, element, number } from "./parts.js";

    export async function showMigration(page, index) {
      const answer = await ask(`api/stores/${index}/migration`);
      const title = element("h2", {}, "Migration");
      if (!answer.isNeeded) {
        page.replaceChildren(title, element("p", { role: "status" }, "The store has this version of the model already, so nothing would be done."));
        return;
      }
      page.replaceChildren(
        title,
        element("p", { role: "status", class: answer.isPossible ? undefined : "wrong" }, summary(answer)),
        table("Records", ["Before", "After", "What happens", "Records before", "Records after"], answer.entities.map(({ source, destination, type, sourceCount, destinationCount }) => [
          source ?? "–", destination ?? "–", types[type] ?? type, number(sourceCount), number(destinationCount),
        ]), 3),
        ...(answer.findings.length || answer.lostTransactionCount ? [table("What happens to values", ["What", "Is it possible?"], findings(answer))] : []),
        table("The model", ["What", "Change", "Detail", "Why it cannot be inferred"], answer.changes.map(({ path, kind, detail, obstacle }) => [path, kind, detail, obstacle ?? ""])),
      );
    }

    const types = { add: "new", remove: "removed", copy: "stays", transform: "transformed", custom: "by its own code" };

    function summary({ isPossible, steps, isDoneInStore, reasonNotInStore }) {
      const given = steps.filter((step) => !step.isInferred).length;
      const way = given === 0 ? "inferred" : `by ${number(given)} ${given === 1 ? "mapping model" : "mapping models"}`;
      const place = isDoneInStore ? ", by the store itself" : reasonNotInStore ? `, through memory: ${reasonNotInStore}` : "";
      const count = `${number(steps.length)} ${steps.length === 1 ? "step" : "steps"}, ${way}${place}`;
      return `${isPossible ? "The store can be migrated" : "The store cannot be migrated until what is marked below is resolved"}: ${count}. Nothing has been changed.`;
    }

    /** The options of heartwood migrate that resolve what is found. */
    const options = {
      removedRecords: "--allow-loss", removedValues: "--allow-loss", removedLinks: "--allow-loss",
      duplicates: "--duplicates", severalObjects: "--several", unfit: "--unfit",
    };

    function findings({ findings, lostTransactionCount }) {
      const lost = lostTransactionCount ? [[`history: ${number(lostTransactionCount)} ${lostTransactionCount === 1 ? "transaction" : "transactions"} left out`, "yes"]] : [];
      return [...findings.map((finding) => [finding.text, finding.isObstacle ? element("strong", { class: "wrong" }, options[finding.kind] ? `only with ${options[finding.kind]}` : "no") : "yes"]), ...lost];
    }

    /** - Parameter numbers: the first column of numbers. */
    function table(title, heads, rows, numbers = heads.length) {
      const kind = (place) => (place >= numbers ? "number" : undefined);
      return element("section", {}, [element("h3", {}, title), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, [element("table", {}, [
        element("thead", {}, [element("tr", {}, heads.map((head, place) => element("th", { scope: "col", class: kind(place) }, head)))]),
        element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell, place) => element("td", { class: kind(place) }, typeof cell === "string" ? cell : [cell]))))),
      ])])]);
    }

    """#####,
    "parts.js": #####"""
    // What all pages use. Values become text of the page, never markup.

    /** Asks the server; what it refuses is thrown, with the place in a predicate. */
    export async function ask(path, question, signal, fields = {}) {
      const headers = { ...credentials(), ...fields };
      if (question) headers["Content-Type"] = "application/json";
      const response = await fetch(path, { method: question ? "POST" : "GET", headers, signal, body: question && JSON.stringify(question) });
      const answer = await response.json().catch(() => ({ error: refusals[response.status] ?? `The server has answered with status ${response.status}.` }));
      if (!response.ok) throw Object.assign(new Error(answer.error), answer, { status: response.status });
      return answer;
    }

    /** What a server refuses before it has read the request, without a word. */
    const refusals = { 413: "The value is too long for a request: 1 MiB is the most." };

    /** The token, if there is one: in a server of somebody else the browser sends what that has asked for. */
    function credentials() {
      const token = sessionStorage.getItem("token");
      return token ? { Authorization: `Bearer ${token}` } : {};
    }

    /** The bytes of a whole value, or of the answer to a question. */
    export async function askBlob(path, question) {
      const headers = credentials();
      if (question) headers["Content-Type"] = "application/json";
      const response = await fetch(path, { method: question ? "POST" : "GET", headers, body: question && JSON.stringify(question) });
      if (!response.ok) throw new Error((await response.json()).error);
      try {
        return await response.blob();
      } catch {
        throw new Error("The answer has ended before it was complete: the server was stopped, or could not read a record. Nothing was kept.");
      }
    }

    export function text(string) {
      return document.createTextNode(string);
    }

    /** An element with attributes, and with text or nodes in it. */
    export function element(name, attributes = {}, content = []) {
      const node = document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
        else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
      }
      if (Array.isArray(content)) node.append(...content);
      else node.textContent = content;
      return node;
    }

    export function link(address, label) {
      return element("a", { href: address }, label);
    }

    /** Lets the user keep bytes as a file. */
    export function keep(blob, name) {
      const address = URL.createObjectURL(blob);
      element("a", { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    }

    export function number(value) {
      return value.toLocaleString("en");
    }

    /** The text of what was computed: a number without all digits of a long fraction. */
    export function amountText(value) {
      const isLong = typeof value === "string" && /^-?\d+\.\d{7,}$/.test(value);
      if (typeof value !== "number" && !isLong) return cellText(value);
      const shown = Number(value);
      return shown !== 0 && Math.abs(shown) < 1e-4 ? String(shown) : shown.toLocaleString("en", { maximumFractionDigits: 6 });
    }

    /** The text of a value in a cell. */
    export function cellText(value) {
      if (value === null || value === undefined) return "";
      if (typeof value !== "object") return String(value);
      if (Array.isArray(value)) return value.map(cellText).join(", ");
      if ("label" in value) return value.label;
      if ("bytes" in value) return `${number(value.bytes)} bytes`;
      return `${value.text}…`;
    }

    /** A value as a record shows it: links to follow, pictures, text that is folded where it is long, JSON with its structure. */
    export function valueNode(value, index, address) {
      if (value === null) return element("span", { class: "dim" }, "nil");
      if (typeof value === "string") return textNode(value);
      if (typeof value !== "object") return text(String(value));
      if ("uri" in value) return link(`#/${index}/record?uri=${encodeURIComponent(value.uri)}`, value.label);
      if ("bytes" in value) return bytesNode(value, address);
      return element("div", {}, [element("pre", {}, `${value.text}…`), loadButton(`Show all ${number(value.length)} characters`, address)]);
    }

    function textNode(value) {
      if (/^(https?|mailto):\S+$/i.test(value)) return element("a", { href: value, rel: "noreferrer noopener", target: "_blank" }, value);
      const pretty = prettyJSON(value);
      if (pretty ?? value.length > 600) {
        return element("details", { open: (pretty ?? value).length <= 2000 }, [
          element("summary", {}, pretty ? "JSON" : `${number(value.length)} characters`), element("pre", {}, pretty ?? value),
        ]);
      }
      return element("pre", {}, value);
    }

    function prettyJSON(value) {
      if (!/^\s*[[{]/.test(value)) return null;
      try { return JSON.stringify(JSON.parse(value), null, 2); } catch { return null; }
    }

    function bytesNode(value, address) {
      const node = element("div", {}, [element("div", {}, `${number(value.bytes)} bytes${value.picture ? `, ${value.picture}` : ""}`)]);
      if (value.picture) {
        askBlob(address).then(
          (blob) => node.append(element("img", { src: URL.createObjectURL(blob), alt: `A picture of ${number(value.bytes)} bytes` })),
          (error) => node.append(element("div", { class: "wrong" }, error.message)),
        );
      } else if (value.bytes > 0) {
        node.append(loadButton("Show", address));
      }
      return node;
    }

    /** A button that gives way to the whole value: as text, or as bytes in hexadecimal where it is none. */
    function loadButton(label, address) {
      const button = element("button", { type: "button", onclick: async () => {
        try {
          const blob = await askBlob(address);
          button.replaceWith(element("pre", {}, blob.type.startsWith("text/") ? await blob.text() : await dump(blob)));
        } catch (error) {
          button.replaceWith(element("span", { class: "wrong" }, error.message));
        }
      } }, label);
      return button;
    }

    const dumpLimit = 65536;

    async function dump(blob) {
      const bytes = new Uint8Array(await blob.slice(0, dumpLimit).arrayBuffer());
      let string = null;
      try { string = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { /* It is no text. */ }
      if (string !== null && !/[\0-\x08\x0E-\x1F]/.test(string)) return prettyJSON(string) ?? string;
      const lines = [];
      for (let place = 0; place < bytes.length; place += 16) {
        const part = [...bytes.subarray(place, place + 16)];
        const digits = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
        const letters = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
        lines.push(`${place.toString(16).padStart(8, "0")}  ${digits.padEnd(47)}  ${letters}`);
      }
      return lines.join("\n") + (blob.size > dumpLimit ? "\n…" : "");
    }

    """#####,
    "record.js": #####"""
    // The page of a record: its values, and the fields that change them.

    import { ask, element, link, number, text, valueNode } from "./parts.js";
    import { change, chosenRecord, confirmed, recordLink } from "./edits.js";
    import { editor } from "./fields.js";

    export async function showRecord(page, store, index, uri) {
      const record = await ask(`api/stores/${index}/record?uri=${encodeURIComponent(uri)}`);
      const entity = store.entities.find((entity) => entity.name === record.entity);
      const place = { store, index, uri: record.uri };
      const heading = element("h2", {}, record.label);
      if (record.change === "deleted") {
        page.replaceChildren(heading, element("p", { class: "note" }, [
          text("This record is deleted, which is not saved yet. Undo brings it back. "), link(`#/${index}/changes`, "All unsaved changes"),
        ]));
        return record;
      }
      const rows = record.values.map((value) => row(value, entity.properties.find((property) => property.name === value.name), place, heading));
      const incoming = record.incoming.map((value) => element("tr", {}, [
        element("th", { scope: "row" }, `${value.entity}.${value.relationship}`), element("td", {}, [linkList(value, index)]),
      ]));
      const wrong = element("p", { class: "wrong", role: "alert" });
      page.replaceChildren(
        heading,
        element("p", { class: "dim" }, record.change === "inserted" ? "new, not saved" : record.uri),
        ...(store.editing ? [element("div", { class: "bar" }, [element("button", { type: "button", onclick: () => remove(record, place, wrong) }, "Delete…")]), wrong] : []),
        element("table", { class: "values" }, [element("tbody", {}, rows)]),
        ...(incoming.length ? [element("h2", {}, "Leads here"), element("table", {}, [element("tbody", {}, incoming)])] : []),
      );
      return record;
    }

    /** A row with a value. In a store that can be changed, it has a field; after a change the row is made anew. */
    function row(value, property, place, heading) {
      const changed = (answer) => {
        heading.textContent = answer.label;
        mark(node, answer.property);
        return answer.property;
      };
      const isFixed = !place.store.editing || value.error || property.isDerived || property.type === "undefined";
      let content;
      if (isFixed) content = [fixedValue(value, place.index, place.uri)];
      else if (property.type) content = editor(value, property, place, changed);
      else content = [links(value, property, place, changed)];
      const label = isFixed || !property.type ? text(value.name) : element("label", { for: `value-${value.name}` }, value.name);
      const node = element("tr", {}, [element("th", { scope: "row" }, [label]), element("td", {}, content)]);
      mark(node, value);
      return node;
    }

    function mark(node, value) {
      node.firstChild.classList.toggle("unsaved", Boolean(value.isChanged));
      node.firstChild.title = value.isChanged ? "changed, not saved" : "";
    }

    function fixedValue(value, index, uri) {
      if (value.error) return element("span", { class: "wrong" }, value.error);
      if (value.links) return linkList(value, index);
      const address = `api/stores/${index}/value?name=${encodeURIComponent(value.name)}&uri=${encodeURIComponent(uri)}`;
      return valueNode(value.value, index, address);
    }

    function linkList(value, index) {
      if (!value.count) return element("span", { class: "dim" }, "none");
      const links = value.links.flatMap((item, place) => [...(place ? [text(", ")] : []), valueNode(item, index)]);
      const more = value.count - value.links.length;
      return element("span", {}, more > 0 ? [...links, text(` and ${number(more)} more`)] : links);
    }

    // MARK: Relationships

    /** The destinations of a relationship with buttons that add, remove and, in an ordered one, move them. */
    function links(value, property, place, changed) {
      const node = element("div", { role: "group", "aria-label": value.name });
      const send = async (name, other, position) => {
        try {
          draw(changed(await change(place.store, place.index, name, { uri: place.uri, name: value.name, other: other.uri, place: position })));
        } catch (error) {
          node.append(element("p", { class: "wrong", role: "alert" }, error.message));
        }
      };
      const choose = async () => {
        const other = await chosenRecord(place.index, property.destination, `${value.name}: choose a record of ${property.destination}`);
        if (other) await send("relate", other);
        node.querySelector("button.choose")?.focus();
      };
      const item = (record, position, count) => element("li", {}, [
        recordLink(place.index, record),
        ...(property.isOrdered && position > 0 ? [button("↑", `Move ${record.label} up`, () => send("relate", record, position - 1))] : []),
        ...(property.isOrdered && position < count - 1 ? [button("↓", `Move ${record.label} down`, () => send("relate", record, position + 1))] : []),
        button("Remove", `Remove ${record.label} from ${value.name}`, () => send("unrelate", record)),
      ]);
      const draw = (value) => {
        const records = value.links ?? (value.value ? [value.value] : []);
        const more = (value.count ?? records.length) - records.length;
        node.replaceChildren(
          ...(records.length ? [element("ul", { class: "links" }, records.map((record, position) => item(record, position, records.length)))] : [element("span", { class: "dim" }, "none ")]),
          ...(more > 0 ? [element("p", { class: "dim" }, `and ${number(more)} more`)] : []),
          button(property.isToMany ? "Add…" : "Choose…", `${property.isToMany ? "Add to" : "Choose"} ${value.name}`, choose, "choose"),
          element("p", { class: "rule dim" }, rules(property)),
          element("p", { class: "rule wrong", role: "alert" }, (value.faults ?? []).join(" ")),
        );
      };
      draw(value);
      return node;
    }

    function rules(property) {
      const bounds = property.isToMany && (property.minCount || property.maxCount) ? `${property.minCount} to ${property.maxCount || "any number"}` : "";
      return [property.isOptional ? "" : "required", property.isOrdered ? "ordered" : "", bounds].filter(Boolean).join(", ");
    }

    function button(label, description, onclick, kind) {
      return element("button", { type: "button", class: kind, "aria-label": description === label ? undefined : description, title: description, onclick }, label);
    }

    // MARK: Deleting

    /** Deletes a record after the person has seen what the delete rules do with others. */
    async function remove(record, place, wrong) {
      try {
        const question = { uri: place.uri };
        const deletion = await change(place.store, place.index, "deletion", question);
        if (await confirmed(`Delete ${deletion.label}?`, consequences(deletion), "Delete")) {
          await change(place.store, place.index, "delete", question);
          location.hash = `#/${place.index}/entity/${encodeURIComponent(record.entity)}`;
        }
      } catch (error) {
        wrong.textContent = error.message;
      }
    }

    function consequences(deletion) {
      const more = deletion.count - deletion.cascade.length;
      const names = deletion.cascade.map((item) => element("li", {}, `${item.entity} ${item.label}`));
      const dangling = deletion.incoming.map((item) => `${number(item.count)} of ${item.entity}.${item.relationship}`);
      return [
        ...(deletion.denials.length ? [element("p", { class: "wrong" }, `The model denies the deletion while ${deletion.denials.join(" and ")} has records: it cannot be saved.`)] : []),
        ...(deletion.count ? [
          element("p", {}, `${number(deletion.count)} more ${deletion.count === 1 ? "record is" : "records are"} deleted with it:`),
          element("ul", { class: "cascade" }, more > 0 ? [...names, element("li", {}, `and ${number(more)} more`)] : names),
        ] : [element("p", {}, "No other record is deleted with it.")]),
        ...(deletion.unlinkedCount ? [element("p", {}, `${number(deletion.unlinkedCount)} other ${deletion.unlinkedCount === 1 ? "record loses its" : "records lose their"} relationship to what is deleted.`)] : []),
        ...(dangling.length ? [element("p", { class: "wrong" }, `Without an inverse, these still refer to it afterwards: ${dangling.join(", ")}.`)] : []),
        element("p", { class: "dim" }, "Nothing is written before Save, and Undo brings it back."),
      ];
    }

    """#####,
  ]
}
