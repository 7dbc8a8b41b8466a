// The card processor's form on pages that are plain forms otherwise: saving a card, paying an invoice. What it makes of the
// card travels in a hidden field; what a bank asks is answered before its form is sent.
import { mountForm, meetBank } from "./cardform.js";

const config = JSON.parse(document.getElementById("page-data").textContent);

function say(form, message) {
  const line = form.querySelector("[data-problem]");
  line.textContent = message;
  line.hidden = !message;
}

function busy(form, now) {
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-busy", String(now));
    button.disabled = now;
  }
}

async function startForm(form) {
  let card;
  const mount = async () => {
    try {
      card = await mountForm(config, form.querySelector("[data-card]"));
      say(form, "");
    } catch {
      say(form, config.unreachable);
    }
    busy(form, false);
  };
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    busy(form, true);
    if (!card) return mount();
    const { token, problem } = await card.token();
    if (problem) {
      busy(form, false);
      return say(form, problem);
    }
    form.elements.confirmationToken.value = token;
    form.submit();
  });
  busy(form, true);
  await mount();
}

async function startChallenge(form) {
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    busy(form, true);
    say(form, "");
    try {
      const answer = await fetch(form.dataset.challenge, { credentials: "omit", cache: "no-store" });
      if (answer.ok) await meetBank(config, await answer.json());
      else if (answer.status !== 409) throw new Error("the challenge is not known"); // 409: it is over
      form.submit();
    } catch {
      busy(form, false);
      say(form, config.unreachable);
    }
  });
}

for (const form of document.querySelectorAll("form[data-card-form]")) startForm(form);
for (const form of document.querySelectorAll("form[data-challenge]")) startChallenge(form);
