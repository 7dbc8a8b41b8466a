// The documentation: a key for the search, copy buttons, one language for all samples, and the section that is read.

/**
 * @template {HTMLElement} T
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {T[]}
 */
const all = (selector, root = document) => /** @type {T[]} */ ([...root.querySelectorAll(selector)]);

const box = /** @type {HTMLInputElement} */ (document.getElementById("search"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const parts = all("#guide > section, article");

document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "")) {
    e.preventDefault();
    box.focus();
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

// A language that is chosen once is shown everywhere, on the next page too, and what the reader looks at stays where it
// is.
/** @type {HTMLInputElement[]} */
const languages = all("fieldset.code input");
/** @param {string | null} value */
function choose(value) {
  for (const input of languages) if (input.value === value) input.checked = true;
}
choose(sessionStorage.getItem("language"));
main.addEventListener("change", (e) => {
  const chosen = /** @type {HTMLInputElement} */ (e.target);
  if (!languages.includes(chosen)) return;
  const before = chosen.getBoundingClientRect().top;
  choose(chosen.value);
  sessionStorage.setItem("language", chosen.value);
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
  for (const old of all('nav a[aria-current="true"]')) old.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  const list = document.querySelector(".toc-scroll");
  const [line, view] = [link.getBoundingClientRect(), list?.getBoundingClientRect()];
  if (list && view && (line.top < view.top || line.bottom > view.bottom)) list.scrollTop += line.top - view.top - view.height / 3;
}, { rootMargin: "-80px 0px -40% 0px" });
for (const part of parts) observer.observe(part);
