// Choosing times: where, which day, which hour, as often as the pack has sessions, then on
// to the payment. What can be chosen is the server's word, asked for as it is looked at.
import page, { openTimes, readState, samePage, send, serverState, showCurrentState } from "./net.js";
import { now } from "./hold.js";
import monthGrid from "./grid.js";
import timeList from "./times.js";
import * as Z from "./zones.js";

const $ = (id) => document.getElementById(id);
const words = page.text;
const plan = page.calendar;
const pack = plan?.sessions > 1;
const farthest = 62; // days of dates in one answer

const moment = (s) => ({ start: Date.parse(s.startsAt), end: Date.parse(s.endsAt) });
const held = (plan?.held || []).map(moment); // open to this buyer though nobody else can have them
let picks = [...held].sort((a, b) => a.start - b.start);
let zone = "";
let mode = "";
let times = []; // of the day shown
let months = new Map(); // month → promise of its open days, in the zone shown
let view = { month: "", day: "" }; // another one whenever the zone changes, so that late answers find themselves stale
let grid, list;

const say = (message) => ($("status").textContent = message);
const today = () => Z.dayOf(now(), zone);
const until = () => Z.addDays(plan.until, 1); // the buyer's day may be a day ahead of the creator's
const spoken = (s) => `${Z.dayWords(Z.dayOf(s.start, zone), { weekday: "long", day: "numeric", month: "long" })}, ${Z.clock(s.start, zone, page.twelveHours)} ${Z.zoneWords(s.start, zone)}`;
const same = (a) => (b) => a.start === b.start;

function problem(title, message) {
  $("problem-title").textContent = title;
  $("problem-text").textContent = message;
  $("problem").hidden = false;
  $("problem").focus();
}

class Unanswered extends Error {}

// ask answers the body, or throws what the person is to be told.
async function ask(what, query) {
  const { status, body } = await openTimes(what, { ...query, timezone: zone });
  if (status === 200) return body;
  if (status === 400 && body.code === "INVALID_TIMEZONE" && zone !== plan.zone) {
    useZone(plan.zone);
    throw new Unanswered("");
  }
  throw new Unanswered(status === 404 ? words.not_bookable : status === 429 ? words.rate_limited : words.offline_times);
}

async function openDays(from, to) {
  from = from < today() ? today() : from;
  to = to > until() ? until() : to;
  const mine = held.map((s) => Z.dayOf(s.start, zone)).filter((d) => d >= from && d <= to);
  if (from > to) return new Set(mine);
  return new Set([...(await ask("available-dates", { from, to })).dates, ...mine]);
}

function daysOf(month) {
  if (!months.has(month)) {
    const days = openDays(Z.firstOf(month), Z.lastOf(month));
    months.set(month, days);
    days.catch(() => months.delete(month));
  }
  return months.get(month);
}

async function nextOpen(from) {
  for (; from <= until(); from = Z.addDays(from, farthest)) {
    const days = [...(await openDays(from, Z.addDays(from, farthest - 1)))].sort();
    if (days.length) return days[0];
  }
  return "";
}

async function timesOf(day) {
  const open = (await ask("slots", { date: day })).slots.map(moment);
  const mine = held.filter((s) => Z.dayOf(s.start, zone) === day && !open.some(same(s)));
  return [...open, ...mine].sort((a, b) => a.start - b.start);
}

// failed shows that the calendar did not answer, with a way to ask again.
function failed(error, again) {
  if (!(error instanceof Unanswered)) throw error;
  if (!error.message) return;
  $("month-note").textContent = error.message;
  offer(words.retry, again);
  say(error.message);
}

function offer(label, act) {
  $("jump").hidden = !label;
  $("jump").firstElementChild.textContent = label;
  $("jump").onclick = act;
}

