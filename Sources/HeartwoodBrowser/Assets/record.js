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
