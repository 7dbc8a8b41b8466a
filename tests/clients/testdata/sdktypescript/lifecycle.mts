// A day of a shop's backend with the TypeScript SDK. It prints what it saw.
import { Sundry, SundryError, verifyWebhook, type Invoice, type Refund } from "sundry-sdk";
import { receiver } from "./receiver.mjs";

const env = (name: string): string => process.env[name] ?? "";
let down = false;
const sundry = new Sundry({
  baseUrl: env("BASE_URL"), key: env("SECRET_KEY"), pauseMs: 10,
  fetch: (...request) => (down ? Promise.reject(new TypeError("the network is down")) : fetch(...request)),
});
const saw: Record<string, unknown> = {};

// a sale
const wanted = {
  catalog: { listing: env("LISTING"), plan: "pro" }, externalCustomerId: "user 42",
  successUrl: "https://shop.example/thanks", metadata: { order: "7" },
};
const session = await sundry.createSession(wanted, { idempotencyKey: "order-7" });
saw["sameSession"] = (await sundry.createSession(wanted, { idempotencyKey: "order-7" })).id === session.id;
await sundry.request("POST", `/v1/sandbox/checkout-sessions/${session.id}/pay`, {
  body: { cardNumber: "4242424242424242", email: "grace@example.com" },
});
const receipt = await sundry.waitForReceipt(session.id);
Object.assign(saw, { receipt: receipt.status, totalInCents: receipt.totalInCents });
const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
const path = `/v1/listings/${env("CALL")}/slots/range?from=${day}&to=${day}&timezone=UTC`;
const { days } = await sundry.request<{ days: { slots: { startsAt: string }[] }[] }>("GET", path);
const call = await sundry.createSession({
  listingId: env("CALL"), successUrl: "https://shop.example/thanks",
  appointmentSlots: [{ startsAt: days[0]?.slots[0]?.startsAt ?? "", timezone: "UTC" }],
});
saw["booked"] = call.totalInCents === 900;

// what it gives, also while the service is away
const cache = sundry.accessCache({ maxAgeMs: 0 });
await cache.wait("user 42", (receipt.accessVersion ?? 1) - 1);
await cache.get("user 42");
const access = await cache.get("user 42"); // by its ETag
const value = (key: string) => access.entitlements.find((entitlement) => entitlement.key === key)?.value;
Object.assign(saw, { export: value("export"), seats: value("seats") });
saw["planStatus"] = access.activePlans[0]?.status;
down = true;
const last = await cache.get("user 42");
down = false;
saw["stale"] = last.stale && last.activePlans[0]?.listingKey === env("LISTING");

// usage
const subscriptionId = receipt.subscriptionId ?? "", customerId = receipt.customerId ?? "";
await sundry.request("POST", "/v1/usage/billing-plans", {
  body: { subscriptionId, meterId: env("METER_ID"), priceId: env("PRICE_ID"), billingInterval: "month" },
});
const use = { subscriptionId, meter: "api.calls", quantity: "12.5" };
await sundry.reportUse({ ...use, idempotencyKey: "use-1" });
saw["duplicateUse"] = (await sundry.reportUse({ ...use, idempotencyKey: "use-1" })).duplicate;
saw["uses"] = (await sundry.reportUses([use, use])).filter((reported) => reported.accepted).length;

// customers, invoices, refunds
await sundry.updateCustomer(customerId, { billingAddress: { country: "IE" }, metadata: { crm: "4711" } });
const customer = await sundry.customer(customerId, { expand: ["subscriptions", "paymentMethods"] });
saw["crm"] = customer.metadata["crm"];
saw["expanded"] = Object.keys(customer.expanded ?? {}).length;
saw["portalUrl"] = (await sundry.portalUrl(customerId, "https://shop.example")) !== "";
const invoice = { customerId, currency: "eur", lineItems: [{ description: "Setup", amountInCents: 500 }] };
const made = await sundry.createInvoice("invoice-1", invoice);
saw["invoiceStatus"] = made.status;
saw["sameInvoice"] = (await sundry.createInvoice("invoice-1", invoice)).id === made.id;
let count = 0;
for await (const one of sundry.list<Invoice>("/v1/invoices")) if (one.id) count++;
saw["invoices"] = count;
let refund = await sundry.createRefund({ checkoutId: session.id, amountInCents: 300, reason: "goodwill" });
for (const end = Date.now() + 30_000; refund.status === "pending" && Date.now() < end; ) {
  await new Promise((resolve) => setTimeout(resolve, 50));
  refund = await sundry.request<Refund>("GET", `/v1/refunds/${refund.id}`);
}
saw["refundStatus"] = refund.status;

// refusals
const refusal = (promise: Promise<unknown>): Promise<SundryError> => promise.then(
  () => { throw new Error("nothing was refused"); },
  (error: unknown) => { if (error instanceof SundryError) return error; throw error; },
);
const invalid = await refusal(sundry.createCustomer({ email: "" }));
saw["refused"] = invalid.code;
saw["refusedField"] = invalid.details[0]?.field;
saw["missingScope"] = (await refusal(sundry.request("POST", "/v1/payouts", { body: { currency: "eur", amountInCents: 100 } }))).code;

// a message, and a forged one
const { url, received, close } = await receiver();
const endpoint = await sundry.request<{ id: string; secret: string }>("POST", "/v1/webhook-endpoints", { body: { url, events: ["*"] } });
await sundry.request("POST", `/v1/webhook-endpoints/${endpoint.id}/test`);
const message = await received;
close();
saw["webhook"] = (await verifyWebhook(endpoint.secret, message.headers, message.body)).type;
saw["forgedWebhook"] = await verifyWebhook(endpoint.secret, message.headers, `${message.body} `).then(() => "accepted", () => "refused");

const events: string[] = [];
for await (const page of sundry.events()) events.push(...page.data.map((event) => event.type));
saw["events"] = events;
console.log(JSON.stringify(saw));
process.exit(0);