async function showMonth(month, day, quietly) {
  const mine = view;
  const stale = () => view !== mine || view.month !== month;
  view.month = month;
  $("month").textContent = Z.monthWords(month);
  for (const [id, stop] of [["previous", Z.monthOf(today())], ["next", Z.monthOf(until())]]) {
    $(id).setAttribute("aria-disabled", String(month === stop));
  }
  $("month-note").textContent = "";
  offer("");
  grid.show({ month, open: null, from: today(), until: until(), today: today(), selected: view.day, ...(day && { current: day }) });
  try {
    const open = await daysOf(month);
    if (stale()) return;
    grid.show({ open });
    if (!open.size && !quietly) await noteEmpty(month, stale);
  } catch (error) {
    if (!stale()) failed(error, () => showMonth(month));
  }
}

async function noteEmpty(month, stale) {
  const next = await nextOpen(Z.firstOf(Z.addMonths(month, 1)));
  if (stale()) return;
  $("month-note").textContent = next ? words.no_until.replace("%s", Z.dayWords(next)) : words.no_month.replace("%s", Z.monthWords(month));
  if (!next) return;
  offer(words.jump.replace("%s", Z.dayWords(next, { day: "numeric", month: "long" })), async () => {
    await showMonth(Z.monthOf(next), next);
    grid.focus();
  });
}

// showDay lists a day's times; whoever came by a choice hears how many there are.
async function showDay(day, aloud) {
  const mine = view;
  const stale = () => view !== mine || view.day !== day;
  view.day = day;
  grid.show({ selected: day });
  $("hours").hidden = false;
  $("day").textContent = Z.dayWords(day, { weekday: "long", day: "numeric", month: "long" });
  $("day-zone").textContent = words.loading;
  times = [];
  list.show([], true);
  try {
    const found = await timesOf(day);
    if (stale()) return;
    times = found;
    drawTimes(true);
    if (aloud) {
      const named = $("day").textContent;
      say(times.length === 1 ? words.day_one.replace("%s", named) : words.day_many.replace("%s", times.length).replace("%s", named));
    }
  } catch (error) {
    if (stale()) return;
    $("day-zone").textContent = "";
    failed(error, () => showDay(day, true));
  }
}

// near tells whether the creator needs more time between two sessions than these leave.
const near = (a, b) => a.start < b.end + plan.gapMinutes * 60000 && b.start < a.end + plan.gapMinutes * 60000;

function barred(slot) {
  if (!pack || picks.some(same(slot))) return "";
  if (picks.some((p) => near(p, slot))) return words.overlaps;
  return picks.length >= plan.sessions ? words.complete : "";
}

function drawTimes(fresh) {
  const zones = [...new Set(times.map((s) => Z.zoneWords(s.start, zone)))];
  $("day-zone").textContent = !times.length ? words.day_none
    : zones.length > 1 ? words.clock_change : `${Z.cityOf(zone)}, ${zones[0]}`;
  list.show(
    times.map((s) => ({
      start: new Date(s.start).toISOString(),
      label: Z.clock(s.start, zone, page.twelveHours) + (zones.length > 1 ? ` ${Z.zoneWords(s.start, zone)}` : ""),
      chosen: picks.some(same(s)),
      barred: barred(s),
    })),
    fresh,
  );
  $("times").classList.toggle("long", zones.length > 1);
}

function choose(index) {
  const slot = times[index];
  const already = picks.some(same(slot));
  if (!pack) picks = [slot];
  else if (already) return drop(slot);
  else if (barred(slot)) return say(barred(slot));
  else picks = [...picks, slot].sort((a, b) => a.start - b.start);
  drawChosen();
  say([words.chose.replace("%s", spoken(slot)), ...(pack ? [$("progress").textContent] : [])].join(" "));
}

function drop(slot) {
  picks = picks.filter((p) => !same(slot)(p));
  drawChosen();
  say([words.removed.replace("%s", spoken(slot)), $("progress").textContent].join(" "));
}

const progress = () => words.progress.replace("%s", picks.length).replace("%s", plan.sessions);

