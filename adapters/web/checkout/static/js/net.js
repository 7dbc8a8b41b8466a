// Talking to the session this page shows.

/** @typedef {import("./types.d.ts").Reply} Reply */

/** @type {import("./types.d.ts").PageData} */
const page = JSON.parse(document.getElementById("page-data")?.textContent || "{}");
export default page;

/** @param {string} path */
const address = (path) => "/c/" + encodeURIComponent(page.secret) + "/" + path;

/**
 * Sends JSON. A lost connection has status 0, because then nobody here can know whether the server acted.
 * @param {string} path
 * @param {unknown} body
 */
export function send(path, body) {
  return ask(address(path), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

export const readChallenge = () => ask(address("challenge"), {});

export const readState = () => ask(address("state"), {});

/**
 * Asks the public calendar of the listing this page sells.
 * @param {string} what
 * @param {Record<string, string>} query
 */
export function openTimes(what, query) {
  const { listingId = "", variantId = "", minutes = 0 } = page.calendar || {};
  const all = new URLSearchParams({ variantId, durationMinutes: String(minutes), ...query });
  return ask(`/v1/listings/${encodeURIComponent(listingId)}/${what}?${all}`, {});
}

/**
 * @param {string} url
 * @param {RequestInit} options
 * @returns {Promise<Reply>}
 */
async function ask(url, options) {
  try {
    const response = await fetch(url, {
      ...options,
      credentials: "omit",
      cache: "no-store",
      signal: AbortSignal.timeout(40000),
    });
    return { status: response.status, body: await response.json().catch(() => ({})) };
  } catch {
    return { status: 0, body: {} };
  }
}

// The states one page shows: moving between them needs no new page.
const form = ["details", "pay", "payment_failed", "loading"];
const paid = ["paid", "already_paid"];
const choosing = ["choose_mode", "choose_time"];

/**
 * @param {string} a
 * @param {string} b
 */
export const samePage = (a, b) => a === b || [form, paid, choosing].some((states) => states.includes(a) && states.includes(b));

// While times are changed there is a session that could be paid.
export const serverState = page.changing ? "pay" : page.state;

function here() {
  const url = new URL(location.href);
  url.searchParams.delete("change");
  return url;
}

/**
 * The server draws every state, so following it is loading the page again. A buyer who finds the order paid without having
 * paid here is shown that and is not redirected.
 * @param {boolean} [paidElsewhere]
 */
export function showCurrentState(paidElsewhere) {
  const url = here();
  if (paidElsewhere) url.searchParams.set("already", "1");
  location.replace(url);
}

/** Goes on from the calendar to the payment, as a step that the browser's Back takes back to the calendar. */
export function showNextState() {
  const calendar = here();
  calendar.searchParams.set("change", "1");
  history.replaceState(null, "", calendar);
  location.assign(here());
}

/**
 * Waits, at most until the browser is online again: then there is an answer to be had.
 * @param {number} ms
 */
export const wait = (ms) =>
  new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      done(undefined);
    };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
  });

/**
 * A refusal in the reader's language: the API's message is English and the most exact, any other reader gets the page's text.
 * @param {string | undefined} message
 * @param {string} own
 */
export const inWords = (message, own) => (page.locale.startsWith("en") && message) || own;
