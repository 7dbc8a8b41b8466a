// Moving an appointment: the calendar of the checkout over the times that this appointment can be moved to. The choice is
// confirmed on a page of its own.
import createCalendar from "./calendar.js";
import { UnavailableError } from "./openings.js";
import * as Z from "./zones.js";

/** @typedef {import("./slots.d.ts").Slot} Slot */

/**
 * What the server passes to the page; see calendarData there.
 * @type {{ path: string, locale: string, twelveHours: boolean, firstWeekday: number, now: number, zone: string, sellerZone: string, until: string, text: Record<string, string> }}
 */
const page = JSON.parse(document.getElementById("page-data")?.textContent || "{}");
const loaded = Date.now();

/**
 * The open times on some days of any zone: the server counts days in the buyer's, so it is asked for one more on each side.
 * @param {string} from
 * @param {string} to
 * @param {string} zone
 * @returns {Promise<Slot[]>}
 */
async function read(from, to, zone) {
  const query = new URLSearchParams({ from: Z.addDays(from, -1), to: Z.addDays(to, 1) });
  const response = await fetch(`${page.path}/times?${query}`, { credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(40000) }).catch(() => null);
  if (!response?.ok) throw new UnavailableError(response?.status === 429 ? page.text.rate_limited : page.text.offline_times);
  /** @type {{ slots: { startsAt: string, endsAt: string }[] }} */
  const { slots } = await response.json();
  const times = slots.map((s) => ({ start: Date.parse(s.startsAt), end: Date.parse(s.endsAt) }));
  return times.filter(({ start }) => Z.dayOf(start, zone) >= from && Z.dayOf(start, zone) <= to);
}

createCalendar({
  source: {
    dates: async (from, to, zone) => [...new Set((await read(from, to, zone)).map((s) => Z.dayOf(s.start, zone)))],
    slots: (day, zone) => read(day, day, zone),
  },
  words: page.text,
  locale: page.locale,
  twelveHours: page.twelveHours,
  firstWeekday: page.firstWeekday,
  now: () => page.now + Date.now() - loaded,
  sessions: 1,
  gapMinutes: 0,
  until: page.until,
  zone: page.zone,
  sellerZone: page.sellerZone,
  held: [],
  submit: ([choice]) => {
    location.assign(`${page.path}/reschedule?${new URLSearchParams({ to: new Date(choice.start).toISOString() })}`);
    return Promise.resolve();
  },
});
