import type { Sundry } from "./client.js";
import { SundryError } from "./errors.js";
import type { Access, Event } from "./types.js";

export interface AccessCacheOptions {
  /** How long a snapshot is used unasked, in milliseconds; 5,000 unless set. */
  maxAgeMs?: number;
  /** How many customers are kept; 10,000 unless set. */
  size?: number;
}

interface Known {
  access: Access;
  etag: string | null;
  asked: number;
  /** Until then an outage is not asked about again. */
  staleUntil?: number;
}

/**
 * While there is a snapshot to return instead, the service has `askTimeoutMs` to respond in, is asked once and, after an
 * outage, not before `pauseMs` are over: what asks for access must not hang as long as the service does.
 */
const askTimeoutMs = 2_000, pauseMs = 1_000;

/** What a customer may use, with questions that code asks. `stale`: the service cannot be reached now. */
export interface CachedAccess extends Access {
  stale: boolean;
}

/**
 * Keeps snapshots of customers' access. Within `maxAgeMs` it asks nobody; after it, whether the snapshot is still current,
 * which costs the service next to nothing; and while the service is down, it returns the last snapshot, after two seconds
 * at most.
 */
export class AccessCache {
  readonly #known = new Map<string, Known>();
  readonly #client: Sundry;
  readonly #maxAgeMs: number;
  readonly #size: number;
  /** Counts what `changed` was told, so that a response from before a change is not taken for current. */
  #changes = 0;

  constructor(client: Sundry, options: AccessCacheOptions = {}) {
    this.#client = client;
    this.#maxAgeMs = options.maxAgeMs ?? 5_000;
    this.#size = options.size ?? 10_000;
  }

  /** Rejects only if the service cannot be reached and was never asked about the customer, or refuses the request. */
  async get(customer: string): Promise<CachedAccess> {
    const last = this.#known.get(customer);
    if (last && Date.now() - last.asked < this.#maxAgeMs) return { ...last.access, stale: false };
    if (last?.staleUntil !== undefined && Date.now() < last.staleUntil) return { ...last.access, stale: true };
    const changes = this.#changes;
    try {
      const response = await this.#client.send("GET", `/v1/customer-access/${encodeURIComponent(customer)}`, {
        headers: last?.etag ? { "if-none-match": last.etag } : {},
        ...(last && { retries: 0, signal: AbortSignal.timeout(askTimeoutMs) }),
      });
      const access = response.status === 304 && last ? last.access : (response.data as Access);
      this.#keep(customer, { access, etag: response.headers.get("etag"), asked: Date.now() }, changes);
      return { ...access, stale: false };
    } catch (error) {
      const outage = !(error instanceof SundryError) || error.isTemporary;
      if (!last || !outage) throw error;
      if (changes === this.#changes) last.staleUntil = Date.now() + Math.min(this.#maxAgeMs, pauseMs);
      return { ...last.access, stale: true };
    }
  }

  /** Waits up to 25 seconds for a version above the given one. Use it on the page that a buyer comes back to. */
  async wait(customer: string, afterVersion: number): Promise<Access> {
    const changes = this.#changes;
    const access = await this.#client.access(customer, { afterVersion });
    this.#keep(customer, { access, etag: null, asked: Date.now() }, changes);
    return access;
  }

  /** Makes the next `get` ask the service: call it with each event that your webhook endpoint receives. */
  changed(event: Event): void {
    if (event.type !== "customer.access_changed") return;
    this.#changes++;
    const last = this.#known.get(String(event.data["externalCustomerId"]));
    if (last) {
      last.asked = 0;
      delete last.staleUntil;
    }
  }

  /**
   * Never replaces a snapshot by one of an earlier version, which a slower response may bring. What was asked for before
   * the last of the changes is to be asked for again.
   */
  #keep(customer: string, fresh: Known, changes: number): void {
    if (this.#changes !== changes) fresh.asked = 0;
    const last = this.#known.get(customer);
    if (last && last.access.version > fresh.access.version) return;
    if (!last && this.#known.size >= this.#size) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    this.#known.set(customer, fresh);
  }
}
