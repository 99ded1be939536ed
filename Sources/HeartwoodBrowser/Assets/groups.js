// Groups of the records that meet the condition, with their number and a sum or another amount: as bars, and as a table whose rows lead to the records.

import { amountText, ask, element, keep, link, cellText, number } from "./parts.js";
import { bars, intervalLabel, unitChoice } from "./chart.js";
import { conditions, isNumeric, narrowed, within } from "./conditions.js";

const functions = { sum: "sum of", average: "average of", min: "least", max: "greatest" };
const mostGroups = 200;

/** The fields for a group: its column, and what is computed for it. */
export function groupForm({ state, columns, go }) {
  const numeric = columns.filter(isNumeric);
  const [chosenFunction, chosenColumn] = (state.amount || "count").split(":");
  const by = choice("Group by", [["", "Group by…"], ...columns.filter(isGroupable).map(({ name }) => [name, name])], state.group);
  const amount = choice("What is computed for each group", [["count", "number of records"], ...(numeric.length ? Object.entries(functions) : [])], chosenFunction);
  const of = choice("Column of the amount", numeric.map(({ name }) => [name, name]), chosenColumn ?? numeric[0]?.name ?? "");
  const update = () => { of.hidden = amount.value === "count"; };
  amount.addEventListener("change", update);
  update();
  return element("form", { class: "bar", onsubmit: (event) => {
    event.preventDefault();
    go({ group: by.value, amount: by.value && amount.value !== "count" ? `${amount.value}:${of.value}` : "", unit: "" });
  } }, [by, amount, of, element("button", {}, "Group")]);
}

function choice(label, options, chosen) {
  const node = element("select", { "aria-label": label }, options.map(([value, text]) => element("option", { value }, text)));
  node.value = chosen;
  return node;
}

function isGroupable(column) {
  return column.type !== "binary" && column.type !== "transformable";
}

/** Shows the groups of the address. */
export async function showGroups(node, { index, name, state, columns, address, go, signal }) {
  const column = columns.find((column) => column.name === state.group);
  if (!column) throw new Error(`${name} has no column called ${state.group}.`);
  const [operation, operand] = state.amount.split(":");
  const amount = operation ? { function: operation, column: operand } : undefined;
  const title = amount ? `${functions[operation] ?? operation} ${operand}` : "records";
  const question = { entity: name, ...conditions(state), column: column.name, amount };
  const { groups, choices, note } = inIntervals(column, state)
    ? await intervals(index, question, state, column, go, signal) : await values(index, question, state, column, go, signal);
  node.replaceChildren(
    element("div", { class: "bar" }, [element("h2", {}, `${title} by ${column.name}`), ...choices, link(address({ group: "", amount: "", unit: "" }), "Show the records"),
      ...(groups.length ? [element("button", { type: "button", onclick: () => keep(csv(groups, column.name, amount && title), `${name} by ${column.name}.csv`) }, "Groups as CSV")] : [])]),
    ...(groups.length ? [
      bars(groups.map((group) => ({ label: group.label, value: amount ? group.amount : group.count })), `${title} by ${column.name}`, 800),
      table(groups, column.name, amount && title, (condition) => address({ condition, group: "", amount: "", unit: "" })),
    ] : [element("p", { role: "status" }, "No record has a value.")]),
    ...(note ? [element("p", { class: "dim" }, note)] : []),
  );
}

/** Whether the values of a column are put together: dates always are, numbers if that was chosen. */
function inIntervals(column, state) {
  return column.type === "date" || (isNumeric(column) && state.unit === "interval");
}

async function intervals(index, question, state, column, go, signal) {
  const unit = column.type === "date" ? state.unit || undefined : undefined;
  const answer = await ask(`api/stores/${index}/histogram`, { ...question, unit }, signal);
  const groups = answer.intervals.map((interval) => ({
    ...interval, label: intervalLabel(interval, answer), condition: within(state.condition, column, interval.from, interval.to),
  }));
  return { groups, choices: column.type === "date" ? unitChoice(answer, (unit) => go({ unit })) : [numberChoice(state, go)] };
}

async function values(index, question, state, column, go, signal) {
  const answer = await ask(`api/stores/${index}/values`, { ...question, limit: mostGroups }, signal);
  const groups = answer.values.map((entry) => ({
    ...entry, label: entry.value === null ? "nil" : cellText(entry.value), condition: narrowed(state.condition, column, entry.value),
  }));
  const note = answer.hasMore ? `These are the ${number(mostGroups)} greatest groups.` : "";
  return { groups, note, choices: isNumeric(column) ? [numberChoice(state, go)] : [] };
}

function numberChoice(state, go) {
  const node = choice("How numbers are put together", [["", "each value"], ["interval", "in intervals"]], state.unit);
  node.addEventListener("change", () => go({ unit: node.value }));
  return node;
}

/** The groups that are shown, with their amounts unrounded. */
function csv(groups, name, title) {
  const field = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const rows = groups.map((group) => [group.label, group.count, ...(title ? [cellText(group.amount)] : [])]);
  const lines = [[name, "records", ...(title ? [title] : [])], ...rows].map((row) => row.map((value) => field(String(value))).join(","));
  return new Blob([lines.join("\n"), "\n"], { type: "text/csv" });
}

function table(groups, name, title, address) {
  const heads = [element("th", { scope: "col" }, name), element("th", { scope: "col", class: "number" }, "records"), ...(title ? [element("th", { scope: "col", class: "number" }, title)] : [])];
  return element("table", { class: "groups" }, [
    element("thead", {}, [element("tr", {}, heads)]),
    element("tbody", {}, groups.map((group) => element("tr", {}, [
      element("th", { scope: "row" }, [link(address(group.condition), group.label || "(empty)")]),
      element("td", { class: "number" }, number(group.count)),
      ...(title ? [element("td", { class: "number" }, amountText(group.amount))] : []),
    ]))),
  ]);
}
