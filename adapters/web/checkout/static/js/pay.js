// The payment form: shape checks, one submission at a time, answers beside their fields.
import page, { send, readState, samePage, showCurrentState, wait } from "./net.js";
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
const fields = ["email", "cardNumber", "expiry", "cvc", "name", "country", "postalCode", "taxId"];
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

// A neutral line while nobody here knows what became of a payment: neither a success nor a failure.
function showChecking() {
  $("problem-title").textContent = words.checking_title;
  $("problem-text").textContent = words.checking;
  $("problem-list").replaceChildren();
  $("problem").classList.replace("danger", "warn");
  $("problem").hidden = false;
}

// The summary names every fault once more and leads to its field.
function showProblem(title, message, faulty) {
  $("problem").classList.replace("warn", "danger");
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
function payload(token) {
  const out = {};
  for (const id of ["email", "name", "country", "postalCode"]) {
    const value = $(id).value.trim();
    if (value) out[id] = value;
  }
  out.taxId = $("taxId").value.trim();
  if (token) out.confirmationToken = token;
  else if (page.needsCard) out.cardNumber = card.digits($("cardNumber").value);
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
  let token = "";
  if (takesCard) {
    token = await tokenOfCard();
    if (!token) return setSending(false);
  }
  await taxed;
  const answer = await send("pay", payload(token));
  await follow(answer);
}

// Where a card processor takes the card, in its own form, we get a token of it and never its number.
const takesCard = page.needsCard && page.cardForm;
let form;

async function showForm() {
  const { mountForm } = await import("./cardform.js");
  try {
    form = await mountForm({ ...page.cardForm, asks: true }, $("card-form"));
    $("card-form-error").textContent = "";
  } catch {
    $("card-form-error").textContent = words.form_unreachable;
  }
}

async function tokenOfCard() {
  if (!form) await showForm();
  if (!form) return "";
  const value = (id) => $(id).value.trim() || null;
  const { token, problem } = await form.token({
    name: value("name"), email: value("email"), phone: null,
    address: { country: value("country"), postal_code: value("postalCode"), line1: null, line2: null, city: null, state: null },
  });
  $("card-form-error").textContent = problem || "";
  if (problem) form.focus();
  return token || "";
}

async function follow({ status, body }) {
  if (status === 200 && body.state && !samePage(body.state, "pay")) return showCurrentState();
  if (status === 409 && body.code === "LIMIT_REACHED") {
    setSending(false);
    return showProblem(words.promo_title, body.message);
  }
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

// The connection was lost and the payment's outcome is unknown: keep asking until the server knows. A session that is
// still to be paid may be so because our request has yet to arrive, so it must stay that way for a while.
async function recover() {
  $("status").textContent = words.unknown;
  for (let unpaid = 0, pause = 0; unpaid < 4; pause = Math.min(pause * 1.5 + 500, 5000)) {
    await wait(pause);
    const { status, body } = await readState();
    if (status === 404 || (status === 200 && !samePage(body.state, "pay"))) return showCurrentState();
    unpaid = status === 200 ? unpaid + 1 : 0;
    showChecking();
  }
  setSending(false);
  showProblem(words.not_sent_title, words.unreachable);
}

// The tax follows the country and the VAT id. The server computes and draws it; only the lines of the order change here.
let taxed = Promise.resolve();

function updateTax() {
  if (!$("country").value) return;
  taxed = taxed.then(async () => {
    const { status, body } = await send("details", { country: $("country").value, taxId: $("taxId").value.trim() });
    const refused = body.details?.find((fault) => fault.field === "taxId");
    showFault($("taxId"), refused ? refused.message : "");
    if (refused) $("business").open = true;
    if (status === 200) form?.setAmount(body.totalInCents);
    if (status === 200) await drawOrder();
  });
}

async function drawOrder() {
  try {
    const answer = await fetch(location.href, { credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(20000) });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of [".lines-wide", ".lines-narrow .lines", ".headline", "#submit .label", "p.terms"]) {
      const [from, to] = [fresh.querySelector(part), document.querySelector(part)];
      if (from && to) to.replaceChildren(...document.importNode(from, true).childNodes);
    }
    const label = fresh.getElementById("submit")?.getAttribute("aria-label");
    if (label) $("submit").setAttribute("aria-label", label);
  } catch {
    // The lines stay as they are: the amount is checked again when the form is sent.
  }
}

// The country that a time zone belongs to, as the browser knows it; "" when it doesn't.
function countryOfZone(zone) {
  for (const { value } of $("country").options) {
    if (!value) continue;
    const region = new Intl.Locale("und-" + value);
    const zones = region.getTimeZones?.() ?? region.timeZones;
    if (zones?.includes(zone)) return value;
  }
  return "";
}

// The time zone says more of where somebody is than their language. Where the two disagree, the buyer is asked.
function guessCountry() {
  const select = $("country");
  if (select.value) return;
  const byLanguage = select.dataset.guess || "";
  const byZone = countryOfZone(Intl.DateTimeFormat().resolvedOptions().timeZone);
  if (byZone && byLanguage && byZone !== byLanguage) return;
  select.value = byZone || byLanguage;
  if (select.value) updateTax();
}

// A code changes the price, which the server draws: the page is loaded again.
async function applyCode() {
  const input = $("promoCode");
  const code = input ? input.value.trim() : null;
  if (code === "") return input.focus();
  $("promoCode-error").textContent = "";
  const { status, body } = await send("discount", { code });
  if (status === 200 || status === 404 || status === 409 || status === 410) return showCurrentState();
  $("promoCode-error").textContent = body.details?.[0]?.message || (status === 0 ? words.offline : words.refused);
  if (input) {
    input.setAttribute("aria-invalid", "true");
    input.focus();
  }
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
  if (takesCard) showForm();
  else if (page.needsCard) {
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
  $("promo")?.addEventListener("submit", (e) => {
    e.preventDefault();
    if (!sending) applyCode();
  });
  $("country").addEventListener("change", updateTax);
  $("taxId").addEventListener("change", updateTax);
  guessCountry();
  $("submit").disabled = false;
}
