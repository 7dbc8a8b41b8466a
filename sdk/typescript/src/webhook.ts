import type { Event } from "./types.js";

/** How far a message's time may be off, in seconds: an old message could be a replay. */
const lifetime = 5 * 60;

const bytes = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

const keyOf = (secret: string): Uint8Array<ArrayBuffer> => {
  let key: Uint8Array<ArrayBuffer> | undefined;
  try {
    key = bytes(secret.replace(/^whsec_/, ""));
  } catch {
    // It is no base64.
  }
  if (!key?.length) throw new Error("The secret of an endpoint reads whsec_ and base64.");
  return key;
};

/** The headers of a message: of fetch, or of Node's http in lower case. */
export type MessageHeaders = Headers | Record<string, string | string[] | undefined>;

const header = (headers: MessageHeaders, name: string): string => {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
};

/**
 * Checks a message with the secret of its endpoint (whsec_…) and returns its event. Pass the body as it arrived. Rejects a
 * message that the service did not sign, or signed too long ago. The same event may come twice: its id tells.
 */
export async function verifyWebhook(
  secret: string, headers: MessageHeaders, body: string, now: Date = new Date(),
): Promise<Event> {
  const id = header(headers, "webhook-id"), stamp = header(headers, "webhook-timestamp");
  const key = keyOf(secret);
  const invalid = (why = ""): Error => new Error(`The webhook message has no valid signature${why}.`);
  if (id === "" || !/^\d{1,11}$/.test(stamp)) throw invalid(": it lacks the header webhook-id or webhook-timestamp");
  if (Math.abs(now.getTime() / 1000 - Number(stamp)) > lifetime) {
    const signed = new Date(Number(stamp) * 1000);
    throw invalid(`: it was signed at ${signed.toISOString()}, and it is ${now.toISOString()} here`);
  }
  const mac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const signed = new TextEncoder().encode(`${id}.${stamp}.${body}`);
  for (const signature of header(headers, "webhook-signature").split(" ")) {
    const [version, text = ""] = signature.split(",");
    if (version !== "v1" || !/^[A-Za-z0-9+/]{43}=$/.test(text)) continue;
    if (await crypto.subtle.verify("HMAC", mac, bytes(text), signed)) return JSON.parse(body) as Event;
  }
  throw invalid();
}
