// The card processor's own form, and the challenge of the buyer's bank behind it. Its script comes from its own host and is
// loaded only where a card is taken.

let loading;
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

// mountForm draws the form. What we ask for ourselves (name, e-mail, country, postal code) it leaves out.
export async function mountForm(config, target) {
  const stripe = await load(config);
  const ours = config.asks ? { name: "never", email: "never", address: { country: "never", postalCode: "never" } } : undefined;
  const elements = stripe.elements({
    mode: config.amount > 0 ? "payment" : "setup",
    currency: config.currency,
    ...(config.amount > 0 && { amount: config.amount }),
    ...(config.amount > 0 && config.saves && { setupFutureUsage: "off_session" }),
    paymentMethodTypes: ["card", "link"],
    appearance: { theme: matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "stripe" },
  });
  const element = elements.create("payment", { fields: { billingDetails: ours ?? "auto" } });
  const ready = new Promise((resolve, reject) => {
    element.on("ready", resolve);
    element.on("loaderror", () => reject(new Error("the form was not loaded")));
  });
  element.mount(target);
  await ready;
  return {
    focus: () => element.focus(),
    // setAmount tells wallets what the order costs now; a form that only saves a card names no amount.
    setAmount: (amount) => config.amount > 0 && amount > 0 && elements.update({ amount }),
    // token is what the form makes of the card or wallet: {token}, or {problem} in the reader's language.
    async token(billing) {
      const checked = await elements.submit();
      if (checked.error) return { problem: checked.error.message };
      const params = billing ? { payment_method_data: { billing_details: billing } } : {};
      const made = await stripe.createConfirmationToken({ elements, params });
      return made.error ? { problem: made.error.message } : { token: made.confirmationToken.id };
    },
  };
}

// meetBank leads the buyer to their bank and comes back when they have answered, whatever they answered.
export async function meetBank(config, { clientSecret, redirectUrl }) {
  if (!clientSecret && !redirectUrl) return; // the bank has decided meanwhile
  if (redirectUrl) return location.assign(redirectUrl);
  const stripe = await load(config);
  await stripe.handleNextAction({ clientSecret });
}
