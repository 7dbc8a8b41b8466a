// The client of a Sundry service: every request has a secret key, what failed on the way is sent again with the
// idempotency key of the first attempt, and a refusal is a SundryError.
export { AccessCache, type AccessCacheOptions, type CachedAccess } from "./access.js";
export { Sundry, type CallOptions, type SundryOptions } from "./client.js";
export { SundryError, type ErrorDetail } from "./errors.js";
export { verifyWebhook, type MessageHeaders } from "./webhook.js";
export type * from "./types.js";
