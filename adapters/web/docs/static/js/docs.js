// The search of the documentation: every word must occur in an operation or a part of the guide.
const box = /** @type {HTMLInputElement} */ (document.getElementById("filter"));
const result = /** @type {HTMLElement} */ (document.getElementById("filter-status"));
const operations = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("article[data-find]")]);
const groups = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("section[data-group]")]);

/**
 * @param {string} selector
 * @param {boolean} hidden
 */
function hide(selector, hidden) {
  const element = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  if (element) element.hidden = hidden;
}

function filter() {
  const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const op of operations) {
    const hit = wanted.every((w) => op.dataset.find?.includes(w));
    op.hidden = !hit;
    hide(`nav li:has(> a[href="#${op.id}"])`, !hit);
    shown += hit ? 1 : 0;
  }
  for (const group of groups) {
    const empty = !group.querySelector("article:not([hidden])");
    group.hidden = empty;
    hide(`nav [data-nav="${group.id}"]`, empty);
  }
  hide("#guide", wanted.length > 0);
  result.textContent = (!wanted.length ? "" : shown ? result.dataset.some?.replace("%d", String(shown)) : result.dataset.none) ?? "";
}

box.addEventListener("input", filter);
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "")) {
    e.preventDefault();
    box.focus();
  }
  if (e.key === "Escape" && document.activeElement === box) {
    box.value = "";
    filter();
  }
});

for (const block of document.querySelectorAll("figure.code")) {
  const button = block.querySelector("button");
  if (!button || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "");
    const label = button.textContent;
    button.textContent = button.dataset.done ?? label;
    setTimeout(() => (button.textContent = label), 1500);
  });
}
