// The payment form: one submission at a time, responses beside their fields.
import page, { inWords, send, readState, samePage, showCurrentState, wait } from "./net.js";
import { setBusy } from "./bridge.js";
import * as card from "./card.js";
import { countryOfZone, guess } from "./country.js";
import { byId } from "./dom.js";
import { asked, check, field, findField, formatWhileTyping, guestsIn, hideProblem, presentFields, showChecking, showFault, showProblem, valueOf } from "./fields.js";

/** @typedef {import("./types.d.ts").Reply} Reply */

const words = page.text;

/** @type {Record<string, string>} */
const refusals = { cardNumber: words.luhn, email: words.invalid_email, taxId: words.refused_tax };
const state = {
  sending: false,
  /** The tax follows what was entered; a payment waits for it. */
  taxed: Promise.resolve(),
  /** @type {Awaited<ReturnType<typeof import("./cardform.js").mountForm>> | null} the card processor's form */
  form: null,
};

// Where a card processor takes the card, in its own form, we get a token of it and never its number.
const cardForm = page.needsCard ? page.cardForm : null;

/** @param {boolean} now */
function setSending(now) {
  state.sending = now;
  const button = byId("submit");
  button.setAttribute("aria-busy", String(now));
  button.setAttribute("aria-disabled", String(now));
  byId("status").textContent = now ? words.working : "";
  setBusy(now);
}

function showScheme() {
  byId("scheme").dataset.scheme = card.schemeOf(card.digits(valueOf("cardNumber")));
}

/** What the buyer of a time was asked beside it; nothing for another order. */
function answers() {
  /** @type {{ answers?: Record<string, string>, notes?: string, guests?: string[] }} */
  const out = {};
  for (const input of asked()) {
    const value = input.value.trim();
    if (input.id === "notes") out.notes = value;
    else if (input.id === "guests") out.guests = guestsIn(value);
    else out.answers = { ...out.answers, [input.id.slice("answers.".length)]: input.type === "checkbox" ? String(/** @type {HTMLInputElement} */ (input).checked) : value };
  }
  return out;
}

/** Everything that was entered, but the card. */
function entered() {
  /** @type {Record<string, unknown>} */
  const out = answers();
  for (const id of ["email", "country"]) {
    const value = valueOf(id);
    if (value) out[id] = value;
  }
  // what is empty takes away what was known before
  for (const id of ["name", "postalCode", "taxId"]) out[id] = valueOf(id);
  return out;
}

