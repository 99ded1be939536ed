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
