// Starts the part of the checkout that the server has drawn.
import page, { send, readChallenge, readState, samePage, serverState, showCurrentState, wait } from "./net.js";
import { startBridge, setBusy, close } from "./bridge.js";
import { byId, fill } from "./dom.js";
import startHold from "./hold.js";

const words = page.text;

// Asks more and more seldom: quick when a processor responds quickly, quiet when it does not.
async function startProcessing() {
  for (let tries = 0, pause = 700; ; tries++, pause = Math.min(pause * 1.4, 10000)) {
    await wait(pause);
    if (document.hidden && tries > 3) continue;
    const { status, body } = await readState();
    if (status === 404 || (status === 200 && !samePage(body.state, page.state))) return showCurrentState();
    if (tries === 7) byId("slow").textContent = byId("slow").dataset.slow || "";
  }
}

function startAuthenticate() {
  const buttons = /** @type {HTMLButtonElement[]} */ ([...document.querySelectorAll("#approve, #refuse")]);
  let sending = false;
  /** @param {HTMLButtonElement} button */
  const answer = async (button) => {
    if (sending) return;
    sending = true;
    button.setAttribute("aria-busy", "true");
    byId("status").textContent = words.working;
    if (!(await visitBank())) {
      sending = false;
      button.removeAttribute("aria-busy");
      byId("status").textContent = "";
      byId("problem-text").textContent = words.form_unreachable;
      byId("problem").hidden = false;
      return byId("problem").focus();
    }
    const { status } = await send("authenticate", { approve: button.dataset.approve === "true" });
    const lost = status === 0 || status === 429 || status >= 500;
    if (!lost || (await readState()).body.state !== page.state) return showCurrentState();
    sending = false;
    button.removeAttribute("aria-busy");
    byId("status").textContent = "";
    byId("problem-text").textContent = status === 429 ? words.rate_limited : words.offline;
    byId("problem").hidden = false;
    byId("problem").focus();
  };
  for (const button of buttons) {
    button.addEventListener("click", () => answer(button));
    button.disabled = false;
  }
}

// The card processor's script leads the buyer to their bank; afterwards the server asks the processor how it ended.
async function visitBank() {
  if (!page.cardForm) return true;
  const challenge = await readChallenge();
  if (challenge.status === 409 || challenge.status === 410) return true; // it is over
  if (challenge.status !== 200) return false;
  try {
    const { meetBank } = await import("./cardform.js");
    await meetBank(page.cardForm, challenge.body);
    return true;
  } catch {
    return false;
  }
}

// Going back to the seller by itself: not from what is used here (an appointment, a download), and it stops as soon as
// the person touches, scrolls or moves the focus on the page. It leaves no step in the history, so the back button does
// not lead into it again.
const redirectAfter = 8; // seconds
function startPaid() {
  setBusy(false);
  const link = /** @type {HTMLAnchorElement | null} */ (document.getElementById("continue"));
  if (!link || page.stays || page.state !== "paid") return;
  const host = new URL(link.href).host.replace(/^www\./, "");
  byId("status").textContent = fill(words.redirecting, host, redirectAfter);
  byId("stay").hidden = false;
  const leave = setTimeout(() => location.replace(link.href), redirectAfter * 1000);
  const stay = () => {
    clearTimeout(leave);
    byId("status").textContent = "";
    byId("stay").hidden = true;
  };
  for (const kind of ["pointerdown", "keydown", "scroll", "focusin"]) addEventListener(kind, stay, { once: true });
}

// Another tab, the integrator or time may have moved the session on. What is being sent from here is followed there.
const sending = () => document.querySelector("#submit[aria-busy=true], #confirm[aria-busy=true], .bank [aria-busy=true]");

async function lookAgain() {
  if (document.hidden || sending()) return;
  const { status, body } = await readState();
  if (status === 200 && !samePage(body.state, serverState) && !sending()) showCurrentState(body.state === "paid");
}

// Somebody's time is kept for as long as this page shows, so its end is not left to chance.
async function watchTheHold() {
  startHold(async () => {
    for (let pause = 0; ; pause = 2000) {
      await wait(pause);
      await lookAgain();
    }
  });
  for (;;) {
    await wait(15000);
    await lookAgain();
  }
}

// Each step loads what it needs and nothing of the others.
const startChoosing = async () => (await import("./choose.js")).default();
const startPay = async () => (await import("./pay.js")).default();

/** @type {Record<string, () => unknown>} */
const start = {
  choose_mode: startChoosing,
  choose_time: startChoosing,
  details: startPay,
  pay: startPay,
  payment_failed: startPay,
  authenticating: startAuthenticate,
  loading: startProcessing,
  processing: startProcessing,
  paid: startPaid,
  already_paid: startPaid,
};

startBridge();
start[page.state]?.();
document.getElementById("done")?.addEventListener("click", close);
// A page that the browser kept may be older than what the session has become since.
addEventListener("pageshow", (e) => {
  if (e.persisted) void lookAgain();
});
if (page.state !== "paid" && page.state !== "already_paid") document.addEventListener("visibilitychange", lookAgain);
if (document.getElementById("hold")) watchTheHold();
