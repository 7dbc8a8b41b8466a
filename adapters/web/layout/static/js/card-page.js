// The card processor's form on pages that are plain forms otherwise: saving a card, paying an invoice. What it makes of the
// card travels in a hidden field; what a bank asks is settled before its form is sent.
import { mountForm, meetBank } from "./cardform.js";

/** @type {import("./processor.d.ts").CardFormConfig} */
const config = JSON.parse(document.getElementById("page-data")?.textContent || "{}");

/**
 * @param {HTMLFormElement} form
 * @param {string} message
 */
function showProblem(form, message) {
  const line = /** @type {HTMLElement} */ (form.querySelector("[data-problem]"));
  line.textContent = message;
  line.hidden = !message;
}

/**
 * @param {HTMLFormElement} form
 * @param {boolean} now
 */
function setBusy(form, now) {
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-busy", String(now));
    button.disabled = now;
  }
}

/** @param {HTMLFormElement} form */
async function startForm(form) {
  /** @type {Awaited<ReturnType<typeof mountForm>> | undefined} */
  let card;
  const mount = async () => {
    try {
      card = await mountForm(config, /** @type {HTMLElement} */ (form.querySelector("[data-card]")));
      showProblem(form, "");
    } catch {
      showProblem(form, config.unreachable);
    }
    setBusy(form, false);
  };
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    setBusy(form, true);
    if (!card) return mount();
    const { token, problem } = await card.token();
    if (problem) {
      setBusy(form, false);
      return showProblem(form, problem);
    }
    /** @type {HTMLInputElement} */ (form.elements.namedItem("confirmationToken")).value = token || "";
    form.submit();
  });
  setBusy(form, true);
  await mount();
}

/** @param {HTMLFormElement} form */
function startChallenge(form) {
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    setBusy(form, true);
    showProblem(form, "");
    try {
      const response = await fetch(form.dataset.challenge || "", { credentials: "omit", cache: "no-store" });
      if (response.ok) await meetBank(config, await response.json());
      else if (response.status !== 409) throw new Error("the challenge is not known"); // 409: it is over
      form.submit();
    } catch {
      setBusy(form, false);
      showProblem(form, config.unreachable);
    }
  });
}

/** @param {string} selector */
const forms = (selector) => /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll(selector));
for (const form of forms("form[data-card-form]")) void startForm(form);
for (const form of forms("form[data-challenge]")) startChallenge(form);
