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
