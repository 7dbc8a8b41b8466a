// A small shop: it sends buyers to the hosted page and hears by webhook what they may use. It knows the public API only.
import express from "express";
import { Sundry, verifyWebhook } from "sundry-sdk";

const {
  ADDR = "127.0.0.1:3000",
  SUNDRY_URL = "http://127.0.0.1:8080",
  SUNDRY_KEY = "",
  SUNDRY_WEBHOOK_SECRET = "",
  LISTING = "workshop-club",
} = process.env;
const [host, port] = ADDR.split(":");
const sundry = new Sundry({ baseUrl: SUNDRY_URL, key: SUNDRY_KEY });
const access = sundry.accessCache({ maxAgeMs: 60_000 }); // a message says when to ask earlier

const app = express();

// The number of the order is made with the form: however often the button is pressed, it is one order.
app.get("/", (_, response) => {
  response.send(`<!doctype html><title>Shop</title>
<form method="post" action="/buy/user-1/${crypto.randomUUID()}"><button>Buy</button></form>`);
});

app.post("/buy/:user/:order", async (request, response) => {
  const { user, order } = request.params;
  const session = await sundry.createSession({
    catalog: { listing: LISTING },
    externalCustomerId: user,
    referenceId: order,
    successUrl: `http://${ADDR}/thanks`,
    cancelUrl: `http://${ADDR}/`,
  }, { idempotencyKey: `order-${order}` });
  response.redirect(303, session.checkoutUrl);
});

// The arrival here proves nothing: the receipt does.
app.get("/thanks", async (request, response) => {
  const receipt = await sundry.waitForReceipt(String(request.query["checkout_id"]));
  response.type("text").send(`The order is ${receipt.status}.\n`);
});

app.post("/webhooks", express.text({ type: "application/json" }), async (request, response) => {
  try {
    access.changed(await verifyWebhook(SUNDRY_WEBHOOK_SECRET, request.headers, request.body));
    response.sendStatus(204);
  } catch {
    response.sendStatus(401);
  }
});

app.get("/members/:user", async (request, response) => {
  const { activePlans } = await access.get(request.params.user);
  const isMember = activePlans.some((plan) => plan.listingKey === LISTING);
  response.status(isMember ? 200 : 403).type("text").send(isMember ? "Welcome, member!\n" : "members only\n");
});

app.listen(Number(port), host, () => console.log(`the shop is open at http://${ADDR}`));
