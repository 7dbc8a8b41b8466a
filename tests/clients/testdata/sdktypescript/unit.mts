// What the TypeScript SDK does when the service does not respond as it should.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Sundry, SundryError, verifyWebhook } from "sundry-sdk";

type Answer = { status: number; body?: string; headers?: Record<string, string> } | "lost";

/** A client whose requests get the answers in turn, the last one from then on. */
function client(...answers: Answer[]): { sundry: Sundry; sent: { url: string; headers: Headers; body: string }[] } {
  const sent: { url: string; headers: Headers; body: string }[] = [];
  const sundry = new Sundry({
    baseUrl: "https://pay.example/", key: "sk_test_1", pauseMs: 1,
    fetch: (url, init) => {
      assert.equal(init?.redirect, "manual");
      sent.push({ url: String(url), headers: new Headers(init?.headers), body: String(init?.body ?? "") });
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? "lost";
      if (answer === "lost") return Promise.reject(new TypeError("fetch failed"));
      const { status, headers = {} } = answer;
      return Promise.resolve(new Response(status === 304 ? null : answer.body ?? "", { status, headers }));
    },
  });
  return { sundry, sent };
}

test("a retry keeps the key", async () => {
  const { sundry, sent } = client({ status: 503 }, "lost", { status: 429, headers: { "retry-after": "0" } }, { status: 201, body: '{"id":"cs_1"}' });
  assert.equal((await sundry.createSession({ listingId: "lst_1", successUrl: "https://x.example" })).id, "cs_1");
  assert.equal(sent.length, 4);
  assert.ok(sent[0]?.headers.get("idempotency-key"));
  assert.equal(new Set(sent.map((request) => `${request.headers.get("idempotency-key")} ${request.body}`)).size, 1);
  assert.equal(sent[0]?.url, "https://pay.example/v1/checkout-sessions");
});

test("a refusal is not sent again", async () => {
  const { sundry, sent } = client({ status: 400, body: '{"code":"VALIDATION_FAILED","message":"m","requestId":"req_1","details":[{"field":"email"}]}' });
  await assert.rejects(sundry.createCustomer({ email: "" }), (error) =>
    error instanceof SundryError && error.code === "VALIDATION_FAILED" && error.requestId === "req_1" && error.details[0]?.field === "email");
  assert.equal(sent.length, 1);
});

test("retries end", async () => {
  const { sundry, sent } = client({ status: 502, body: "<html>" });
  await assert.rejects(sundry.receipt("cs_1"), (error) => error instanceof SundryError && error.code === "INTERNAL" && error.status === 502);
  assert.equal(sent.length, 4);
  await assert.rejects(sundry.receipt("cs_1", { signal: AbortSignal.abort() }));
});

test("a redirect is not followed", async () => {
  const { sundry, sent } = client({ status: 301, headers: { location: "https://pay.example.com/v1/customers" } });
  await assert.rejects(sundry.createCustomer({ email: "" }), (error) =>
    error instanceof SundryError && error.status === 301 && error.message.includes("https://pay.example.com/"));
  assert.equal(sent.length, 1);
});

test("nobody waits for a day", async () => {
  for (const header of ["86400", "99999999999999", "Infinity", new Date(Date.now() + 86_400_000).toUTCString()]) {
    const { sundry, sent } = client({ status: 429, headers: { "retry-after": header } });
    await assert.rejects(sundry.receipt("cs_1"), (error) => error instanceof SundryError && error.retryAfterMs > 80_000_000);
    assert.equal(sent.length, 1, header);
  }
  for (const header of ["-5", "soon", "", new Date(Date.now() - 86_400_000).toUTCString()]) {
    const { sundry, sent } = client({ status: 503, headers: { "retry-after": header } }, { status: 200, body: "{}" });
    await sundry.receipt("cs_1");
    assert.equal(sent.length, 2, header);
  }
});

// As an optional setting that was not set arrives.
test("an undefined option is left out", async () => {
  let sent = 0;
  const unset = { retries: undefined, pauseMs: undefined, timeoutMs: undefined } as object;
  const sundry = new Sundry({ baseUrl: "https://pay.example", key: "sk_test_1", ...unset, fetch: () => {
    const status = ++sent <= 10 ? 503 : 400; // or it would go on for ever
    return Promise.resolve(new Response("", { status, headers: { "retry-after": "0.001" } }));
  } });
  await assert.rejects(sundry.receipt("cs_1"), (error) => error instanceof SundryError && error.status === 503);
  assert.equal(sent, 4);
});

test("an empty key is none", async () => {
  const { sundry, sent } = client("lost", { status: 201, body: "{}" });
  await sundry.createRefund({ paymentId: "pay_1", reason: "r" }, { idempotencyKey: "" });
  assert.ok(sent[0]?.headers.get("idempotency-key"));
  assert.equal(sent[1]?.headers.get("idempotency-key"), sent[0]?.headers.get("idempotency-key"));
  await assert.rejects(sundry.createInvoice("", { customerId: "cus_1", currency: "eur", lineItems: [] }), TypeError);
  assert.equal(sent.length, 2);
});

