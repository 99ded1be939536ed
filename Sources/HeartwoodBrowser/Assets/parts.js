// What all pages use. Values become text of the page, never markup.

/** Asks the server; what it refuses is thrown, with the place in a predicate. */
export async function ask(path, question, signal, fields = {}) {
  const headers = { ...credentials(), ...fields };
  if (question) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method: question ? "POST" : "GET", headers, signal, body: question && JSON.stringify(question) });
  const answer = await response.json().catch(() => ({ error: refusals[response.status] ?? `The server has answered with status ${response.status}.` }));
  if (!response.ok) throw Object.assign(new Error(answer.error), answer, { status: response.status });
  return answer;
}

/** What a server refuses before it has read the request, without a word. */
const refusals = { 413: "The value is too long for a request: 1 MiB is the most." };

/** The token, if there is one: in a server of somebody else the browser sends what that has asked for. */
function credentials() {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** The bytes of a whole value, or of the answer to a question. */
export async function askBlob(path, question) {
  const headers = credentials();
  if (question) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method: question ? "POST" : "GET", headers, body: question && JSON.stringify(question) });
  if (!response.ok) throw new Error((await response.json()).error);
  try {
    return await response.blob();
  } catch {
    throw new Error("The answer has ended before it was complete: the server was stopped, or could not read a record. Nothing was kept.");
  }
}

export function text(string) {
  return document.createTextNode(string);
}

/** An element with attributes, and with text or nodes in it. */
export function element(name, attributes = {}, content = []) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  if (Array.isArray(content)) node.append(...content);
  else node.textContent = content;
  return node;
}

export function link(address, label) {
  return element("a", { href: address }, label);
}

/** Lets the user keep bytes as a file. */
export function keep(blob, name) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export function number(value) {
  return value.toLocaleString("en");
}

/** The text of what was computed: a number without all digits of a long fraction. */
export function amountText(value) {
  const isLong = typeof value === "string" && /^-?\d+\.\d{7,}$/.test(value);
  if (typeof value !== "number" && !isLong) return cellText(value);
  const shown = Number(value);
  return shown !== 0 && Math.abs(shown) < 1e-4 ? String(shown) : shown.toLocaleString("en", { maximumFractionDigits: 6 });
}

/** The text of a value in a cell. */
export function cellText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map(cellText).join(", ");
  if ("label" in value) return value.label;
  if ("bytes" in value) return `${number(value.bytes)} bytes`;
  return `${value.text}…`;
}

/** A value as a record shows it: links to follow, pictures, text that is folded where it is long, JSON with its structure. */
export function valueNode(value, index, address) {
  if (value === null) return element("span", { class: "dim" }, "nil");
  if (typeof value === "string") return textNode(value);
  if (typeof value !== "object") return text(String(value));
  if ("uri" in value) return link(`#/${index}/record?uri=${encodeURIComponent(value.uri)}`, value.label);
  if ("bytes" in value) return bytesNode(value, address);
  return element("div", {}, [element("pre", {}, `${value.text}…`), loadButton(`Show all ${number(value.length)} characters`, address)]);
}

function textNode(value) {
  if (/^(https?|mailto):\S+$/i.test(value)) return element("a", { href: value, rel: "noreferrer noopener", target: "_blank" }, value);
  const pretty = prettyJSON(value);
  if (pretty ?? value.length > 600) {
    return element("details", { open: (pretty ?? value).length <= 2000 }, [
      element("summary", {}, pretty ? "JSON" : `${number(value.length)} characters`), element("pre", {}, pretty ?? value),
    ]);
  }
  return element("pre", {}, value);
}

function prettyJSON(value) {
  if (!/^\s*[[{]/.test(value)) return null;
  try { return JSON.stringify(JSON.parse(value), null, 2); } catch { return null; }
}

function bytesNode(value, address) {
  const node = element("div", {}, [element("div", {}, `${number(value.bytes)} bytes${value.picture ? `, ${value.picture}` : ""}`)]);
  if (value.picture) {
    askBlob(address).then(
      (blob) => node.append(element("img", { src: URL.createObjectURL(blob), alt: `A picture of ${number(value.bytes)} bytes` })),
      (error) => node.append(element("div", { class: "wrong" }, error.message)),
    );
  } else if (value.bytes > 0) {
    node.append(loadButton("Show", address));
  }
  return node;
}

/** A button that gives way to the whole value: as text, or as bytes in hexadecimal where it is none. */
function loadButton(label, address) {
  const button = element("button", { type: "button", onclick: async () => {
    try {
      const blob = await askBlob(address);
      button.replaceWith(element("pre", {}, blob.type.startsWith("text/") ? await blob.text() : await dump(blob)));
    } catch (error) {
      button.replaceWith(element("span", { class: "wrong" }, error.message));
    }
  } }, label);
  return button;
}

const dumpLimit = 65536;

async function dump(blob) {
  const bytes = new Uint8Array(await blob.slice(0, dumpLimit).arrayBuffer());
  let string = null;
  try { string = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { /* It is no text. */ }
  if (string !== null && !/[\0-\x08\x0E-\x1F]/.test(string)) return prettyJSON(string) ?? string;
  const lines = [];
  for (let place = 0; place < bytes.length; place += 16) {
    const part = [...bytes.subarray(place, place + 16)];
    const digits = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${place.toString(16).padStart(8, "0")}  ${digits.padEnd(47)}  ${letters}`);
  }
  return lines.join("\n") + (blob.size > dumpLimit ? "\n…" : "");
}