function drawChosen() {
  if (pack) $("progress").textContent = progress();
  $("chosen").replaceChildren(...picks.map(chosenItem));
  if (!picks.length) $("chosen").append(Object.assign(document.createElement("li"), { className: "none", textContent: words.nothing_chosen }));
  const missing = plan.sessions - picks.length;
  $("confirm").setAttribute("aria-disabled", String(missing !== 0));
  $("confirm-label").textContent = missing === 0 ? words.confirm
    : !pack ? words.choose_first : missing === 1 ? words.choose_one : words.choose_many.replace("%s", missing);
  drawTimes(false);
}

function chosenItem(slot) {
  const item = document.createElement("li");
  const what = document.createElement("div");
  const day = Object.assign(document.createElement("time"), {
    className: "day", dateTime: new Date(slot.start).toISOString(), textContent: Z.dayWords(Z.dayOf(slot.start, zone)),
  });
  const clock = Object.assign(document.createElement("span"), { className: "clock", textContent: Z.hours(slot.start, slot.end, zone, page.twelveHours) });
  what.append(day, " ", clock);
  item.append(what);
  if (!pack) return item;
  const remove = Object.assign(document.createElement("button"), { type: "button", className: "remove", textContent: words.remove });
  remove.setAttribute("aria-label", `${words.remove} ${spoken(slot)}`);
  remove.addEventListener("click", () => {
    const place = picks.findIndex(same(slot));
    drop(slot);
    const left = $("chosen").querySelectorAll("button");
    if (left.length) left[Math.min(place, left.length - 1)].focus();
    else grid.focus();
  });
  item.append(remove);
  return item;
}

function sending(now) {
  $("confirm").setAttribute("aria-busy", String(now));
  if (now) say(words.working);
}

async function confirm() {
  if ($("confirm").getAttribute("aria-busy") === "true") return;
  if (picks.length !== plan.sessions) return say($("confirm-label").textContent);
  $("problem").hidden = true;
  sending(true);
  const answer = await send("slots", {
    appointmentSlots: picks.map((p) => ({ startsAt: new Date(p.start).toISOString(), timezone: zone, ...(mode && { deliveryMode: mode }) })),
  });
  if (await moved(answer)) return;
  sending(false);
  say("");
  await explain(answer);
}

// moved follows a session that has gone on, by this choice or without it. An answer that was lost may have been a yes.
async function moved({ status, body }) {
  if (status === 0 || status >= 500) {
    const { status, body } = await readState();
    if (status !== 200 || samePage(body.state, serverState)) return false;
    return showCurrentState(body.state === "paid"), true;
  }
  if (status === 200 || status === 404 || status === 409 || status === 410) {
    return showCurrentState(body.code === "SESSION_ALREADY_PAID"), true;
  }
  return false;
}

async function explain({ status, body }) {
  if (status === 429) return problem(words.choose_title, words.rate_limited);
  if (status === 0 || status >= 500) return problem(words.offline_title, words.offline_times);
  if (body.code === "SLOTS_OVERLAP") return problem(words.together_title, words.together);
  if (body.code !== "SLOT_TAKEN" && body.code !== "SLOT_IN_PAST") return problem(words.choose_title, body.message || words.refused);
  await withoutTaken();
}

// withoutTaken looks which of the times is gone, keeps the others and shows what is open now.
async function withoutTaken() {
  try {
    const open = new Map();
    for (const day of new Set(picks.map((p) => Z.dayOf(p.start, zone)))) open.set(day, await timesOf(day));
    const gone = picks.filter((p) => !open.get(Z.dayOf(p.start, zone)).some(same(p)));
    picks = picks.filter((p) => !gone.includes(p));
    months = new Map();
    drawChosen();
    const day = gone.length ? Z.dayOf(gone[0].start, zone) : view.day;
    await showMonth(Z.monthOf(day), day, true);
    await showDay(day);
    if (!gone.length) return problem(words.together_title, words.together);
    const message = pack && picks.length ? words.gone_kept : words.gone;
    problem(words.gone_title, message.replace("%s", gone.map(spoken).join("; ")));
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    problem(words.choose_title, error.message || words.offline_times);
  }
}

