// The main flow of an integration with the generated client: a listing, a session, a payment, its receipt and access.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

declare const process: { env: Record<string, string | undefined> };

const env = (name: string): string => process.env[name] ?? "";
const baseUrl = env("BASE_URL");
const creator = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${env("ACCESS_TOKEN")}` } });
const backend = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${env("SECRET_KEY")}` } });

// ok returns the data of a response, or fails with the error that the API gave.
function ok<T>(step: string, response: { data?: T; error?: components["schemas"]["Error"] }): T {
  if (response.data === undefined) throw new Error(`${step}: ${response.error?.code} ${response.error?.message}`);
  return response.data;
}

const listing = ok("create", await creator.POST("/v1/listings", {
  body: { type: "DIGITAL", slug: env("SLUG"), title: "Type specimens", priceInCents: 1200, currency: "eur" },
}));
ok("publish", await creator.POST("/v1/listings/{id}/publish", { params: { path: { id: listing.id } } }));
const session = ok("session", await backend.POST("/v1/checkout-sessions", {
  params: { header: { "Idempotency-Key": env("SLUG") } },
  body: {
    catalog: { listing: env("SLUG") }, externalCustomerId: "user-42",
    successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/pricing",
  },
}));
const paid = ok("pay", await backend.POST("/v1/sandbox/checkout-sessions/{id}/pay", {
  params: { path: { id: session.id } }, body: { cardNumber: "4242424242424242", email: "grace@example.com" },
}));
const receipt = ok("receipt", await backend.GET("/v1/checkout-sessions/{id}/receipt", {
  params: { path: { id: session.id }, query: { headless: true } },
}));
const access = ok("access", await backend.GET("/v1/customer-access/{externalCustomerId}", {
  params: { path: { externalCustomerId: "user-42" } },
}));
const refused = await backend.POST("/v1/checkout-sessions", { body: { listingId: "lst_x", successUrl: "https://shop.example/thanks" } });
console.log(JSON.stringify({
  status: paid.status, receipt: receipt.status, plans: access.activePlans.map((plan) => plan.listingKey), refused: refused.error?.code,
}));
