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
