// What the dashboard adds where there is a script: every page works without it.
import addSearch from "./combobox.js";
import offer from "./passkey.js";
import preview from "./preview.js";
import addRows from "./rows.js";
import say from "./say.js";
import takeOver from "./upload.js";

// Who has set no hours yet is asked about those of their own time zone.
for (const select of /** @type {NodeListOf<HTMLSelectElement>} */ (document.querySelectorAll("select[data-own-zone]"))) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...select.options].some((option) => option.value === zone)) select.value = zone;
}

for (const select of /** @type {NodeListOf<HTMLSelectElement>} */ (document.querySelectorAll("select[data-search]"))) {
  addSearch(select, select.dataset.search || "");
}

const confirming = new WeakSet();

/** Copies a text and confirms it on the button.
 * @param {HTMLButtonElement} button
 * @param {string} text */
async function copy(button, text) {
  await navigator.clipboard.writeText(text);
  if (confirming.has(button)) return; // a second click must not take "Copied" for the button's own words
  confirming.add(button);
  const before = button.innerHTML;
  button.textContent = say("Copied");
  setTimeout(() => {
    button.innerHTML = before;
    confirming.delete(button);
  }, 1500);
}

for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-copy], [data-copy-of]"))) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", () => {
    const source = button.dataset.copyOf ? document.getElementById(button.dataset.copyOf)?.textContent : button.dataset.copy;
    void copy(button, source ?? "");
  });
}

// One open pop-up at a time; Escape and a click elsewhere close it.
const pops = /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.pop"));
/** @param {Node | null} within */
function closeOthers(within) {
  for (const pop of pops) {
    if (pop.open && !(within && pop.contains(within))) pop.open = false;
  }
}
document.addEventListener("click", (event) => closeOthers(/** @type {Node} */ (event.target)));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = [...pops].find((pop) => pop.open);
  closeOthers(null);
  open?.querySelector("summary")?.focus();
});

// Ctrl+K, or ⌘K on a Mac, leads to the search.
const find = /** @type {HTMLInputElement | null} */ (document.getElementById("find"));
const keys = /** @type {HTMLElement | null} */ (document.querySelector(".find kbd"));
if (find && keys) {
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  keys.textContent = mac ? "⌘K" : "Ctrl K";
  keys.hidden = false;
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey || !(mac ? event.metaKey : event.ctrlKey)) return;
    event.preventDefault();
    find.focus();
    find.select();
  });
}

// A select above a list filters at once.
for (const select of document.querySelectorAll(".filters select")) {
  select.addEventListener("change", () => /** @type {HTMLSelectElement} */ (select).form?.requestSubmit());
}

// Sending one form of a page loses what was typed in another: the browser asks first.
/** @type {Set<HTMLFormElement>} */
const typed = new Set();
/** @type {EventTarget | null} */
let sent = null;
document.addEventListener("input", (event) => {
  const form = /** @type {HTMLElement} */ (event.target).closest("form");
  if (form?.matches("main form.form")) typed.add(form);
});
document.addEventListener("submit", (event) => { sent = event.target; });
window.addEventListener("beforeunload", (event) => {
  if (sent && [...typed].some((form) => form !== sent)) event.preventDefault();
  sent = null;
});

// A photo of a phone is larger than what may be sent, and larger than anybody sees it: it is made smaller here.
const maxFile = 900_000;
const maxSide = 1600;

/** @param {File} file
 *  @returns {Promise<File>} */
async function smaller(file) {
  const picture = await createImageBitmap(file);
  const scale = Math.min(1, maxSide / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  /** @type {Blob | null} */
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", 0.85); });
  return blob ? new File([blob], "image.jpg", { type: "image/jpeg" }) : file;
}

for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[data-shrink]"))) {
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (!file || file.size <= maxFile) return;
    try {
      const files = new DataTransfer();
      files.items.add(await smaller(file));
      input.files = files.files;
    } catch {
      // The server reports what is wrong with it.
    }
  });
}

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-upload]"))) takeOver(form);

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-passkey]"))) offer(form);

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-preview]"))) preview(form);

for (const rows of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-rows]"))) addRows(rows);

// What was refused is read first.
/** @type {HTMLElement | null} */ (document.querySelector("[data-focus]"))?.focus();

// A form is sent once, but for one that opens a preview beside the page.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (/** @type {SubmitEvent} */ (event).submitter?.hasAttribute("formtarget")) return;
    if (form.hasAttribute("data-sent")) { event.preventDefault(); return; }
    form.setAttribute("data-sent", "");
  });
}
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-sent]")) form.removeAttribute("data-sent");
});
