// The pages, by the fragment of the address: #/ (stores), #/0/model, #/0/entity/NAME?where=…&sort=…, #/0/record?uri=…

import { ask, element, text, link, valueNode, number } from "./parts.js";
import { showEntity } from "./grid.js";
import { showModel } from "./diagram.js";

const page = document.getElementById("page");
const trail = document.getElementById("trail");
let stores = null;

/** The stores, asked for once; the first page asks anew, since counts change. */
async function loadStores(anew) {
  if (!stores || anew) stores = await ask("api/stores");
  return stores;
}

function setTrail(...links) {
  trail.replaceChildren(...links);
}

async function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const options = new URLSearchParams(query ?? "");
  page.setAttribute("aria-busy", "true");
  try {
    const all = await loadStores(parts.length === 0);
    if (parts.length === 0) return showStores(all);
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
    } else if (parts[1] === "record") {
      await showRecord(store, index, options.get("uri"), storeLink);
    } else {
      throw new Error("There is no such page.");
    }
  } catch (error) {
    page.replaceChildren(element("p", { class: "wrong", role: "alert" }, error.message));
  } finally {
    page.removeAttribute("aria-busy");
  }
}

// MARK: Stores

function showStores(all) {
  setTrail();
  document.title = "Heartwood";
  page.replaceChildren(...all.map((store, index) => element("section", {}, [
    element("h2", {}, [link(`#/${index}/model`, store.title)]),
    ...store.stores.map(storeFacts),
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

// MARK: A record

async function showRecord(store, index, uri, storeLink) {
  const record = await ask(`api/stores/${index}/record?uri=${encodeURIComponent(uri)}`);
  setTrail(storeLink, link(`#/${index}/entity/${encodeURIComponent(record.entity)}`, record.entity));
  document.title = `${record.label} – ${record.entity} – Heartwood`;
  const rows = record.values.map((value) => element("tr", {}, [
    element("th", { scope: "row" }, value.name), element("td", {}, [recordValue(value, index, record.uri)]),
  ]));
  const incoming = record.incoming.map((value) => element("tr", {}, [
    element("th", { scope: "row" }, `${value.entity}.${value.relationship}`), element("td", {}, [linkList(value, index)]),
  ]));
  page.replaceChildren(
    element("h2", {}, record.label),
    element("p", { class: "dim" }, record.uri),
    element("table", {}, [element("tbody", {}, rows)]),
    ...(incoming.length ? [element("h2", {}, "Leads here"), element("table", {}, [element("tbody", {}, incoming)])] : []),
  );
}

function recordValue(value, index, uri) {
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

// MARK: Start

/** The token comes in the fragment, which is sent to nobody, and is then kept for this tab alone. */
function takeToken() {
  const token = /^#t=([\w-]+)$/.exec(location.hash)?.[1];
  if (!token) return;
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", "#/");
}

takeToken();
addEventListener("hashchange", () => { takeToken(); route().then(() => page.focus({ preventScroll: true })); });
route();