test("a quantity is sent to the digit", async () => {
  const { sundry, sent } = client({ status: 202, body: "{}" });
  await sundry.reportUse({ subscriptionId: "sub_1", meter: "m", quantity: "123456789012345678.123456789012", idempotencyKey: "k" });
  assert.equal(sent[0]?.body, '{"quantity":123456789012345678.123456789012,"subscriptionId":"sub_1","meter":"m","idempotencyKey":"k"}');
  assert.throws(() => sundry.reportUse({ subscriptionId: "sub_1", meter: "m", quantity: '1,"meter":"x"' }), TypeError);
});

test("the cache serves while the service is down", async () => {
  const { sundry, sent } = client(
    { status: 200, headers: { etag: '"1"' }, body: '{"externalCustomerId":"u","version":1,"activePlans":[],"entitlements":[]}' },
    { status: 304, headers: { etag: '"1"' } }, { status: 500, body: "{}" });
  const cache = sundry.accessCache({ maxAgeMs: 3_600_000 });
  const changed = (type: string) => cache.changed({ id: "evt_1", type, createdAt: "", livemode: false, data: { externalCustomerId: "u" } });
  for (const [event, requests, stale] of [["", 1, false], ["payment.completed", 1, false], ["customer.access_changed", 2, false], ["customer.access_changed", 3, true], ["", 3, true]] as const) {
    if (event !== "") changed(event);
    const access = await cache.get("u");
    assert.deepEqual([access.version, access.stale, sent.length], [1, stale, requests], event);
  }
  assert.equal(sent[1]?.headers.get("if-none-match"), '"1"');
  await assert.rejects(cache.get("stranger"));
});

test("the cache has patience", async () => {
  let asked = 0;
  const sundry = new Sundry({
    baseUrl: "https://pay.example", key: "sk_test_1",
    fetch: (_, init) => ++asked === 1 ? Promise.resolve(new Response('{"version":1}')) :
      new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))),
  });
  const cache = sundry.accessCache({ maxAgeMs: 0 }), begin = Date.now();
  assert.equal((await cache.get("u")).stale, false);
  const alive = setTimeout(() => undefined, 30_000); // timeouts of signals keep no process
  assert.equal((await cache.get("u")).stale, true);
  clearTimeout(alive);
  assert.ok(Date.now() - begin < 10_000);
});

test("a change counts while the service is asked", async () => {
  let asked = 0;
  const sundry = new Sundry({
    baseUrl: "https://pay.example", key: "sk_test_1",
    fetch: () => {
      if (++asked === 1) {
        const data = { externalCustomerId: "u" };
        cache.changed({ id: "evt_1", type: "customer.access_changed", createdAt: "", livemode: false, data });
      }
      return Promise.resolve(new Response(`{"version":${asked}}`));
    },
  });
  const cache = sundry.accessCache({ maxAgeMs: 3_600_000 });
  for (const version of [1, 2, 2]) assert.equal((await cache.get("u")).version, version);
});

test("a revoked key is not served from memory", async () => {
  const { sundry } = client({ status: 200, body: '{"version":3}' }, { status: 401, body: '{"code":"UNAUTHENTICATED"}' });
  const cache = sundry.accessCache({ maxAgeMs: 0 });
  await cache.get("u");
  await assert.rejects(cache.get("u"), (error) => error instanceof SundryError && error.code === "UNAUTHENTICATED");
});

// The secret, the message and its signature are the example of the Standard Webhooks specification.
test("messages are verified", async () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", body = '{"test": 2432232314}', at = 1614265330_000;
  const right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  const headers = (signature: string) => ({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330", "webhook-signature": signature,
  });
  assert.deepEqual(await verifyWebhook(secret, new Headers(headers(`v1,AAAA ${right}`)), body, new Date(at)), { test: 2432232314 });
  for (const [signature, text, time] of [
    [right, `${body} `, at], [right.replace("g0", "h0"), body, at], [right.replace("v1", "v2"), body, at], ["", body, at],
    [right, body, at + 301_000], [right, body, at - 301_000],
  ] as const) {
    await assert.rejects(verifyWebhook(secret, headers(signature), text, new Date(time)), /signature/);
  }
  await assert.rejects(verifyWebhook(secret, headers(right), body, new Date(at + 301_000)), /signed at 2021-02-25T15:02:10/);
  await assert.rejects(verifyWebhook(secret, {}, body, new Date(at)), /lacks the header/);
  for (const wrong of ["whsec_", "whsec_not base64!"]) {
    await assert.rejects(verifyWebhook(wrong, headers(right), body, new Date(at)), /reads whsec_ and base64/);
  }
});

test("a client without an address says so", () => {
  for (const baseUrl of [undefined, "", "127.0.0.1:8080"]) {
    assert.throws(() => new Sundry({ baseUrl: baseUrl as string, key: "sk_test_1" }), /baseUrl must be an address such as/);
  }
});
