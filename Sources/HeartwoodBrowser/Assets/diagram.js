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
