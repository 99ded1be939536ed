// Charts of groups of records: bars, and the distribution of a column of numbers or dates.

import { amountText, ask, element, number } from "./parts.js";

const space = "http://www.w3.org/2000/svg";
const room = 94;
const axis = 16;
const widestBar = 100;
// Narrower labels could not be read.
const narrowestLabel = 45;
const letterWidth = 6.5;

/**
 * Shows the distribution of a column in a node: bars, and a list of the same intervals.
 *
 * - Parameter question: what the records have to meet.
 * - Parameter narrow: takes the lower and the upper bound of the interval that was chosen; the last has no upper one.
 */
export async function showChart(node, index, question, column, signal, narrow) {
  const answer = await ask(`api/stores/${index}/histogram`, question, signal);
  if (!answer.intervals.length) return node.replaceChildren();
  const choice = unitChoice(answer, (unit) => {
    showChart(node, index, { ...question, unit }, column, signal, narrow).then(
      () => node.querySelector("select")?.focus(),
      (error) => node.append(element("p", { class: "wrong", role: "alert" }, error.message)),
    );
  });
  node.replaceChildren(
    ...choice, bars(answer.intervals.map(({ label, count }) => ({ label, value: count })), `Records by ${column.name}`),
    element("details", {}, [element("summary", {}, "The intervals"), element("ol", {}, answer.intervals.map((interval) => (
      element("li", {}, [element("button", { type: "button", onclick: () => narrow(interval.from, interval.to) }, [
        element("span", {}, intervalLabel(interval, answer)), element("span", { class: "dim" }, number(interval.count)),
      ])])
    )))]),
  );
}

/** A choice of the unit of time, for a column of dates. */
export function unitChoice(answer, choose) {
  if (!answer.unit) return [];
  const options = answer.units.map((name) => element("option", { value: name, selected: name === answer.unit }, `by ${name}`));
  return [element("select", { "aria-label": "Length of the intervals", onchange: (event) => choose(event.target.value) }, options)];
}

/** An interval of dates has its name; one of numbers has its bounds. */
export function intervalLabel(interval, answer) {
  if (answer.unit) return interval.label;
  return interval.to === null ? `${interval.label} and more` : `${interval.label} to ${interval.to}`;
}

/**
 * A picture of values, which may be below zero, with its contents in words.
 *
 * - Parameter groups: their labels and values.
 */
export function bars(groups, name, width = 260) {
  const values = groups.map((group) => Number(group.value ?? 0));
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const scale = (room - 2) / (most - least || 1);
  const zero = room + least * scale;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${room + axis}`, role: "img", class: "chart", "aria-label": described(groups, values, name) });
  const step = Math.min(widestBar, width / groups.length);
  groups.forEach((group, place) => {
    // Few records are seen, too.
    const height = values[place] ? Math.max(1, Math.abs(values[place]) * scale) : 0;
    const y = values[place] < 0 ? zero : zero - height;
    const bar = shape("rect", { x: place * step, y, width: Math.max(0.5, step - Math.min(1.5, step / 4)), height });
    bar.append(shape("title", {}, `${group.label}: ${amountText(values[place])}`));
    svg.append(bar);
  });
  svg.append(shape("line", { x1: 0, y1: zero, x2: width, y2: zero }), ...labels(groups, step));
  return svg;
}

/** The labels of all groups if there is room, or else of the first and the last. */
function labels(groups, step) {
  const y = room + axis - 3;
  const end = groups.length * step;
  if (step >= narrowestLabel) return groups.map(({ label }, place) => shape("text", { x: place * step, y }, shortened(label, step)));
  return [groups[0], groups.at(-1)].map(({ label }, place) => shape("text", { x: place * end, y, "text-anchor": place ? "end" : "start" }, shortened(label, end / 2)));
}

function shortened(label, width) {
  const most = Math.floor(width / letterWidth);
  return label.length > most ? `${label.slice(0, Math.max(1, most - 1))}…` : label;
}

function described(groups, values, name) {
  const most = Math.max(...values);
  const peak = groups[values.indexOf(most)];
  const span = groups.length > 1 ? `${number(groups.length)} bars from ${groups[0].label} to ${groups.at(-1).label}` : `1 bar, ${groups[0].label}`;
  return `${name}: ${span}. The greatest is ${amountText(most)}, at ${peak.label}.`;
}

function shape(name, attributes, content) {
  const node = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (content !== undefined) node.textContent = content;
  return node;
}
