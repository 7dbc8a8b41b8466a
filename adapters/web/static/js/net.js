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
export const samePage = (a, b) =>
  a === b || (form.includes(a) && form.includes(b)) || (paid.includes(a) && paid.includes(b));

// The server draws every state, so following it is loading the page again. Whoever finds
// the order paid without having paid here is told so and is not sent on by itself.
export function showCurrentState(paidElsewhere) {
  const here = new URL(location.href);
  if (paidElsewhere) here.searchParams.set("already", "1");
  location.replace(here);
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
