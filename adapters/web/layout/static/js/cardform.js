// The card processor's own form, and the challenge of the buyer's bank behind it. Its script comes from its own host and is
// loaded only where a card is taken.

/**
 * @typedef {import("./processor.d.ts").CardFormConfig} CardFormConfig
 * @typedef {import("./processor.d.ts").Processor} Processor
 */

/** @type {Promise<Processor> | undefined} */
let loading;

/**
 * @param {CardFormConfig} config
 * @returns {Promise<Processor>}
 */
function load({ scriptUrl, publishableKey, locale }) {
  loading ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: scriptUrl, async: true });
    script.addEventListener("load", () => resolve(window.Stripe(publishableKey, { locale })));
    script.addEventListener("error", () => {
      loading = undefined; // the next try asks for it again
      script.remove();
      reject(new Error("the form's script was not loaded"));
    });
    document.head.append(script);
  });
  return loading;
}

/**
 * What the form is made with: the amount that is charged now, or none where the card is only saved.
 * @param {CardFormConfig} config
 */
const elementOptions = ({ amount, unit, currency, saves }) => ({
  mode: amount > 0 ? "payment" : "setup",
  currency,
  ...(amount > 0 && { amount: amount * unit }),
  ...(amount > 0 && saves && { setupFutureUsage: "off_session" }),
  paymentMethodTypes: ["card", "link"],
  appearance: { theme: matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "stripe" },
});

/**
 * Draws the form. What we ask for ourselves (name, e-mail, country, postal code) it leaves out.
 * @param {CardFormConfig} config
 * @param {HTMLElement} target
 */
export async function mountForm(config, target) {
  const stripe = await load(config);
  const ours = config.asks ? { name: "never", email: "never", address: { country: "never", postalCode: "never" } } : undefined;
  const elements = stripe.elements(elementOptions(config));
  const element = elements.create("payment", { fields: { billingDetails: ours ?? "auto" } });
  /** @type {Promise<void>} */
  const ready = new Promise((resolve, reject) => {
    element.on("ready", resolve);
    element.on("loaderror", () => reject(new Error("the form was not loaded")));
  });
  element.mount(target);
  await ready;
  return {
    focus: () => element.focus(),

    /**
     * Shows wallets what the order costs now; a form that only saves a card names no amount.
     * @param {number} amount
     */
    setAmount(amount) {
      if (config.amount > 0 && amount > 0) elements.update({ amount: amount * config.unit });
    },

    /**
     * What the form makes of the card or wallet: a token, or the problem in the reader's language.
     * @param {import("./processor.d.ts").Billing} [billing]
     * @returns {Promise<{ token?: string, problem?: string }>}
     */
    async token(billing) {
      const checked = await elements.submit();
      if (checked.error) return { problem: checked.error.message };
      const params = billing ? { payment_method_data: { billing_details: billing } } : {};
      const made = await stripe.createConfirmationToken({ elements, params });
      return made.error ? { problem: made.error.message } : { token: made.confirmationToken?.id };
    },
  };
}

/**
 * Leads the buyer to their bank and comes back when they have responded, whatever they responded.
 * @param {CardFormConfig} config
 * @param {{ clientSecret?: string | null, redirectUrl?: string | null }} challenge
 */
export async function meetBank(config, { clientSecret, redirectUrl }) {
  if (redirectUrl) return location.assign(redirectUrl);
  if (!clientSecret) return; // the bank has decided meanwhile
  const stripe = await load(config);
  await stripe.handleNextAction({ clientSecret });
}