// The browser's own zone and the seller's come first; typing finds any other by its city.
function fillZones() {
  const group = (label, options) => {
    const out = Object.assign(document.createElement("optgroup"), { label });
    out.append(...options.map(([value, text]) => new Option(text, value)));
    return out;
  };
  const own = Z.browserZone();
  const first = [...(own ? [[own, words.your_zone.replace("%s", Z.cityOf(own))]] : [])];
  if (plan.zone !== own) first.push([plan.zone, words.seller_zone.replace("%s", Z.cityOf(plan.zone))]);
  const regions = new Map();
  for (const name of [...new Set([...Z.allZones(), "UTC"])].sort()) {
    const region = name.includes("/") ? name.slice(0, name.indexOf("/")) : words.other_zones;
    regions.set(region, [...(regions.get(region) || []), [name, Z.cityOf(name)]]);
  }
  $("zone").replaceChildren(group(words.suggested_zones, first), ...[...regions].map(([region, all]) => group(region, all)));
}

function useZone(name) {
  zone = name;
  if (![...$("zone").options].some((o) => o.value === name)) $("zone").append(new Option(Z.cityOf(name), name));
  $("zone").value = name;
  months = new Map();
  return begin();
}

// begin shows the first day with open times, or the one last looked at.
async function begin() {
  view = { month: "", day: picks.length ? Z.dayOf(picks[0].start, zone) : "" };
  times = [];
  $("hours").hidden = true;
  drawChosen();
  const mine = view;
  try {
    const first = view.day || (await nextOpen(today()));
    if (view !== mine) return;
    $("planner").hidden = !first;
    $("nothing").hidden = Boolean(first);
    $("nothing-text").textContent = first ? "" : words.none;
    if (!first) return;
    const late = Z.monthOf(first) !== Z.monthOf(today()) && !picks.length;
    await Promise.all([showMonth(Z.monthOf(first), first), showDay(first)]);
    if (late && view === mine && view.month === Z.monthOf(first) && $("jump").hidden) $("month-note").textContent = words.no_until.replace("%s", Z.dayWords(first));
  } catch (error) {
    if (view !== mine) return;
    view.month = Z.monthOf(today());
    $("month").textContent = Z.monthWords(view.month);
    failed(error, begin);
  }
}

function turn(by) {
  const button = $(by < 0 ? "previous" : "next");
  if (button.getAttribute("aria-disabled") !== "true") showMonth(Z.addMonths(view.month, by));
}

function startModes(ready) {
  const inputs = [...document.querySelectorAll("input[name=mode]")];
  $("modes").disabled = false;
  for (const input of inputs) {
    input.checked = input.value === plan.held[0]?.mode;
    input.addEventListener("change", () => {
      mode = input.value;
      ready();
    });
  }
  mode = inputs.find((i) => i.checked)?.value || "";
  if (mode) ready();
}

export default function startCalendar() {
  if (!plan.zone) {
    $("nothing-text").textContent = words.not_bookable;
    $("planner").hidden = true;
    $("nothing").hidden = $("calendar").hidden = false;
    if ($("modes")) $("modes").hidden = true;
    return;
  }
  grid = monthGrid({
    table: $("days"), words,
    pick: (day) => showDay(day, true),
    turn: (month) => showMonth(month),
  });
  list = timeList({ box: $("times"), choose });
  fillZones();
  $("zone").addEventListener("change", () => useZone($("zone").value));
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  $("confirm").addEventListener("click", confirm);
  let begun = false;
  const ready = () => {
    $("calendar").hidden = false;
    if (!begun) useZone(plan.held[0]?.timezone || Z.browserZone() || plan.zone);
    begun = true;
  };
  if ($("modes")) startModes(ready);
  else ready();
}
