// Instants and days as people read them: pure functions over Intl, no page. An instant is
// in milliseconds, a day is "2026-03-08", a month is "2026-03".

// Making a formatter costs more than using it.
const made = new Map();
function formatter(locale, options) {
  const key = locale + JSON.stringify(options);
  if (!made.has(key)) made.set(key, new Intl.DateTimeFormat(locale, options));
  return made.get(key);
}

function zonePart(locale, instant, zone, timeZoneName) {
  const parts = formatter(locale, { timeZone: zone, timeZoneName }).formatToParts(instant);
  return parts.find((p) => p.type === "timeZoneName")?.value || "";
}

export const offset = (instant, zone) => zonePart("en-US", instant, zone, "shortOffset").replace(/^(GMT|UTC)/, "UTC").replace("-", "−");

// Each English knows the abbreviations of its own part of the world, and writes an offset
// for the others.
const englishes = ["en-US", "en-GB", "en-AU", "en-CA", "en-NZ", "en-IN", "en-ZA"];
export function abbreviation(instant, zone) {
  for (const locale of englishes) {
    const name = zonePart(locale, instant, zone, "short");
    if (name && !/^(GMT|UTC)./.test(name) && name !== "UTC") return name;
  }
  return "";
}

// zoneWords tells apart even the two hours of which a change of clocks makes one twice.
export function zoneWords(instant, zone) {
  const name = abbreviation(instant, zone);
  return name ? `${name} (${offset(instant, zone)})` : offset(instant, zone);
}

export const clock = (instant, zone, twelveHours) =>
  formatter("en-GB", twelveHours
    ? { timeZone: zone, hour: "numeric", minute: "2-digit", hourCycle: "h12" }
    : { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(instant);

export const dayOf = (instant, zone) =>
  formatter("sv-SE", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }).format(instant);

// hours says when a session is, from and to. Where the clocks change in between, both ends say theirs.
export function hours(start, end, zone, twelveHours) {
  const [first, last] = [zoneWords(start, zone), zoneWords(end, zone)];
  let to = clock(end, zone, twelveHours);
  if (dayOf(start, zone) !== dayOf(end, zone)) to = dayWords(dayOf(end, zone), { weekday: "short", day: "numeric", month: "long" }) + ", " + to;
  return `${clock(start, zone, twelveHours)}${first === last ? "" : " " + first} – ${to} ${last}`;
}

const utc = (day) => Date.UTC(+day.slice(0, 4), +day.slice(5, 7) - 1, +(day.slice(8) || 1));
const iso = (instant) => new Date(instant).toISOString().slice(0, 10);

export const addDays = (day, n) => iso(utc(day) + n * 86400000);
export const monthOf = (day) => day.slice(0, 7);
export const firstOf = (month) => month + "-01";
export const weekdayOf = (day) => new Date(utc(day)).getUTCDay();
export function addMonths(month, n) {
  return iso(Date.UTC(+month.slice(0, 4), +month.slice(5, 7) - 1 + n, 1)).slice(0, 7);
}
export const lastOf = (month) => addDays(firstOf(addMonths(month, 1)), -1);

export const dayWords = (day, options) =>
  formatter("en-GB", { timeZone: "UTC", ...(options || { weekday: "long", day: "numeric", month: "long", year: "numeric" }) }).format(utc(day));
export const monthWords = (month) => dayWords(firstOf(month), { month: "long", year: "numeric" });

// The first day of the week where the person lives: 0 is Sunday.
export function firstWeekday() {
  try {
    const here = new Intl.Locale(navigator.language);
    return (here.getWeekInfo?.() || here.weekInfo).firstDay % 7;
  } catch {
    return 1;
  }
}

export const browserZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone || "";
export const cityOf = (zone) => zone.slice(zone.indexOf("/") + 1).replaceAll("_", " ").replaceAll("/", ", ");
export const allZones = () => Intl.supportedValuesOf?.("timeZone") || [];