/** The server draws the form with what the session knows: before it does so again, the session gets what it accepts. */
async function saveEntered() {
  const known = entered();
  const { status, body } = await send("details", known);
  if (status !== 400) return;
  for (const fault of body.details || []) delete known[fault.field.split(/[.[]/, 1)[0]];
  await send("details", known);
}

async function drawForm() {
  await saveEntered();
  showCurrentState();
}

/** @param {MouseEvent} e */
async function leaveForCalendar(e) {
  if (e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
  e.preventDefault();
  const link = /** @type {HTMLAnchorElement} */ (e.currentTarget);
  await saveEntered();
  location.assign(link.href);
}

/**
 * Expiry and security code are checked for shape only and stay in the browser.
 * @param {string} token
 */
function payload(token) {
  /** @type {Record<string, unknown>} */
  const out = { ...entered(), agreement: page.agreement };
  const supply = supplyBox();
  if (supply && !supply.disabled) out.immediateSupply = supply.checked;
  if (token) out.confirmationToken = token;
  else if (findField("cardNumber")) out.cardNumber = card.digits(valueOf("cardNumber"));
  return out;
}

async function submit() {
  askForSupply(); // a browser that fills in the country may not say so
  const faulty = presentFields().filter((input) => !check(input));
  if (faulty.length) return showProblem(words.check_title, "", faulty);
  hideProblem();
  setSending(true);
  const token = cardForm ? await tokenOfCard() : "";
  if (cardForm && !token) return setSending(false);
  await state.taxed;
  await follow(await send("pay", payload(token)));
}

async function showForm() {
  if (!cardForm) return;
  const { mountForm } = await import("./cardform.js");
  try {
    state.form = await mountForm({ ...cardForm, asks: true }, byId("card-form"));
    byId("card-form-error").textContent = "";
  } catch {
    byId("card-form-error").textContent = words.form_unreachable;
  }
}

async function tokenOfCard() {
  if (!state.form) await showForm();
  if (!state.form) return "";
  /** @param {string} id */
  const value = (id) => valueOf(id) || null;
  const { token, problem } = await state.form.token({
    name: value("name"), email: value("email"), phone: null,
    address: { country: value("country"), postal_code: value("postalCode"), line1: null, line2: null, city: null, state: null },
  });
  byId("card-form-error").textContent = problem || "";
  if (problem) state.form.focus();
  return token || "";
}

/** @param {Reply} reply */
function follow({ status, body }) {
  if (status === 200 && body.state && !samePage(body.state, "pay")) return showCurrentState();
  if (status === 409 && body.code === "LIMIT_REACHED") {
    setSending(false);
    return showProblem(words.promo_title, inWords(body.message, words.promo_used));
  }
  if (status === 409 && body.code === "ALREADY_SUBSCRIBED") {
    setSending(false);
    return showProblem(words.subscribed_title, words.already_subscribed);
  }
  if (status === 409 && body.code === "STATE_CONFLICT" && body.details) return void showFirstPeriod(body);
  if (status === 409) return showCurrentState(body.code === "SESSION_ALREADY_PAID");
  if (status === 404 || status === 410) return showCurrentState();
  if (status === 0 || status >= 500) return recover();
  if (status === 402 || status === 200) return declined(body.declineCode || body.lastPaymentError?.code);
  setSending(false);
  if (status === 429) return showProblem(words.declined_title, words.rate_limited);
  return showRefusal(body);
}

/**
 * The buyer has had the trial: the order shows what the first period costs.
 * @param {Reply["body"]} body
 */
async function showFirstPeriod(body) {
  await drawOrder();
  setSending(false);
  showProblem(words.trial_title, inWords(body.message, words.trial_used));
}

/** @param {Reply["body"]} body */
function showRefusal(body) {
  const faulty = [];
  for (const fault of body.details || []) {
    const input = findField(fault.field.replace(/^guests\[\d+\]$/, "guests"));
    if (!input) continue;
    showFault(input, inWords(fault.message, refusals[input.id] || words.invalid_field));
    faulty.push(input);
  }
  showProblem(words.check_title, faulty.length ? "" : inWords(body.message, words.refused), faulty);
}

/**
 * A refusal may also be the bank's wish to confirm, or the last one the session allows: the state shows which.
 * @param {string | undefined} code
 */
async function declined(code) {
  const { status, body } = await readState();
  if (status === 200 && !samePage(body.state, "pay")) return showCurrentState();
  setSending(false);
  const cvc = findField("cvc");
  if (cvc) cvc.value = "";
  return showProblem(words.declined_title, (code && page.declines[code]) || page.declines.card_declined);
}

// The connection was lost and the payment's outcome is unknown: keep asking until the server knows. A session that is
// still to be paid may be so because our request has yet to arrive, so it must stay that way for a while.
async function recover() {
  byId("status").textContent = words.unknown;
  for (let unpaid = 0, pause = 0; unpaid < 4; pause = Math.min(pause * 1.5 + 500, 5000)) {
    await wait(pause);
    const { status, body } = await readState();
    if (status === 404 || (status === 200 && !samePage(body.state, "pay"))) return showCurrentState();
    unpaid = status === 200 ? unpaid + 1 : 0;
    showChecking();
  }
  setSending(false);
  return showProblem(words.not_sent_title, words.unreachable);
}

const supplyBox = () => /** @type {HTMLInputElement | null} */ (document.getElementById("immediateSupply"));

// Consumers of some countries have a right of withdrawal, and ask for supply at once. A business names its VAT ID.
function askForSupply() {
  const input = supplyBox();
  if (!input) return;
  const box = byId("supply");
  const asks = !valueOf("taxId") && (box.dataset.countries || "").split(" ").includes(valueOf("country"));
  box.hidden = input.disabled = !asks;
}

// The server computes the tax and draws it; only the lines of the order change here.
function updateTax() {
  if (!valueOf("country")) return;
  state.taxed = state.taxed.then(async () => {
    const { status, body } = await send("details", { country: valueOf("country"), taxId: valueOf("taxId") });
    const refused = body.details?.find((/** @type {{ field: string }} */ fault) => fault.field === "taxId");
    showFault(field("taxId"), refused ? inWords(refused.message, words.refused_tax) : "");
    if (refused) /** @type {HTMLDetailsElement} */ (byId("business")).open = true;
    if (status === 200) state.form?.setAmount(body.totalInCents);
    if (status === 200) await drawOrder();
  });
}

// The interval or the quantity changes the price, which the server computes: what was entered stays.
/** @param {{ interval?: string, intervalCount?: number, quantity?: number }} change */
function changeOffer(change) {
  state.taxed = state.taxed.then(async () => {
    const { status, body } = await send("change", change);
    if (status === 200) {
      state.form?.setAmount(body.totalInCents);
      const fresh = await drawOrder();
      return fresh && asksForCard(fresh) !== asksForCard(document) ? drawForm() : undefined;
    }
    if (status === 0) return showProblem(words.check_title, words.offline);
    if (status !== 400) return drawForm();
    return showProblem(words.check_title, inWords(body.details?.[0]?.message, words.refused));
  });
}

function startChoice() {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("choice"));
  if (!form) return;
  for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("input[name=interval]"))) {
    const [interval = "", count = "1"] = input.value.split(":"); // month:3 is every three months
    input.addEventListener("change", () => changeOffer({ interval, intervalCount: Number(count) }));
  }
  const quantity = /** @type {HTMLInputElement | null} */ (document.getElementById("quantity"));
  quantity?.addEventListener("change", () => {
    const valid = quantity.checkValidity();
    showFault(quantity, valid ? "" : words.invalid_quantity);
    if (valid) changeOffer({ quantity: quantity.valueAsNumber });
  });
  onSubmit(form, () => quantity?.blur());
}

