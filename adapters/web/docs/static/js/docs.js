// The documentation: search over all its text, copy buttons, one language for all samples, and the section that is read.

/**
 * What the search finds: an operation, an event type or a part of the guide.
 * @typedef {object} Entry
 * @property {HTMLElement} element
 * @property {HTMLElement | null} line of the contents
 * @property {string} text without the samples, which are the same everywhere
 */

/**
 * @template {HTMLElement} T
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {T[]}
 */
const all = (selector, root = document) => /** @type {T[]} */ ([...root.querySelectorAll(selector)]);

const box = /** @type {HTMLInputElement} */ (document.getElementById("filter"));
const result = /** @type {HTMLElement} */ (document.getElementById("filter-status"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const groups = all("[data-group]");
const parts = all("#guide > section, article");

/** @param {HTMLElement} element */
const lineOf = (element) => document.querySelector(`nav a[href="#${element.id}"]`)?.parentElement ?? null;

/** @param {HTMLElement} element */
function textOf(element) {
  const copy = /** @type {HTMLElement} */ (element.cloneNode(true));
  for (const sample of all("pre, fieldset", copy)) sample.remove();
  return copy.textContent?.toLowerCase() ?? "";
}

/** @type {Entry[]} made by the first search */
let entries = [];

function search() {
  if (!entries.length) entries = parts.map((element) => ({ element, line: lineOf(element), text: textOf(element) }));
  const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { element, line, text } of entries) {
    const found = wanted.every((word) => text.includes(word));
    element.hidden = !found;
    if (line) line.hidden = !found;
    shown += Number(found);
  }
  for (const group of groups) {
    group.hidden = !group.querySelector(":is(article, section):not([hidden])");
    for (const list of all(`[data-nav="${group.id}"]`)) list.hidden = group.hidden;
  }
  result.textContent = (!wanted.length ? "" : shown ? result.dataset.some?.replace("%d", String(shown)) : result.dataset.none) ?? "";
}

box.addEventListener("input", search);
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "")) {
    e.preventDefault();
    box.focus();
  }
  if (e.key === "Escape" && document.activeElement === box) {
    box.value = "";
    search();
  }
});

/** @param {HTMLElement} sample */
function addCopyButton(sample) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: main.dataset.copy });
  const around = document.createElement("div");
  around.className = "copyable";
  if (sample.dataset.in) around.dataset.in = sample.dataset.in;
  delete sample.dataset.in;
  sample.replaceWith(around);
  around.append(sample, button);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(sample.textContent ?? "");
    button.textContent = main.dataset.copied ?? "";
    setTimeout(() => (button.textContent = main.dataset.copy ?? ""), 1500);
  });
}
if (navigator.clipboard) all("pre", main).forEach(addCopyButton);

// A language that is chosen once is shown everywhere, and what the reader looks at stays where it is.
/** @type {HTMLInputElement[]} */
const languages = all("fieldset.code input");
main.addEventListener("change", (e) => {
  const chosen = /** @type {HTMLInputElement} */ (e.target);
  if (!languages.includes(chosen)) return;
  const before = chosen.getBoundingClientRect().top;
  for (const input of languages) if (input.value === chosen.value) input.checked = true;
  scrollBy({ top: chosen.getBoundingClientRect().top - before, behavior: "instant" });
});

// The contents mark the first part that is on the screen.
/** @type {Set<Element>} */
const visible = new Set();
const observer = new IntersectionObserver((changes) => {
  for (const { target, isIntersecting } of changes) {
    if (isIntersecting) visible.add(target);
    else visible.delete(target);
  }
  const current = parts.find((part) => visible.has(part));
  const link = current && document.querySelector(`nav a[href="#${current.id}"]`);
  if (!link || link.hasAttribute("aria-current")) return;
  for (const old of all("nav a[aria-current]")) old.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  const list = document.querySelector(".toc-scroll");
  const [line, view] = [link.getBoundingClientRect(), list?.getBoundingClientRect()];
  if (list && view && (line.top < view.top || line.bottom > view.bottom)) list.scrollTop += line.top - view.top - view.height / 3;
}, { rootMargin: "-80px 0px -40% 0px" });
for (const part of parts) observer.observe(part);
