// The step of the checkout that chooses times: where to meet, then when, then on to the payment. The server decides what
// can be chosen.
import page, { inWords, openTimes, readState, samePage, send, serverState, showCurrentState, showNextState } from "./net.js";
import createCalendar from "./calendar.js";
import { byId, fill } from "./dom.js";
import { now } from "./hold.js";
import { UnavailableError } from "./openings.js";
import * as Z from "./zones.js";

/**
 * @typedef {import("./slots.d.ts").Slot} Slot
 * @typedef {import("./types.d.ts").Reply} Reply
 * @typedef {import("./types.d.ts").CalendarData} CalendarData
 */

const words = page.text;
const state = {
  mode: "",
  /** @type {ReturnType<typeof createCalendar> | null} */
  calendar: null,
};

/**
 * @param {import("./types.d.ts").SlotView} s
 * @returns {Slot}
 */
const toSlot = (s) => ({ start: Date.parse(s.startsAt), end: Date.parse(s.endsAt), seats: s.remainingSeats });

/**
 * @param {string} title
 * @param {string} message
 */
function showProblem(title, message) {
  byId("problem-title").textContent = title;
  byId("problem-text").textContent = message;
  byId("problem").hidden = false;
  byId("problem").focus();
}

/**
 * Asks the public calendar, or throws what the reader is to be shown.
 * @param {CalendarData} data
 * @param {string} what
 * @param {Record<string, string>} query
 */
async function ask(data, what, query) {
  const { status, body } = await openTimes(what, query);
  if (status === 200) return body;
  if (status === 400 && body.code === "INVALID_TIMEZONE" && query.timezone !== data.zone) {
    state.calendar?.useZone(data.zone);
    throw new UnavailableError("");
  }
  throw new UnavailableError(status === 404 ? words.not_bookable : status === 429 ? words.rate_limited : words.offline_times);
}

/**
 * @param {CalendarData} data
 * @returns {import("./slots.d.ts").Source}
 */
const sourceOf = (data) => ({
  dates: async (from, to, timezone) => (await ask(data, "available-dates", { from, to, timezone })).dates,
  slots: async (date, timezone) => (await ask(data, "slots", { date, timezone })).slots.map(toSlot),
});

/**
 * @param {Slot[]} picks
 * @param {string} timezone
 */
async function submit(picks, timezone) {
  const reply = await send("slots", {
    appointmentSlots: picks.map((p) => ({ startsAt: new Date(p.start).toISOString(), timezone, ...(state.mode && { deliveryMode: state.mode }) })),
  });
  if (!(await follow(reply))) await explain(reply);
}

/**
 * Follows a session that has gone on, by this choice or without it. A response that was lost may have been a yes.
 * @param {Reply} reply
 */
async function follow({ status, body }) {
  if (status === 200) return showNextState(), true;
  if (status === 0 || status >= 500) {
    const current = await readState();
    if (current.status !== 200 || samePage(current.body.state, serverState)) return false;
    return showCurrentState(current.body.state === "paid"), true;
  }
  if (status === 404 || status === 409 || status === 410) return showCurrentState(body.code === "SESSION_ALREADY_PAID"), true;
  return false;
}

/** @param {Reply} reply */
async function explain({ status, body }) {
  if (status === 429) return showProblem(words.choose_title, words.rate_limited);
  if (status === 0 || status >= 500) return showProblem(words.offline_title, words.offline_times);
  if (body.code === "SLOTS_OVERLAP") return showProblem(words.together_title, words.together);
  if (!["SLOT_TAKEN", "SLOT_NOT_OFFERED", "SLOT_IN_PAST"].includes(body.code) || !state.calendar) {
    return showProblem(words.choose_title, inWords(body.message, words.refused));
  }
  try {
    const { gone, kept } = await state.calendar.dropTaken();
    if (!gone.length) return showProblem(words.together_title, words.together);
    showProblem(words.gone_title, fill(kept.length ? words.gone_kept : words.gone, gone.map(state.calendar.spoken).join("; ")));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    showProblem(words.choose_title, error.message || words.offline_times);
  }
}

/**
 * @param {CalendarData} data
 * @param {() => void} ready
 */
function startModes(data, ready) {
  const inputs = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input[name=mode]")]);
  /** @type {HTMLFieldSetElement} */ (byId("modes")).disabled = false;
  for (const input of inputs) {
    input.checked = input.value === data.held[0]?.mode;
    input.addEventListener("change", () => {
      state.mode = input.value;
      ready();
    });
  }
  state.mode = inputs.find((i) => i.checked)?.value || "";
  if (state.mode) ready();
}

export default function startChoosing() {
  const data = page.calendar;
  if (!data) return;
  const modes = document.getElementById("modes");
  if (!data.zone) {
    byId("nothing-text").textContent = words.not_bookable;
    byId("planner").hidden = true;
    byId("nothing").hidden = byId("calendar").hidden = false;
    if (modes) modes.hidden = true;
    return;
  }
  const ready = () => {
    state.calendar ||= createCalendar({
      source: sourceOf(data),
      words,
      locale: page.locale,
      twelveHours: page.twelveHours,
      firstWeekday: page.firstWeekday,
      now,
      sessions: data.sessions,
      gapMinutes: data.gapMinutes,
      until: data.until,
      zone: data.held[0]?.timezone || Z.browserZone() || data.zone,
      sellerZone: data.zone,
      held: data.held.map(toSlot),
      freed: data.freed.map(toSlot),
      submit,
      // What the buyer prefers goes to the session, so that later pages and mails follow it.
      onClock: (twelveHours) => void send("details", { hourCycle: twelveHours ? "12" : "24" }),
    });
  };
  if (modes) startModes(data, ready);
  else ready();
}
