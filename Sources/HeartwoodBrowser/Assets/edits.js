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

