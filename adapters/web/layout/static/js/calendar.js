// Choosing times in a calendar: which day, which hour, as often as the pack has appointments. Where the times come from and
// where the choice goes is the caller's.
import { byId, create, fill } from "./dom.js";
import createGrid from "./grid.js";
import createOpenings, { UnavailableError } from "./openings.js";
import createTimeList from "./times.js";
import { barrier, add, includes, remove } from "./selection.js";
import fillZones from "./zoneselect.js";
import * as Z from "./zones.js";

/**
 * @typedef {import("./slots.d.ts").Slot} Slot
 * @typedef {import("./slots.d.ts").CalendarOptions} CalendarOptions
 */

const longDay = /** @type {const} */ ({ weekday: "long", day: "numeric", month: "long" });

/**
 * Starts the calendar that the server has drawn.
 * @param {CalendarOptions} options
 */
export default function createCalendar(options) {
  const { words, sessions } = options;
  const isPack = sessions > 1;
  const state = {
    zone: "",
    twelveHours: options.twelveHours,
    month: "",
    day: "",
    /** @type {Slot[]} in their order */
    picks: [...options.held].sort((a, b) => a.start - b.start),
    /** @type {Slot[]} of the day shown */
    slots: [],
    generation: 0, // rises with the zone, so that late responses find themselves stale
    submitting: false,
  };
  /** @type {ReturnType<typeof createOpenings>} */
  let openings;

  Z.setLocale(options.locale);
  const grid = createGrid({ table: /** @type {HTMLTableElement} */ (byId("days")), words, start: options.firstWeekday, pick: (day) => void showDay(day, true), turn: (month) => void showMonth(month) });
  const list = createTimeList({ box: byId("times"), choose });
  const zoneSelect = /** @type {HTMLSelectElement} */ (byId("zone"));
  const showZone = fillZones(zoneSelect, options.sellerZone, words);

  /** @param {string} message */
  const announce = (message) => (byId("status").textContent = message);
  /** @param {Slot} s */
  const spoken = (s) => `${Z.dayWords(Z.dayOf(s.start, state.zone), longDay)}, ${Z.clock(s.start, state.zone, state.twelveHours)} ${Z.zoneWords(s.start, state.zone)}`;
  const progressText = () => fill(words.progress, state.picks.length, sessions);

  /**
   * @param {string} label
   * @param {() => void} [act]
   */
  function offer(label, act) {
    const button = /** @type {HTMLButtonElement} */ (byId("jump"));
    button.hidden = !label;
    /** @type {HTMLElement} */ (button.firstElementChild).textContent = label;
    button.onclick = act || null;
  }

  /**
   ** Shows that the calendar did not respond, with a way to ask again.
   * @param {unknown} error
   * @param {() => void} again
   */
  function showFailure(error, again) {
    if (!(error instanceof UnavailableError)) throw error;
    if (!error.message) return;
    byId("month-note").textContent = error.message;
    offer(words.retry, again);
    announce(error.message);
  }

  /**
   * Draws a month at once and marks its open days when they are known.
   * @param {string} month
   * @param {string} [day] that the keyboard is led to
   * @param {boolean} [quiet] without a word about an empty month
   */
  async function showMonth(month, day, quiet) {
    const generation = state.generation;
    const isStale = () => state.generation !== generation || state.month !== month;
    drawMonth(month, day);
    try {
      const open = await openings.daysOf(month);
      if (isStale()) return;
      grid.show({ open });
      if (!open.size && !quiet) await noteEmptyMonth(month, isStale);
    } catch (error) {
      if (!isStale()) showFailure(error, () => void showMonth(month));
    }
  }

  /**
   * @param {string} month
   * @param {string} [day]
   */
  function drawMonth(month, day) {
    state.month = month;
    byId("month").textContent = Z.monthWords(month);
    byId("previous").setAttribute("aria-disabled", String(month === Z.monthOf(openings.today())));
    byId("next").setAttribute("aria-disabled", String(month === Z.monthOf(openings.last)));
    byId("month-note").textContent = "";
    offer("");
    const today = openings.today();
    grid.show({ month, open: null, from: today, until: openings.last, today, selected: state.day, ...(day ? { current: day } : {}) });
  }

  /**
   * @param {string} month
   * @param {() => boolean} isStale
   */
  async function noteEmptyMonth(month, isStale) {
    const next = await openings.nextDay(Z.firstOf(Z.addMonths(month, 1)));
    if (isStale()) return;
    byId("month-note").textContent = next ? fill(words.no_until, Z.dayWords(next)) : fill(words.no_month, Z.monthWords(month));
    if (!next) return;
    offer(fill(words.jump, Z.dayWords(next, { day: "numeric", month: "long" })), () => {
      void showMonth(Z.monthOf(next), next).then(() => grid.focus());
    });
  }

  /**
   * Lists a day's times; after a choice their number is announced.
   * @param {string} day
   * @param {boolean} [aloud]
   */
  async function showDay(day, aloud) {
    const generation = state.generation;
    const isStale = () => state.generation !== generation || state.day !== day;
    state.day = day;
    state.slots = [];
    grid.show({ selected: day });
    byId("hours").hidden = false;
    byId("day").textContent = Z.dayWords(day, longDay);
    byId("day-zone").textContent = words.loading;
    list.show([], true);
    try {
      const found = await openings.slotsOf(day);
      if (isStale()) return;
      state.slots = found;
      drawSlots(true);
      const name = Z.dayWords(day, longDay);
      if (aloud) announce(found.length === 1 ? fill(words.day_one, name) : fill(words.day_many, found.length, name));
    } catch (error) {
      if (isStale()) return;
      byId("day-zone").textContent = "";
      showFailure(error, () => void showDay(day, true));
    }
  }

  /** @param {Slot} slot */
  function barred(slot) {
    const key = barrier(state.picks, slot, sessions, options.gapMinutes);
    return key && words[key];
  }

  /** @param {boolean} fresh */
  function drawSlots(fresh) {
    const { slots, zone } = state;
    const zones = [...new Set(slots.map((s) => Z.zoneWords(s.start, zone)))];
    byId("day-zone").textContent = !slots.length ? words.day_none : zones.length > 1 ? words.clock_change : [...new Set([Z.cityOf(zone), zones[0]])].join(", ");
    list.show(
      slots.map((s) => ({
        start: new Date(s.start).toISOString(),
        label: Z.clock(s.start, zone, state.twelveHours) + (zones.length > 1 ? ` ${Z.zoneWords(s.start, zone)}` : "") + (s.seats ? ` · ${fill(words.seats_left, s.seats)}` : ""),
        chosen: includes(state.picks, s),
        barred: barred(s),
      })),
      fresh,
    );
    byId("times").classList.toggle("long", zones.length > 1 || slots.some((s) => s.seats));
  }

  /** @param {number} index */
  function choose(index) {
    const slot = state.slots[index];
    if (isPack && includes(state.picks, slot)) return drop(slot);
    const reason = barred(slot);
    if (reason) return announce(reason);
    state.picks = isPack ? add(state.picks, slot) : [slot];
    drawPicks();
    announce([fill(words.chose, spoken(slot)), ...(isPack ? [progressText()] : [])].join(" "));
  }

  /** @param {Slot} slot */
  function drop(slot) {
    state.picks = remove(state.picks, slot);
    drawPicks();
    announce([fill(words.removed, spoken(slot)), progressText()].join(" "));
  }

  function drawPicks() {
    const { picks } = state;
    if (isPack) byId("progress").textContent = progressText();
    byId("chosen").replaceChildren(...picks.map(pickItem));
    if (!picks.length) byId("chosen").append(create("li", { className: "none", textContent: words.nothing_chosen }));
    const missing = sessions - picks.length;
    byId("confirm").setAttribute("aria-disabled", String(missing !== 0));
    byId("confirm-label").textContent =
      missing === 0 ? words.confirm : !isPack ? words.choose_first : missing === 1 ? words.choose_one : fill(words.choose_many, missing);
    drawSlots(false);
  }

  /** @param {Slot} slot */
  function pickItem(slot) {
    const { zone, twelveHours } = state;
    const day = create("time", { className: "day", dateTime: new Date(slot.start).toISOString(), textContent: Z.dayWords(Z.dayOf(slot.start, zone)) });
    const hours = create("span", { className: "clock", textContent: Z.hours(slot.start, slot.end, zone, twelveHours) });
    const item = create("li", {}, create("div", {}, day, " ", hours));
    if (!isPack) return item;
    const button = create("button", { type: "button", className: "remove", textContent: words.remove, ariaLabel: `${words.remove} ${spoken(slot)}` });
    button.addEventListener("click", () => {
      const place = state.picks.findIndex((p) => p.start === slot.start);
      drop(slot);
      const left = byId("chosen").querySelectorAll("button");
      if (left.length) left[Math.min(place, left.length - 1)].focus();
      else grid.focus();
    });
    item.append(button);
    return item;
  }

  async function confirm() {
    if (state.submitting) return;
    if (state.picks.length !== sessions) return announce(byId("confirm-label").textContent || "");
    byId("problem").hidden = true;
    setSubmitting(true);
    try {
      await options.submit(state.picks, state.zone);
    } finally {
      setSubmitting(false);
    }
  }

  /** @param {boolean} now */
  function setSubmitting(now) {
    state.submitting = now;
    byId("confirm").setAttribute("aria-busy", String(now));
    announce(now ? words.working : "");
  }

  /** @param {string} name */
  function useZone(name) {
    state.zone = showZone(name);
    openings = createOpenings({ source: options.source, zone: state.zone, until: options.until, held: options.held, freed: options.freed, now: options.now });
    void begin();
  }

  /** Shows the first day with open times, or the one last shown; the month is drawn before they are known. */
  async function begin() {
    const generation = ++state.generation;
    const isStale = () => state.generation !== generation;
    const { picks } = state;
    state.day = picks.length ? Z.dayOf(picks[0].start, state.zone) : "";
    state.slots = [];
    byId("hours").hidden = true;
    drawPicks();
    drawMonth(Z.monthOf(state.day || openings.today()));
    try {
      const first = state.day || (await openings.nextDay(openings.today()));
      if (isStale()) return;
      byId("planner").hidden = !first;
      byId("nothing").hidden = Boolean(first);
      byId("nothing-text").textContent = first ? "" : words.none;
      if (!first) return;
      const month = Z.monthOf(first);
      await Promise.all([showMonth(month, first), showDay(first)]);
      const isLate = month !== Z.monthOf(openings.today()) && !picks.length;
      if (isLate && !isStale() && state.month === month && byId("jump").hidden) byId("month-note").textContent = fill(words.no_until, Z.dayWords(first));
    } catch (error) {
      if (!isStale()) showFailure(error, () => void begin());
    }
  }

  /** @param {number} by */
  function turn(by) {
    if (byId(by < 0 ? "previous" : "next").getAttribute("aria-disabled") !== "true") void showMonth(Z.addMonths(state.month, by));
  }

  const clocks = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-hours]"));

  /** @param {boolean} twelveHours */
  function useClock(twelveHours) {
    state.twelveHours = twelveHours;
    for (const button of clocks) button.setAttribute("aria-pressed", String((button.dataset.hours === "12") === twelveHours));
    drawPicks();
    options.onClock?.(twelveHours);
  }

  zoneSelect.addEventListener("change", () => useZone(zoneSelect.value));
  for (const button of clocks) button.addEventListener("click", () => useClock(button.dataset.hours === "12"));
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("confirm").addEventListener("click", () => void confirm());
  byId("calendar").hidden = false;
  useZone(options.zone);

  return {
    useZone,
    /** @returns {string} */
    zone: () => state.zone,
    spoken,

    /**
     ** Checks which of the chosen times are gone, keeps the others and shows what is open now.
     * @returns {Promise<{ gone: Slot[], kept: Slot[] }>}
     */
    async dropTaken() {
      openings.forget();
      /** @type {Map<string, Slot[]>} */
      const open = new Map();
      for (const day of new Set(state.picks.map((p) => Z.dayOf(p.start, state.zone)))) open.set(day, await openings.slotsOf(day));
      const gone = state.picks.filter((p) => !includes(open.get(Z.dayOf(p.start, state.zone)) || [], p));
      state.picks = state.picks.filter((p) => !includes(gone, p));
      drawPicks();
      const day = gone.length ? Z.dayOf(gone[0].start, state.zone) : state.day;
      await showMonth(Z.monthOf(day), day, true);
      await showDay(day);
      return { gone, kept: state.picks };
    },
  };
}
