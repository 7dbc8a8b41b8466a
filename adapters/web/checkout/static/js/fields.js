// The fields of the payment form: shape checks, faults beside their fields, and the summary that leads to them.
import page from "./net.js";
import * as card from "./card.js";
import { byId, create } from "./dom.js";

const words = page.text;

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** @type {Record<string, (text: string) => string>} */
const checks = {
  email: (v) => (/^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(v.trim()) ? "" : "invalid_email"),
  cardNumber: card.numberProblem,
  expiry: (v) => card.expiryProblem(v, new Date()),
  cvc: card.cvcProblem,
  country: (v) => (v ? "" : "invalid_country"),
  immediateSupply: (v) => (v ? "" : "ask_supply"),
};

/** The seller's questions, the note and the guests, where times are booked. */
export const asked = () => /** @type {Field[]} */ ([...document.querySelectorAll("#asked :is(input, select, textarea)")]);

/** @param {string} text */
export const guestsIn = (text) => text.split(/[\s,;]+/).filter(Boolean);

const names = ["email", ...asked().map((input) => input.id), "cardNumber", "expiry", "cvc", "name", "country", "postalCode", "taxId", "immediateSupply"];

/**
 * A field of the form, null where this payment does not ask for it.
 * @param {string} id
 */
export const findField = (id) => /** @type {Field | null} */ (names.includes(id) ? document.getElementById(id) : null);

/** @param {string} id */
export const field = (id) => /** @type {Field} */ (byId(id));

export const presentFields = () => names.map(findField).filter((input) => input !== null).filter((input) => !input.disabled);

/** @param {Field} input */
const contentOf = (input) => (input instanceof HTMLInputElement && input.type === "checkbox" ? (input.checked ? "on" : "") : input.value);

/** @param {string} id */
export const valueOf = (id) => field(id).value.trim();

/**
 * @param {Field} input
 * @param {string} message "" when the value is fine
 */
export function showFault(input, message) {
  byId(input.id + "-error").textContent = message;
  if (message) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** @param {Field} input */
function problemOfAnswer(input) {
  if (input.id === "guests") {
    const [guests, most] = [guestsIn(input.value), input.dataset.most || ""];
    if (guests.length > Number(most)) return words.most_guests.replace("%s", most);
    return guests.some((guest) => checks.email(guest)) ? words.invalid_guests : "";
  }
  if (input.required && (input.type === "checkbox" ? !(/** @type {HTMLInputElement} */ (input).checked) : !input.value.trim())) return words.invalid_answer;
  return input.type === "tel" && input.value.trim() && !/^\+?[0-9][0-9 ()./-]{4,28}$/.test(input.value.trim()) ? words.invalid_phone : "";
}

/** @param {Field} input */
export function check(input) {
  const key = checks[input.id]?.(contentOf(input)) || "";
  const problem = asked().includes(input) ? problemOfAnswer(input) : key && words[key];
  showFault(input, problem);
  return !problem;
}

/** A neutral line while nobody here knows what became of a payment: neither a success nor a failure. */
export function showChecking() {
  byId("problem-title").textContent = words.checking_title;
  byId("problem-text").textContent = words.checking;
  byId("problem-list").replaceChildren();
  byId("problem").classList.replace("danger", "warn");
  byId("problem").hidden = false;
}

/** @param {Field} input */
function faultItem(input) {
  const link = create("a", { href: "#" + input.id, textContent: byId(input.id + "-error").textContent });
  link.addEventListener("click", (e) => {
    e.preventDefault();
    input.focus();
  });
  return create("li", {}, link);
}

/**
 * The summary names every fault once more and leads to its field.
 * @param {string} title
 * @param {string} message
 * @param {Field[]} [faulty]
 */
export function showProblem(title, message, faulty = []) {
  byId("problem").classList.replace("warn", "danger");
  byId("problem-title").textContent = title;
  byId("problem-text").textContent = message;
  byId("problem-list").replaceChildren(...faulty.map(faultItem));
  byId("problem").hidden = false;
  byId("problem").focus();
}

export function hideProblem() {
  byId("problem").hidden = true;
}

/**
 * @param {HTMLInputElement} input
 * @param {(text: string) => string} format
 */
export function formatWhileTyping(input, format) {
  input.addEventListener("input", () => {
    const before = input.value;
    const caret = input.selectionStart ?? before.length;
    const after = format(before);
    if (after === before) return;
    input.value = after;
    const place = caret === before.length ? after.length : card.caretAfter(after, before.slice(0, caret).replace(/\D/g, "").length);
    input.setSelectionRange(place, place);
  });
}