/**
 * Nothing may be left to pay by a card, or something may be now.
 * @param {Document} shown
 */
const asksForCard = (shown) => Boolean(shown.querySelector("#cardNumber, #card-form"));

async function drawOrder() {
  try {
    const response = await fetch(location.href, { credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(20000) });
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of [".lines-wide", ".lines-narrow .lines", ".headline", "#submit .label", "p.terms"]) {
      const [from, to] = [fresh.querySelector(part), document.querySelector(part)];
      if (from && to) to.replaceChildren(...document.importNode(from, true).childNodes);
    }
    const label = fresh.getElementById("submit")?.getAttribute("aria-label");
    if (label) byId("submit").setAttribute("aria-label", label);
    return fresh;
  } catch {
    return null; // The lines stay as they are: the amount is checked again when the form is sent.
  }
}

function guessCountry() {
  const select = /** @type {HTMLSelectElement} */ (byId("country"));
  if (select.value) return;
  const countries = [...select.options].map((option) => option.value).filter(Boolean);
  select.value = guess(select.dataset.guess || "", countryOfZone(Intl.DateTimeFormat().resolvedOptions().timeZone, countries));
  if (select.value) updateTax();
}

/**
 * A code changes the price, which the server draws: what was entered stays, unless a card is asked for now and was not.
 * @param {Reply["body"]} body
 */
function showDiscount(body) {
  state.taxed = state.taxed.then(async () => {
    state.form?.setAmount(body.totalInCents);
    const fresh = await drawOrder();
    const promo = fresh?.querySelector(".promo");
    if (!fresh || !promo || asksForCard(fresh) !== asksForCard(document)) return drawForm();
    document.querySelector(".promo")?.replaceChildren(...document.importNode(promo, true).childNodes);
    /** @type {HTMLElement | null} */ (document.querySelector("#promo-remove, #promo-more summary"))?.focus();
  });
}

async function applyCode() {
  const input = /** @type {HTMLInputElement | null} */ (document.getElementById("promoCode"));
  const code = input ? input.value.trim() : null;
  if (code === "") return input?.focus();
  byId("promoCode-error").textContent = "";
  const { status, body } = await send("discount", { code });
  if (status === 200) {
    const url = new URL(location.href);
    url.searchParams.delete("refused_code");
    history.replaceState(null, "", url);
    return showDiscount(body);
  }
  if (status === 404 || status === 409 || status === 410) return showCurrentState();
  byId("promoCode-error").textContent =
    status === 400 ? inWords(body.details?.[0]?.message, words.refused_promo) : status === 429 ? words.rate_limited : words.offline;
  input?.setAttribute("aria-invalid", "true");
  return input?.focus();
}

/** @param {string} number */
function fillTestCard(number) {
  const year = String((new Date().getFullYear() + 4) % 100).padStart(2, "0");
  const values = { cardNumber: number, expiry: "12 / " + year, cvc: "123" };
  for (const [id, value] of Object.entries(values)) {
    field(id).value = value;
    showFault(field(id), "");
  }
  showScheme();
  /** @type {HTMLDetailsElement} */ (document.querySelector("details.cards")).open = false;
  byId("status").textContent = words.filled;
  field("cardNumber").focus();
}

function startCard() {
  if (cardForm) return void showForm();
  if (!findField("cardNumber")) return; // nothing is paid, or nothing is entered
  formatWhileTyping(/** @type {HTMLInputElement} */ (field("cardNumber")), card.groupNumber);
  formatWhileTyping(/** @type {HTMLInputElement} */ (field("expiry")), card.groupExpiry);
  field("cardNumber").addEventListener("input", showScheme);
  showScheme();
}

/**
 * @param {HTMLElement | null} form
 * @param {() => unknown} act
 */
function onSubmit(form, act) {
  form?.addEventListener("submit", (e) => {
    e.preventDefault();
    if (!state.sending) act();
  });
}

export default function startPay() {
  startCard();
  startChoice();
  for (const input of presentFields()) {
    // an answer is checked with the form: a fault below it would move the button away from under a click
    if (!asked().includes(input)) input.addEventListener("blur", () => input.value && check(input));
    input.addEventListener("input", () => input.getAttribute("aria-invalid") && check(input));
  }
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-card]"))) {
    button.addEventListener("click", () => fillTestCard(button.dataset.card || ""));
  }
  document.getElementById("change")?.addEventListener("click", leaveForCalendar);
  onSubmit(byId("pay"), submit);
  onSubmit(document.getElementById("promo"), applyCode);
  for (const id of ["country", "taxId"]) {
    field(id).addEventListener("change", updateTax);
    field(id).addEventListener("change", askForSupply);
  }
  guessCountry();
  askForSupply();
  /** @type {HTMLButtonElement} */ (byId("submit")).disabled = false;
}
