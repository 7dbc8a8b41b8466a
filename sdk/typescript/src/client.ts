import { AccessCache, type AccessCacheOptions } from "./access.js";
import { SundryError } from "./errors.js";
import type {
  Access, Customer, EventPage, Invoice, NewCustomer, NewInvoice, NewRefund, NewSession, NewSubscription, Receipt, Refund,
  Reported, Session, Subscription, Use,
} from "./types.js";

export interface SundryOptions {
  /** The address of the service, such as https://pay.example.com. */
  baseUrl: string;
  /** A secret key: sk_test_… or sk_live_…. Keep it on your backend. */
  key: string;
  /** How often a request is sent again; 3 unless set. */
  retries?: number;
  /**
   * The wait before the first retry in milliseconds, which doubles with each one; 500 unless set. A `Retry-After` counts before
   * it; one of more than a minute ends the retries.
   */
  pauseMs?: number;
  /** Milliseconds after which a request counts as lost; 60,000 unless set. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

export interface CallOptions {
  /**
   * A key of your own, such as your order's number: for 24 hours the same key has one effect, also when your program
   * starts again in between. Without it each call has a new key, which its retries share.
   */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

interface Sent extends CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** In the place of the client's. */
  retries?: number;
}

const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });

/** Query parameters; those that are undefined are left out. */
type Query = Record<string, string | number | boolean | undefined>;

const withQuery = (path: string, query: Query): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size > 0 ? `${path}?${search}` : path;
};

const decimal = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** JSON of a report, with the quantity to the digit: 0.1 as a float would not stay 0.1 with 26 digits. */
const reportJSON = (use: Use): string => {
  const quantity = String(use.quantity);
  if (!decimal.test(quantity)) throw new TypeError(`quantity is no decimal number: ${quantity}`);
  const { quantity: _, ...others } = use;
  return `{"quantity":${quantity},${JSON.stringify(others).slice(1)}`;
};

/** The longest wait that a response may ask of a request's retry. */
const maxRetryAfterMs = 60_000;

/** The client of a service. */
export class Sundry {
  readonly #options: Required<SundryOptions>;

  constructor(options: SundryOptions) {
    const { baseUrl, key, retries = 3, pauseMs = 500, timeoutMs = 60_000 } = options;
    // In JavaScript it may come from a variable of the environment that is not set.
    if (!/^https?:\/\//.test(baseUrl)) throw new Error("baseUrl must be an address such as https://pay.example.com.");
    this.#options = {
      baseUrl: baseUrl.replace(/\/+$/, ""), key, retries, pauseMs, timeoutMs,
      fetch: options.fetch ?? ((...request) => fetch(...request)),
    };
  }

