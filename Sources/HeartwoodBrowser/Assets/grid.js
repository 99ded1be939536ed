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
