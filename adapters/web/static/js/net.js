// Talking to the session this page shows.

const page = JSON.parse(document.getElementById("page-data").textContent);
export default page;

const address = (path) => "/c/" + encodeURIComponent(page.secret) + "/" + path;

// send answers {status, body}; a lost connection answers status 0, because then nobody
// here can know whether the server acted.
export async function send(path, body) {
  return ask(address(path), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

export const readState = () => ask(address("state"), {});

// openTimes asks the public calendar of the listing this page sells.
export function openTimes(what, query) {
  const { listingId, variantId, minutes } = page.calendar;
  const all = new URLSearchParams({ variantId, durationMinutes: minutes, ...query });
  return ask(`/v1/listings/${encodeURIComponent(listingId)}/${what}?${all}`, {});
}

async function ask(url, options) {
  try {
    const answer = await fetch(url, {
      ...options,
      credentials: "omit",
      cache: "no-store",
      signal: AbortSignal.timeout(40000),
    });
    return { status: answer.status, body: await answer.json().catch(() => ({})) };
  } catch {
    return { status: 0, body: {} };
  }
}

// The states one page shows: moving between them needs no new page.
const form = ["details", "pay", "payment_failed", "loading"];
const paid = ["paid", "already_paid"];
const choosing = ["choose_mode", "choose_time"];
export const samePage = (a, b) => a === b || [form, paid, choosing].some((page) => page.includes(a) && page.includes(b));

// Whoever chooses times anew has a session that could be paid.
export const serverState = page.changing ? "pay" : page.state;

// The server draws every state, so following it is loading the page again. Whoever finds
// the order paid without having paid here is told so and is not sent on by itself.
export function showCurrentState(paidElsewhere) {
  const here = new URL(location.href);
  here.searchParams.delete("change");
  if (paidElsewhere) here.searchParams.set("already", "1");
  location.replace(here);
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
