// Conditions that narrow what is shown to a value or an interval of a column, in the language of predicates.

/** What records have to meet, as the server is asked for it. */
export function conditions(state) {
  return { condition: state.condition || undefined, text: state.text || undefined };
}

/** The condition with a value of a column. */
export function narrowed(condition, column, value) {
  // Only the beginning of a long text is known here.
  const operator = value?.text === undefined ? "==" : "BEGINSWITH";
  return joined(condition, `${column.name} ${operator} ${literal(column, value)}`);
}

/** The condition with the bounds of an interval, which need not have an upper one. */
export function within(condition, column, from, to) {
  return joined(condition, [`${column.name} >= ${literal(column, from)}`, ...(to === null ? [] : [`${column.name} < ${literal(column, to)}`])].join(" AND "));
}

function joined(condition, term) {
  return condition ? `(${condition}) AND ${term}` : term;
}

function literal(column, value) {
  if (value === null) return "nil";
  if (typeof value === "boolean") return value ? "YES" : "NO";
  if (isNumeric(column)) return String(value);
  if (column.destination) return `CAST(${JSON.stringify(value.uri)}, "NSManagedObjectID")`;
  if (column.type === "date") return `CAST(${(Date.parse(value) - Date.UTC(2001, 0, 1)) / 1000}, "NSDate")`;
  return JSON.stringify(String(value.text ?? value));
}

export function isNumeric(column) {
  return ["integer16", "integer32", "integer64", "decimal", "double", "float"].includes(column.type);
}
