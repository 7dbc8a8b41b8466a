// Starts the part of the checkout that the server has drawn.
import page, { send, readState, samePage, serverState, showCurrentState, wait } from "./net.js";
import { startBridge, setBusy, close } from "./bridge.js";
import startCalendar from "./calendar.js";
import startHold from "./hold.js";
import startPay from "./pay.js";

const $ = (id) => document.getElementById(id);
const words = page.text;

// Asks more and more seldom: quick when a processor answers quickly, quiet when it does not.
async function startProcessing() {
  for (let tries = 0, pause = 700; ; tries++, pause = Math.min(pause * 1.4, 10000)) {
    await wait(pause);
    if (document.hidden && tries > 3) continue;
    const { status, body } = await readState();
    if (status === 404 || (status === 200 && !samePage(body.state, page.state))) return showCurrentState();
    if (tries === 7) $("slow").textContent = $("slow").dataset.slow;
  }
}

function startAuthenticate() {
  const buttons = [$("approve"), $("refuse")];
  let sending = false;
  const answer = async (button) => {
    if (sending) return;
    sending = true;
    button.setAttribute("aria-busy", "true");
    $("status").textContent = words.working;
    const { status, body } = await send("authenticate", { approve: button.dataset.approve === "true" });
    const lost = status === 0 || status === 429 || status >= 500;
    if (!lost || (await readState()).body.state !== page.state) return showCurrentState();
    sending = false;
    button.removeAttribute("aria-busy");
    $("status").textContent = "";
    $("problem-text").textContent = status === 429 ? words.rate_limited : body.message || words.offline;
    $("problem").hidden = false;
    $("problem").focus();
  };
  for (const button of buttons) {
    button.addEventListener("click", () => answer(button));
    button.disabled = false;
  }
}

// Going back to the shop by itself stops as soon as the person touches the page: they
// may be reading the receipt or starting the download. It leaves no step in the history,
// so the back button does not lead into it again.
function startPaid() {
  setBusy(false);
  const link = $("continue");
  if (!link) return;
  if (page.state !== "paid") return;
  $("status").textContent = words.redirecting.replace("%s", new URL(link.href).host.replace(/^www\./, ""));
  const leave = setTimeout(() => location.replace(link.href), 2000);
  const stay = () => {
    clearTimeout(leave);
    $("status").textContent = "";
  };
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, stay, { once: true });
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

const start = {
  choose_mode: startCalendar,
  choose_time: startCalendar,
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
$("done")?.addEventListener("click", close);
if (page.state !== "paid" && page.state !== "already_paid") document.addEventListener("visibilitychange", lookAgain);
if ($("hold")) watchTheHold();
