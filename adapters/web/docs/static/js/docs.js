// The filter of the reference: every word must occur in an operation's path, method or text.
const box = document.getElementById("filter");
const status = document.getElementById("filter-status");
const operations = [...document.querySelectorAll("article[data-find]")];
const groups = [...document.querySelectorAll("section[data-group]")];

function filter() {
  const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const op of operations) {
    const hit = wanted.every((w) => op.dataset.find.includes(w));
    op.hidden = !hit;
    document.querySelector(`nav a[href="#${op.id}"]`).parentElement.hidden = !hit;
    shown += hit ? 1 : 0;
  }
  for (const group of groups) {
    const empty = !group.querySelector("article:not([hidden])");
    group.hidden = empty;
    document.querySelector(`nav [data-nav="${group.id}"]`).hidden = empty;
  }
  document.getElementById("guide").hidden = wanted.length > 0;
  status.textContent = !wanted.length ? "" : shown ? status.dataset.some.replace("%d", shown) : status.dataset.none;
}

box.addEventListener("input", filter);
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
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
    await navigator.clipboard.writeText(block.querySelector("code").textContent);
    const label = button.textContent;
    button.textContent = button.dataset.done;
    setTimeout(() => (button.textContent = label), 1500);
  });
}
