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
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell))))),
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

/** A choice for each record that others have changed too; the save is tried again when all are made. */
function conflicts(refusal, index) {
  const fields = refusal.conflicts.map((conflict, place) => conflictField(conflict, place, index));
  const wrong = element("p", { class: "wrong", role: "alert" });
  const chooseAll = (choice) => {
    for (const field of fields) (field.querySelector(`input[value=${choice}]`) ?? field.querySelector("input")).checked = true;
  };
  return element("form", { class: "conflicts", onsubmit: (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const choices = {};
    refusal.conflicts.forEach((conflict, place) => { choices[conflict.record.uri] = form.get(`choice-${place}`); });
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

function conflictField(conflict, place, index) {
  const { record, values, isDeletedHere, isDeletedInStore } = conflict;
  const side = (value, isDeleted) => (isDeleted ? "deleted" : shown(value));
  const option = (value, label) => element("label", {}, [element("input", { type: "radio", name: `choice-${place}`, value }), text(` ${label}`)]);
  const mine = isDeletedHere ? "Mine: delete the record" : "Mine: save my changes on top of theirs";
  const theirs = isDeletedInStore ? "Theirs: the record is deleted, and my changes are dropped" : "Theirs: keep the record as it is stored, and drop my changes";
  return element("fieldset", {}, [
    element("legend", {}, [text(`${record.entity} `), isDeletedHere ? text(record.label) : recordLink(index, record)]),
    table(["Property", "At the start", "Here", "In the store"], values.map((value) => [
      value.name, shown(value.start), side(value.here, isDeletedHere), side(value.stored, isDeletedInStore),
    ])),
    element("div", { class: "bar" }, [...(isDeletedInStore ? [] : [option("mine", mine)]), option("theirs", theirs)]),
  ]);
}
