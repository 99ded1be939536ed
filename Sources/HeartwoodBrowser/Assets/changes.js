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
