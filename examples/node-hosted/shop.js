// A small shop: it sends buyers to the hosted page and hears by webhook what they may use. It knows the public API only.
import { randomUUID } from "node:crypto";
import express from "express";
import { Webhook } from "standardwebhooks";

const {
  ADDR = "127.0.0.1:3000",
  SUNDRY_URL = "http://127.0.0.1:8080",
  SUNDRY_KEY = "",
  SUNDRY_WEBHOOK_SECRET = "",
  LISTING = "workshop-club",
} = process.env;
const [host, port] = ADDR.split(":");
const webhook = new Webhook(SUNDRY_WEBHOOK_SECRET);
/** @type {Map<string, { activePlans: { listingKey: string }[] }>} */
const access = new Map(); // what each user may use; a real shop has a database

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>} the response, whose shape is in the API reference
 */
async function sundry(method, path, body) {
  const response = await fetch(SUNDRY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${SUNDRY_KEY}`, "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response.json();
}

const app = express();

app.get("/", (_, response) => {
  response.send(`<!doctype html><title>Shop</title><form method="post" action="/buy/user-1"><button>Buy</button></form>`);
});

app.post("/buy/:user", async (request, response) => {
  const session = await sundry("POST", "/v1/checkout-sessions", {
    catalog: { listing: LISTING },
    externalCustomerId: request.params.user,
    successUrl: `http://${ADDR}/thanks`,
    cancelUrl: `http://${ADDR}/`,
  });
  response.redirect(303, session.checkoutUrl);
});

// The arrival here proves nothing: the receipt does.
app.get("/thanks", async (request, response) => {
  const { checkout_id: id, return_token: token } = request.query;
  const query = new URLSearchParams({ returnToken: String(token) });
  const receipt = await sundry("GET", `/v1/checkout-sessions/${encodeURIComponent(String(id))}/receipt?${query}`);
  response.type("text").send(`The order is ${receipt.status}.\n`);
});

app.post("/webhooks", express.raw({ type: "application/json" }), async (request, response) => {
  /** @type {any} */
  let event;
  try {
    event = webhook.verify(request.body, /** @type {Record<string, string>} */ (request.headers));
  } catch {
    response.sendStatus(401);
    return;
  }
  const user = event.data.externalCustomerId;
  if (event.type === "customer.access_changed") access.set(user, await sundry("GET", `/v1/customer-access/${encodeURIComponent(user)}`));
  response.sendStatus(204);
});

app.get("/members/:user", (request, response) => {
  const plans = access.get(request.params.user)?.activePlans ?? [];
  const isMember = plans.some((plan) => plan.listingKey === LISTING);
  response.status(isMember ? 200 : 403).type("text").send(isMember ? "Welcome, member!\n" : "members only\n");
});

app.listen(Number(port), host, () => console.log(`the shop is open at http://${ADDR}`));
