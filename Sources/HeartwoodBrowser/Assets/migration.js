// What a migration of a store to a newer model would do, as heartwood migrate --dry-run tells it. Nothing is migrated here.

import { ask, element, number } from "./parts.js";

export async function showMigration(page, index) {
  const answer = await ask(`api/stores/${index}/migration`);
  const title = element("h2", {}, "Migration");
  if (!answer.isNeeded) {
    page.replaceChildren(title, element("p", { role: "status" }, "The store has this version of the model already, so nothing would be done."));
    return;
  }
  page.replaceChildren(
    title,
    element("p", { role: "status", class: answer.isPossible ? undefined : "wrong" }, summary(answer)),
    table("Records", ["Before", "After", "What happens", "Records before", "Records after"], answer.entities.map(({ source, destination, type, sourceCount, destinationCount }) => [
      source ?? "–", destination ?? "–", types[type] ?? type, number(sourceCount), number(destinationCount),
    ]), 3),
    ...(answer.findings.length || answer.lostTransactionCount ? [table("What happens to values", ["What", "Is it possible?"], findings(answer))] : []),
    table("The model", ["What", "Change", "Detail", "Why it cannot be inferred"], answer.changes.map(({ path, kind, detail, obstacle }) => [path, kind, detail, obstacle ?? ""])),
  );
}

const types = { add: "new", remove: "removed", copy: "stays", transform: "transformed", custom: "by its own code" };

function summary({ isPossible, steps, isDoneInStore, reasonNotInStore }) {
  const given = steps.filter((step) => !step.isInferred).length;
  const way = given === 0 ? "inferred" : `by ${number(given)} ${given === 1 ? "mapping model" : "mapping models"}`;
  const place = isDoneInStore ? ", by the store itself" : reasonNotInStore ? `, through memory: ${reasonNotInStore}` : "";
  const count = `${number(steps.length)} ${steps.length === 1 ? "step" : "steps"}, ${way}${place}`;
  return `${isPossible ? "The store can be migrated" : "The store cannot be migrated until what is marked below is resolved"}: ${count}. Nothing has been changed.`;
}

/** The options of heartwood migrate that resolve what is found. */
const options = {
  removedRecords: "--allow-loss", removedValues: "--allow-loss", removedLinks: "--allow-loss",
  duplicates: "--duplicates", severalObjects: "--several", unfit: "--unfit",
};

function findings({ findings, lostTransactionCount }) {
  const lost = lostTransactionCount ? [[`history: ${number(lostTransactionCount)} ${lostTransactionCount === 1 ? "transaction" : "transactions"} left out`, "yes"]] : [];
  return [...findings.map((finding) => [finding.text, finding.isObstacle ? element("strong", { class: "wrong" }, options[finding.kind] ? `only with ${options[finding.kind]}` : "no") : "yes"]), ...lost];
}

/** - Parameter numbers: the first column of numbers. */
function table(title, heads, rows, numbers = heads.length) {
  const kind = (place) => (place >= numbers ? "number" : undefined);
  return element("section", {}, [element("h3", {}, title), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, [element("table", {}, [
    element("thead", {}, [element("tr", {}, heads.map((head, place) => element("th", { scope: "col", class: kind(place) }, head)))]),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell, place) => element("td", { class: kind(place) }, typeof cell === "string" ? cell : [cell]))))),
  ])])]);
}