  /** Sends any request, again after a lost connection, a 429, a 5xx and while the first attempt is under way. */
  async request<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    return (await this.send(method, path, sent)).data as T;
  }

  /** `request` with the response's status and headers. A body that is a string is JSON already. */
  async send(method: string, path: string, sent: Sent = {}): Promise<{ status: number; headers: Headers; data: unknown }> {
    const headers: Record<string, string> = {
      accept: "application/json", ...sent.headers, authorization: `Bearer ${this.#options.key}`,
    };
    if (sent.body !== undefined) headers["content-type"] = "application/json";
    if (method === "POST") headers["idempotency-key"] = sent.idempotencyKey || crypto.randomUUID();
    const body = typeof sent.body === "string" ? sent.body : JSON.stringify(sent.body);
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(method, path, headers, body, sent.signal);
      } catch (error) {
        const refusal = error instanceof SundryError ? error : undefined;
        const again = refusal === undefined || refusal.isTemporary && refusal.retryAfterMs <= maxRetryAfterMs;
        if (!again || attempt >= (sent.retries ?? this.#options.retries) || sent.signal?.aborted) throw error;
        const pause = this.#options.pauseMs * 2 ** attempt;
        await sleep(refusal?.retryAfterMs || pause / 2 + Math.random() * pause / 2, sent.signal);
      }
    }
  }

  async #attempt(
    method: string, path: string, headers: Record<string, string>, body: string | undefined, signal: AbortSignal | undefined,
  ): Promise<{ status: number; headers: Headers; data: unknown }> {
    const timeout = AbortSignal.timeout(this.#options.timeoutMs);
    // The service redirects nothing: a POST would arrive elsewhere as a GET.
    const init: RequestInit = { method, headers, redirect: "manual", signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
    if (body !== undefined) init.body = body;
    const response = await this.#options.fetch(this.#options.baseUrl + path, init);
    const text = await response.text();
    let data: unknown;
    try {
      data = text === "" ? undefined : JSON.parse(text);
    } catch (error) {
      if (response.ok) throw error;
    }
    if (!response.ok && response.status !== 304) {
      throw new SundryError(response.status, (data ?? {}) as Record<string, unknown>, response.headers);
    }
    return { status: response.status, headers: response.headers, data };
  }

  createSession(session: NewSession, options?: CallOptions): Promise<Session> {
    return this.request("POST", "/v1/checkout-sessions", { ...options, body: session });
  }

  receipt(sessionId: string, options?: CallOptions): Promise<Receipt> {
    return this.request("GET", `/v1/checkout-sessions/${encodeURIComponent(sessionId)}/receipt?headless=true`, options);
  }

  /** Reads the receipt until its outcome is known: never grant access because a buyer came back. */
  async waitForReceipt(sessionId: string, options?: CallOptions): Promise<Receipt> {
    for (;;) {
      const receipt = await this.receipt(sessionId, options);
      if (receipt.status !== "processing") return receipt;
      await sleep(Math.max(receipt.pollAfterMs ?? 0, 100), options?.signal);
    }
  }

  /** What a customer, named by your own id, may use now. With `afterVersion` it waits up to 25 seconds for a newer one. */
  access(customer: string, options: CallOptions & { afterVersion?: number } = {}): Promise<Access> {
    const { afterVersion, ...others } = options;
    const waitSeconds = afterVersion === undefined ? undefined : 25;
    const path = withQuery(`/v1/customer-access/${encodeURIComponent(customer)}`, { afterVersion, waitSeconds });
    return this.request("GET", path, others);
  }

  /** A cache of customers' access, which answers from its last snapshot while the service is down. */
  accessCache(options?: AccessCacheOptions): AccessCache {
    return new AccessCache(this, options);
  }

  createCustomer(customer: NewCustomer, options?: CallOptions): Promise<Customer> {
    return this.request("POST", "/v1/customers", { ...options, body: customer });
  }

  /** With `expand`, what belongs to it comes along in `expanded`, by name: `["paymentMethods"]`. */
  customer(id: string, options: CallOptions & { expand?: string[] } = {}): Promise<Customer> {
    const { expand, ...others } = options;
    const path = withQuery(`/v1/customers/${encodeURIComponent(id)}`, { expand: expand?.join(",") });
    return this.request("GET", path, others);
  }

  updateCustomer(id: string, change: Partial<NewCustomer>, options?: CallOptions): Promise<Customer> {
    return this.request("PATCH", `/v1/customers/${encodeURIComponent(id)}`, { ...options, body: change });
  }

  /** Forgets who a customer is (GDPR, article 17) and ends their access. */
  eraseCustomer(id: string, options?: CallOptions): Promise<Customer> {
    return this.request("POST", `/v1/customers/${encodeURIComponent(id)}/erase`, options);
  }

  /** Takes a subscription of another service over, on a saved card. End it there at the same time. */
  createSubscription(subscription: NewSubscription, options?: CallOptions): Promise<Subscription> {
    return this.request("POST", "/v1/subscriptions", { ...options, body: subscription });
  }

  /** With `expand`, what belongs to it comes along in `expanded`, by name: `["paymentMethods"]`. */
  subscription(id: string, options: CallOptions & { expand?: string[] } = {}): Promise<Subscription> {
    const { expand, ...others } = options;
    const path = withQuery(`/v1/subscriptions/${encodeURIComponent(id)}`, { expand: expand?.join(",") });
    return this.request("GET", path, others);
  }

  /** A link to the pages on which a customer manages subscriptions, cards and invoices. */
  async portalUrl(customerId: string, returnUrl: string, options?: CallOptions): Promise<string> {
    const sent = { ...options, body: { customerId, returnUrl } };
    return (await this.request<{ url: string }>("POST", "/v1/customer-portal-sessions", sent)).url;
  }

  /** Reports usage, which is durable when the promise is fulfilled. */
  reportUse(use: Use, options?: CallOptions): Promise<Reported> {
    const idempotencyKey = use.idempotencyKey ?? options?.idempotencyKey ?? crypto.randomUUID();
    const body = reportJSON({ ...use, idempotencyKey });
    return this.request("POST", "/v1/usage/events", { ...options, idempotencyKey, body });
  }

  /** Reports up to 1,000 uses. Each has an outcome of its own, in the same order. */
  async reportUses(uses: Use[], options?: CallOptions): Promise<Reported[]> {
    const events = uses.map((use) => reportJSON({ ...use, idempotencyKey: use.idempotencyKey ?? crypto.randomUUID() }));
    const sent = { ...options, body: `{"events":[${events.join(",")}]}` };
    return (await this.request<{ results: Reported[] }>("POST", "/v1/usage/events/batch", sent)).results;
  }

  /**
   * Pushes an invoice and charges the saved card. The key names it and never expires: with the same key and invoice it
   * returns the one that was made before. CARD_DECLINED (402) leaves an invoice whose charge is tried again; `error.body`
   * carries it.
   */
  async createInvoice(idempotencyKey: string, invoice: NewInvoice, options?: CallOptions): Promise<Invoice> {
    if (!idempotencyKey) throw new TypeError("An invoice takes an idempotency key.");
    try {
      return await this.request("POST", "/v1/invoices", { ...options, idempotencyKey, body: invoice });
    } catch (error) {
      if (error instanceof SundryError && error.code === "IDEMPOTENCY_KEY_REUSED") {
        return error.body["invoice"] as Invoice;
      }
      throw error;
    }
  }

  invoice(id: string, options?: CallOptions): Promise<Invoice> {
    return this.request("GET", `/v1/invoices/${encodeURIComponent(id)}`, options);
  }

  createRefund(refund: NewRefund, options?: CallOptions): Promise<Refund> {
    return this.request("POST", "/v1/refunds", { ...options, body: refund });
  }

  /** The pages of events behind a cursor, oldest first; without one from the first event. It ends when all were read. */
  async *events(cursor = "", filters: Query = {}, options?: CallOptions): AsyncGenerator<EventPage> {
    for (let more = true; more; ) {
      const query = { order: "asc", limit: 100, ...filters, cursor: cursor || undefined };
      const page: EventPage = await this.request("GET", withQuery("/v1/events", query), options);
      yield page;
      cursor = page.nextCursor;
      more = page.hasMore;
    }
  }

  /** Every object of a list route, such as /v1/invoices, newest first. */
  async *list<T>(path: string, filters: Query = {}, options?: CallOptions): AsyncGenerator<T> {
    for (let cursor: string | undefined; ; ) {
      const page: { data: T[]; hasMore: boolean; nextCursor: string | null } =
        await this.request("GET", withQuery(path, { limit: 100, ...filters, cursor }), options);
      yield* page.data;
      if (!page.hasMore || page.nextCursor === null) return;
      cursor = page.nextCursor;
    }
  }
}
