// A select that is searched by typing: a text field over a list box (WAI-ARIA combobox). The select stays in the page and
// holds the value, so whoever reads it, or sends its form, need not know.
import { create } from "./dom.js";

/** @param {string} text */
export const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("_", " ");

/**
 * Whether every word of a query is in a text.
 * @param {string} key folded
 * @param {string} query
 */
export const matches = (key, query) => fold(query).split(/[\s,·]+/).every((word) => key.includes(word));

/**
 * How well a label that matches fits: 0 when the query's words are words of it, 1 when they begin some, else 2.
 * @param {string} label
 * @param {string} query
 */
export function rank(label, query) {
  const parts = fold(label).split(/[\s,·]+/);
  const asked = fold(query).split(/[\s,·]+/).filter(Boolean);
  if (asked.every((word) => parts.includes(word))) return 0;
  return asked.every((word) => parts.some((part) => part.startsWith(word))) ? 1 : 2;
}

/**
 * @param {HTMLSelectElement} select
 * @param {string} nothing what the list says when nothing matches
 * @returns {{ refresh: () => void }} refresh follows a value that was set by a script
 */
export default function addSearch(select, nothing) {
  const id = select.id;
  const list = create("ul", { id: id + "-options", className: "found", hidden: true });
  list.setAttribute("role", "listbox");
  const input = create("input", { type: "text", id, autocomplete: "off", spellcheck: false });
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-controls", list.id);
  for (const name of ["aria-describedby", "aria-invalid"]) {
    const value = select.getAttribute(name);
    if (value) input.setAttribute(name, value);
  }
  list.setAttribute("aria-label", select.labels[0]?.textContent || "");
  select.id = id + "-value"; // the label names the field from here on
  select.hidden = true;
  select.before(input);
  select.after(list);

  let active = -1;
  /** @type {HTMLOptionElement[]} those that are listed */
  let found = [];
  const chosen = () => select.selectedOptions[0]?.label || "";

  /** @param {string} query */
  function show(query) {
    const all = [...select.options];
    found = all.filter((o) => matches(fold(`${o.label} ${o.value} ${o.dataset.former || ""}`), query));
    found.sort((a, b) => rank(a.label, query) - rank(b.label, query));
    list.replaceChildren(
      ...found.map((o, i) => {
        const item = create("li", { id: `${id}-option-${i}`, textContent: o.label });
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", String(o === select.selectedOptions[0]));
        return item;
      }),
    );
    if (!found.length) list.append(create("li", { className: "none", role: "presentation", textContent: nothing }));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    go(Math.max(0, query ? 0 : found.indexOf(select.selectedOptions[0])));
  }

  /** @param {number} index */
  function go(index) {
    list.querySelector(".active")?.classList.remove("active");
    active = Math.min(index, found.length - 1);
    const item = found.length ? list.children[active] : null;
    item?.classList.add("active");
    item?.scrollIntoView({ block: "nearest" });
    if (item) input.setAttribute("aria-activedescendant", item.id);
    else input.removeAttribute("aria-activedescendant");
  }

  function close() {
    list.hidden = true;
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    input.value = chosen();
    if (document.activeElement === input) input.select(); // so that typing searches anew
  }

  /** @param {HTMLOptionElement | undefined} option */
  function pick(option) {
    const changed = option && option !== select.selectedOptions[0];
    if (option) option.selected = true;
    close();
    if (changed) select.dispatchEvent(new Event("change", { bubbles: true }));
  }

  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => (list.hidden ? show("") : go((active + 1) % Math.max(1, found.length))),
    ArrowUp: () => (list.hidden ? show("") : go((active || found.length) - 1)),
    Enter: () => (list.hidden ? show("") : pick(found[active])),
    Escape: close,
  };
  input.addEventListener("keydown", (e) => {
    const act = keys[e.key];
    if (!act || e.ctrlKey || e.altKey || e.metaKey || (e.key === "Escape" && list.hidden)) return;
    e.preventDefault();
    act();
  });
  input.addEventListener("input", () => show(input.value));
  input.addEventListener("click", () => {
    if (list.hidden) show("");
  });
  input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", close);
  list.addEventListener("pointerdown", (e) => e.preventDefault()); // the field keeps the focus
  list.addEventListener("click", (e) => {
    const item = /** @type {Element} */ (e.target).closest("[role=option]");
    if (item) pick(found[[...list.children].indexOf(item)]);
  });
  close();
  return { refresh: close };
}
