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
}

/** What a customer may use, with questions that code asks. `stale`: the service cannot be reached now. */
export interface CachedAccess extends Access {
  stale: boolean;
}

/**
 * Keeps snapshots of customers' access. Within `maxAgeMs` it asks nobody; after it, whether the snapshot is still current,
 * which costs the service next to nothing; and while the service is down, it returns the last snapshot.
 */
export class AccessCache {
  readonly #known = new Map<string, Known>();
  readonly #client: Sundry;
  readonly #maxAgeMs: number;
  readonly #size: number;

  constructor(client: Sundry, options: AccessCacheOptions = {}) {
    this.#client = client;
    this.#maxAgeMs = options.maxAgeMs ?? 5_000;
    this.#size = options.size ?? 10_000;
  }

  /** Rejects only if the service cannot be reached and was never asked about the customer, or refuses the request. */
  async get(customer: string): Promise<CachedAccess> {
    const last = this.#known.get(customer);
    if (last && Date.now() - last.asked < this.#maxAgeMs) return { ...last.access, stale: false };
    try {
      const response = await this.#client.send("GET", `/v1/customer-access/${encodeURIComponent(customer)}`, {
        headers: last?.etag ? { "if-none-match": last.etag } : {},
      });
      const access = response.status === 304 && last ? last.access : (response.data as Access);
      this.#keep(customer, { access, etag: response.headers.get("etag"), asked: Date.now() });
      return { ...access, stale: false };
    } catch (error) {
      const outage = !(error instanceof SundryError) || error.isTemporary;
      if (!last || !outage) throw error;
      return { ...last.access, stale: true };
    }
  }

  /** Waits up to 25 seconds for a version above the given one. Use it on the page that a buyer comes back to. */
  async wait(customer: string, afterVersion: number): Promise<Access> {
    const access = await this.#client.access(customer, { afterVersion });
    this.#keep(customer, { access, etag: null, asked: Date.now() });
    return access;
  }

  /** Makes the next `get` ask the service: call it with each event that your webhook endpoint receives. */
  changed(event: Event): void {
    const last = this.#known.get(String(event.data["externalCustomerId"]));
    if (event.type === "customer.access_changed" && last) last.asked = 0;
  }

  /** Never replaces a snapshot by one of an earlier version, which a slower response may bring. */
  #keep(customer: string, fresh: Known): void {
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
