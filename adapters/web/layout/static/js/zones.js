// Instants and days as people read them: pure functions over Intl, no page. An instant is
// in milliseconds, a day is "2026-03-08", a month is "2026-03".

// The reader's locale (BCP 47), as the server formats for them.
let reader = "en-US";
/** @param {string} tag */
export const setLocale = (tag) => (reader = tag || reader);

// Making a formatter costs more than using it.
/** @type {Map<string, Intl.DateTimeFormat>} */
const made = new Map();
/**
 * @param {string} locale
 * @param {Intl.DateTimeFormatOptions} options
 * @returns {Intl.DateTimeFormat}
 */
function formatter(locale, options) {
  const key = locale + JSON.stringify(options);
  let found = made.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(locale, options);
    made.set(key, found);
  }
  return found;
}

/**
 * @param {string} locale
 * @param {number} instant
 * @param {string} zone
 * @param {"short" | "shortOffset"} timeZoneName
 */
function zonePart(locale, instant, zone, timeZoneName) {
  const parts = formatter(locale, { timeZone: zone, timeZoneName }).formatToParts(instant);
  return parts.find((p) => p.type === "timeZoneName")?.value || "";
}

/**
 * @param {number} instant
 * @param {string} zone
 */
export const offset = (instant, zone) => zonePart("en-US", instant, zone, "shortOffset").replace(/^(GMT|UTC)/, "UTC").replace(/\+0$/, "").replace("-", "−");

// Each English knows the abbreviations of its own part of the world, and writes an offset
// for the others.
const englishes = ["en-US", "en-GB", "en-AU", "en-CA", "en-NZ", "en-IN", "en-ZA"];
/**
 * @param {number} instant
 * @param {string} zone
 */
export function abbreviation(instant, zone) {
  for (const locale of englishes) {
    const name = zonePart(locale, instant, zone, "short");
    if (name && !/^(GMT|UTC)./.test(name) && name !== "UTC") return name;
  }
  return "";
}

/**
 * Distinguishes even the two hours of which a change of clocks makes one twice.
 * @param {number} instant
 * @param {string} zone
 */
export function zoneWords(instant, zone) {
  const name = abbreviation(instant, zone);
  return name ? `${name} (${offset(instant, zone)})` : offset(instant, zone);
}

/**
 * @param {number} instant
 * @param {string} zone
 * @param {boolean} twelveHours
 */
export const clock = (instant, zone, twelveHours) =>
  (twelveHours
    ? formatter("en-US", { timeZone: zone, hour: "numeric", minute: "2-digit", hourCycle: "h12" })
    : formatter("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" })
  ).format(instant).replace("\u202f", " ");

/**
 * @param {number} instant
 * @param {string} zone
 */
export const dayOf = (instant, zone) =>
  formatter("sv-SE", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }).format(instant);

/**
 * When an appointment is, from and to. Where the clocks change in between, both ends name theirs.
 * @param {number} start
 * @param {number} end
 * @param {string} zone
 * @param {boolean} twelveHours
 */
export function hours(start, end, zone, twelveHours) {
  const [first, last] = [zoneWords(start, zone), zoneWords(end, zone)];
  let to = clock(end, zone, twelveHours);
  if (dayOf(start, zone) !== dayOf(end, zone)) to = dayWords(dayOf(end, zone)) + ", " + to;
  return `${clock(start, zone, twelveHours)}${first === last ? "" : " " + first} – ${to} ${last}`;
}

/** @param {string} day */
const utc = (day) => Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1, Number(day.slice(8) || 1));
/** @param {number} instant */
const iso = (instant) => new Date(instant).toISOString().slice(0, 10);

/**
 * @param {string} day
 * @param {number} n
 */
export const addDays = (day, n) => iso(utc(day) + n * 86400000);
/** @param {string} day */
export const monthOf = (day) => day.slice(0, 7);
/** @param {string} month */
export const firstOf = (month) => month + "-01";
/** @param {string} day */
export const weekdayOf = (day) => new Date(utc(day)).getUTCDay();
/**
 * @param {string} month
 * @param {number} n
 */
export function addMonths(month, n) {
  return iso(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)) - 1 + n, 1)).slice(0, 7);
}
/** @param {string} month */
export const lastOf = (month) => addDays(firstOf(addMonths(month, 1)), -1);

/**
 * @param {string} day
 * @param {Intl.DateTimeFormatOptions} [options]
 */
export const dayWords = (day, options) =>
  formatter(reader, { timeZone: "UTC", ...(options || { weekday: "long", day: "numeric", month: "long", year: "numeric" }) }).format(utc(day));
/** @param {string} month */
export const monthWords = (month) => dayWords(firstOf(month), { month: "long", year: "numeric" });

export const browserZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone || "";
/** @param {string} zone */
export const cityOf = (zone) => zone.slice(zone.indexOf("/") + 1).replaceAll("_", " ").replaceAll("/", ", ");
