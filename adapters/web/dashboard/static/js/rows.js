// Further rows in a list of a form, which has empty ones without a script, too.

const numbered = ["id", "name", "for", "aria-describedby"];

/** Makes the last row, which is empty, again with the next number.
 * @param {HTMLElement} last
 * @param {string} list begins the names of the fields
 * @param {number} number counts the rows so far
 * @returns {HTMLElement} */
function next(last, list, number) {
  const row = /** @type {HTMLElement} */ (last.cloneNode(true));
  const inIDs = list.replaceAll(".", "-"); // metadata.questions of the names is metadata-questions in ids
  for (const part of row.querySelectorAll("*")) {
    for (const name of numbered) {
      const value = part.getAttribute(name);
      if (!value) continue;
      const named = value.replace(`${list}${number - 1}`, `${list}${number}`);
      part.setAttribute(name, named.replace(`${inIDs}${number - 1}`, `${inIDs}${number}`));
    }
    if (part instanceof HTMLInputElement || part instanceof HTMLTextAreaElement) part.value = part.defaultValue;
    if (part instanceof HTMLInputElement) part.checked = part.defaultChecked;
  }
  const title = row.querySelector("legend");
  if (title) title.textContent = (title.textContent ?? "").replace(String(number), String(number + 1));
  return row;
}

/** Shows the button that adds a row.
 * @param {HTMLElement} rows */
export default function addRows(rows) {
  const button = /** @type {HTMLButtonElement | null} */ (rows.querySelector("[data-add]"));
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const all = /** @type {NodeListOf<HTMLElement>} */ (rows.querySelectorAll(".entry"));
    const row = next(all[all.length - 1], rows.dataset.rows ?? "", all.length);
    button.before(row);
    /** @type {HTMLElement | null} */ (row.querySelector("input, select"))?.focus();
  });
}
