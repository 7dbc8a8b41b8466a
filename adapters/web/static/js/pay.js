// The payment form: shape checks, one submission at a time, answers beside their fields.
import page, { send, readState, samePage, showCurrentState } from "./net.js";
import { setBusy } from "./bridge.js";
import * as card from "./card.js";

const $ = (id) => document.getElementById(id);
const words = page.text;

const checks = {
  email: (v) => (/^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(v.trim()) ? "" : "invalid_email"),
  cardNumber: card.numberProblem,
  expiry: (v) => card.expiryProblem(v, new Date()),
  cvc: card.cvcProblem,
  country: (v) => (v ? "" : "invalid_country"),
};
const fields = ["email", "cardNumber", "expiry", "cvc", "name", "country", "postalCode"];
const present = () => fields.map($).filter(Boolean);

function showFault(input, message) {
  $(input.id + "-error").textContent = message;
  if (message) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

function check(input) {
  const key = checks[input.id] ? checks[input.id](input.value) : "";
  showFault(input, key ? words[key] : "");
  return !key;
}

// The summary names every fault once more and leads to its field.
function showProblem(title, message, faulty) {
  $("problem-title").textContent = title;
  $("problem-text").textContent = message;
  $("problem-list").replaceChildren(
    ...(faulty || []).map((input) => {
      const link = Object.assign(document.createElement("a"), {
        href: "#" + input.id,
        textContent: $(input.id + "-error").textContent,
      });
      link.addEventListener("click", (e) => {
        e.preventDefault();
        input.focus();
      });
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
  $("problem").hidden = false;
  $("problem").focus();
}

function hideProblem() {
  $("problem").hidden = true;
}

let sending = false;

function setSending(now) {
  sending = now;
  const button = $("submit");
  button.setAttribute("aria-busy", String(now));
  button.setAttribute("aria-disabled", String(now));
  $("status").textContent = now ? words.working : "";
  setBusy(now);
}

function formatWhileTyping(input, format) {
  input.addEventListener("input", () => {
    const before = input.value;
    const atEnd = input.selectionStart === before.length;
    const digitsLeft = before.slice(0, input.selectionStart).replace(/\D/g, "").length;
    const after = format(before);
    if (after === before) return;
    input.value = after;
    let caret = after.length;
    if (!atEnd) {
      caret = 0;
      for (let seen = 0; caret < after.length && seen < digitsLeft; caret++) if (/\d/.test(after[caret])) seen++;
    }
    input.setSelectionRange(caret, caret);
  });
}

function showScheme() {
  $("scheme").dataset.scheme = card.schemeOf(card.digits($("cardNumber").value));
}

// Expiry and security code are checked for shape only and stay in the browser.
function payload() {
  const out = {};
  for (const id of ["email", "name", "country", "postalCode"]) {
    const value = $(id).value.trim();
    if (value) out[id] = value;
  }
  if (page.needsCard) out.cardNumber = card.digits($("cardNumber").value);
  return out;
}

async function submit() {
  const faulty = present().filter((input) => !check(input));
  if (faulty.length) {
    showProblem(words.check_title, "", faulty);
    return;
  }
  hideProblem();
  setSending(true);
  const answer = await send("pay", payload());
  await follow(answer);
}

async function follow({ status, body }) {
  if (status === 200 && body.state && !samePage(body.state, "pay")) return showCurrentState();
  if (status === 409) return showCurrentState(body.code === "SESSION_ALREADY_PAID");
  if (status === 404 || status === 410) return showCurrentState();
  if (status === 0 || status >= 500) return recover();
  if (status === 402 || status === 200) return declined(body.message || body.lastPaymentError?.message);
  setSending(false);
  if (status === 429) return showProblem(words.declined_title, words.rate_limited);
  const faulty = [];
  for (const fault of body.details || []) {
    const input = $(fault.field);
    if (!input || !fields.includes(fault.field)) continue;
    showFault(input, fault.message || words.invalid_field);
    faulty.push(input);
  }
  showProblem(words.check_title, faulty.length ? "" : body.message || words.refused, faulty);
}

// A refusal may also be the bank's wish to confirm, or the last one the session allows:
// the state says which.
async function declined(message) {
  const { status, body } = await readState();
  if (status === 200 && !samePage(body.state, "pay")) return showCurrentState();
  setSending(false);
  if ($("cvc")) $("cvc").value = "";
  showProblem(words.declined_title, message || words.declined);
}

// The connection was lost with the payment's fate unknown: ask before saying anything.
async function recover() {
  $("status").textContent = words.unknown;
  const { status, body } = await readState();
  if (status === 200 && !samePage(body.state, "pay")) return showCurrentState();
  setSending(false);
  showProblem(words.declined_title, status === 200 ? words.unreachable : words.offline);
}

function fillTestCard(number) {
  const year = String((new Date().getFullYear() + 4) % 100).padStart(2, "0");
  const values = { cardNumber: number, expiry: "12 / " + year, cvc: "123" };
  for (const [id, value] of Object.entries(values)) {
    $(id).value = value;
    showFault($(id), "");
  }
  showScheme();
  document.querySelector("details.cards").open = false;
  $("status").textContent = words.filled;
  $("cardNumber").focus();
}

export default function startPay() {
  if (page.needsCard) {
    formatWhileTyping($("cardNumber"), card.groupNumber);
    formatWhileTyping($("expiry"), card.groupExpiry);
    $("cardNumber").addEventListener("input", showScheme);
    showScheme();
  }
  for (const input of present()) {
    input.addEventListener("blur", () => input.value && check(input));
    input.addEventListener("input", () => input.getAttribute("aria-invalid") && check(input));
  }
  for (const button of document.querySelectorAll("[data-card]")) {
    button.addEventListener("click", () => fillTestCard(button.dataset.card));
  }
  $("pay").addEventListener("submit", (e) => {
    e.preventDefault();
    if (!sending) submit();
  });
  $("submit").disabled = false;
}
