/** One fault of a request. */
export interface ErrorDetail {
  field: string;
  code: string;
  message: string;
}

/** Reads either form of Retry-After, seconds or a date, in milliseconds; 0 without one. */
const readRetryAfter = (header: string | null): number => {
  const ms = Number(header) * 1000;
  return Math.max((Number.isNaN(ms) ? Date.parse(header ?? "") - Date.now() : ms) || 0, 0);
};

/** A refusal by the service. Switch on `code`; `message` is for developers. */
export class SundryError extends Error {
  override readonly name = "SundryError";
  readonly code: string;
  readonly requestId: string;
  readonly details: ErrorDetail[];
  /** How many milliseconds the service asks to wait; 0 where it does not. A client waits for at most a minute of it. */
  readonly retryAfterMs: number;

  constructor(
    readonly status: number,
    /** The whole response: some refusals carry the object that they are about. */
    readonly body: Record<string, unknown>,
    headers: Headers,
  ) {
    const location = headers.get("location");
    const said = typeof body["message"] === "string" ? body["message"] : `The service responded with ${status}.`;
    super(location ? `${said} It leads to ${location}: the baseUrl is not the service's.` : said);
    this.code = typeof body["code"] === "string" ? body["code"] : "INTERNAL"; // by a proxy, not by the service
    this.requestId = typeof body["requestId"] === "string" ? body["requestId"] : headers.get("x-request-id") ?? "";
    this.details = Array.isArray(body["details"]) ? (body["details"] as ErrorDetail[]) : [];
    this.retryAfterMs = readRetryAfter(headers.get("retry-after"));
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status >= 500 || this.code === "IDEMPOTENCY_IN_PROGRESS";
  }
}
