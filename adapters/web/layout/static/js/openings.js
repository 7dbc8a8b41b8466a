// The days and times that are open, each month read once.
import * as Z from "./zones.js";

/** @typedef {import("./slots.d.ts").Slot} Slot */

const longestRange = 62; // days of dates in one response

/** Explains, in words for the reader, why open times could not be read. */
export class UnavailableError extends Error {}

/**
 * @param {object} options
 * @param {import("./slots.d.ts").Source} options.source
 * @param {string} options.zone that days are counted in
 * @param {string} options.until the last day of the seller's that may be open
 * @param {Slot[]} options.held open to this buyer although nobody else can have them
 * @param {Slot[]} [options.freed] open to this buyer alone once they give up what they hold
 * @param {() => number} options.now
 */
export default function createOpenings({ source, zone, until, held, freed = [], now }) {
  /** @type {Map<string, Promise<Set<string>>>} */
  const months = new Map();
  const today = () => Z.dayOf(now(), zone);
  let own = [...held, ...freed.filter((s) => !held.some((h) => h.start === s.start))];
  const last = Z.addDays(until, 2); // the buyer's zone may be 25 hours ahead of the seller's

  /**
   * @param {string} from
   * @param {string} to
   */
  async function days(from, to) {
    if (from < today()) from = today();
    if (to > last) to = last;
    const ownDays = own.map((s) => Z.dayOf(s.start, zone)).filter((d) => d >= from && d <= to);
    if (from > to) return new Set(ownDays);
    return new Set([...(await source.dates(from, to, zone)), ...ownDays]);
  }

  return {
    zone,
    today,
    last,

    /** @param {string} month */
    daysOf(month) {
      let found = months.get(month);
      if (!found) {
        found = days(Z.firstOf(month), Z.lastOf(month));
        months.set(month, found);
        found.catch(() => months.delete(month));
      }
      return found;
    },

    /**
     * The first open day from one on, "" when there is none.
     * @param {string} from
     */
    async nextDay(from) {
      for (; from <= last; from = Z.addDays(from, longestRange)) {
        const found = [...(await days(from, Z.addDays(from, longestRange - 1)))].sort();
        if (found.length) return found[0];
      }
      return "";
    },

    /** @param {string} day */
    async slotsOf(day) {
      const open = await source.slots(day, zone);
      const more = own.filter((s) => Z.dayOf(s.start, zone) === day && !open.some((o) => o.start === s.start));
      return [...open, ...more].sort((a, b) => a.start - b.start);
    },

    /** Forgets what was read and what was freed: some of it turned out to be taken. */
    forget() {
      months.clear();
      own = held;
    },
  };
}
