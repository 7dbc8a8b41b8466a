// A month as a grid of days, by the pattern of the ARIA practices: one day takes part in
// the order of the Tab key, the arrows go from day to day. Which days can be chosen comes
// from outside and may come late.
import * as Z from "./zones.js";

/** @param {string} day */
const shortest = (day) => Z.dayWords(day, { weekday: "short" });
/** @param {string} day */
const full = (day) => Z.dayWords(day, { weekday: "long" });

/**
 * The weeks of a month as rows of seven days, "" where a day is another month's. Weeks before the one of from are left out.
 * @param {string} month
 * @param {string} from
 * @param {number} start the first day of the week, 0 is Sunday
 */
export function weeksOf(month, from, start) {
  const [first, last] = [Z.firstOf(month), Z.lastOf(month)];
  const opening = month === Z.monthOf(from) ? from : first;
  const weeks = [];
  for (let week = Z.addDays(opening, -columnOf(opening, start)); week <= last; week = Z.addDays(week, 7)) {
    const days = Array.from({ length: 7 }, (_, i) => Z.addDays(week, i));
    weeks.push(days.map((day) => (day >= first && day <= last ? day : "")));
  }
  return weeks;
}

/**
 * @param {string} day
 * @param {number} start
 */
const columnOf = (day, start) => (Z.weekdayOf(day) - start + 7) % 7;

/**
 * The same day of another month, or its last one.
 * @param {string} day
 * @param {number} months
 */
export function sameDay(day, months) {
  const month = Z.addMonths(Z.monthOf(day), months);
  const same = month + day.slice(7);
  return same > Z.lastOf(month) ? Z.lastOf(month) : same;
}

/**
 * Where a key leads from a day; "" for keys that lead nowhere.
 * @param {{ key: string, shiftKey: boolean }} event
 * @param {string} day
 * @param {number} start
 */
export function dayAfterKey({ key, shiftKey }, day, start) {
  const column = columnOf(day, start);
  /** @type {Record<string, () => string>} */
  const keys = {
    ArrowLeft: () => Z.addDays(day, -1),
    ArrowRight: () => Z.addDays(day, 1),
    ArrowUp: () => Z.addDays(day, -7),
    ArrowDown: () => Z.addDays(day, 7),
    Home: () => Z.addDays(day, -column),
    End: () => Z.addDays(day, 6 - column),
    PageUp: () => sameDay(day, shiftKey ? -12 : -1),
    PageDown: () => sameDay(day, shiftKey ? 12 : 1),
  };
  return keys[key]?.() ?? "";
}

/**
 * @typedef {object} GridState
 * @property {string} month
 * @property {string} from the first day that can be reached
 * @property {string} until the last one
 * @property {string} today
 * @property {Set<string> | null} open null until the open days are known
 * @property {string} selected
 * @property {string} current takes part in the order of the Tab key
 */

/**
 * @param {object} options
 * @param {HTMLTableElement} options.table
 * @param {Record<string, string>} options.words
 * @param {number} options.start the first day of the week, 0 is Sunday
 * @param {(day: string) => void} options.pick
 * @param {(month: string) => void} options.turn called when the arrows leave the month
 */
export default function createGrid({ table, words, start, pick, turn }) {
  /** @type {GridState} */
  const state = { month: "", from: "", until: "", today: "", open: null, selected: "", current: "" };
  /**
   * @param {string} day
   * @returns {HTMLElement | null}
   */
  const cell = (day) => table.querySelector(`[data-day="${day}"]`);
  /** @param {string} day */
  const within = (day) => (day < state.from ? state.from : day > state.until ? state.until : day);

  function head() {
    const sunday = "2023-01-01";
    table.tHead?.rows[0].replaceChildren(
      ...Array.from({ length: 7 }, (_, i) => {
        const day = Z.addDays(sunday, (start + i) % 7);
        const th = Object.assign(document.createElement("th"), { scope: "col", abbr: full(day), textContent: shortest(day).slice(0, 2) });
        th.setAttribute("role", "columnheader");
        th.setAttribute("aria-label", full(day));
        return th;
      }),
    );
  }

  /** @param {string} day */
  function dayCell(day) {
    const td = document.createElement("td");
    td.setAttribute("role", "gridcell");
    if (day) {
      td.dataset.day = day;
      td.textContent = String(Number(day.slice(8)));
    }
    return td;
  }

  function draw() {
    const had = table.contains(document.activeElement);
    const rows = weeksOf(state.month, state.from, start).map((days) => {
      const row = document.createElement("tr");
      row.setAttribute("role", "row");
      row.append(...days.map(dayCell));
      return row;
    });
    table.tBodies[0].replaceChildren(...rows);
    mark();
    if (had) cell(state.current)?.focus();
  }

  // mark shows what is known of each day without replacing a cell, so that the focus stays.
  function mark() {
    table.setAttribute("aria-busy", String(!state.open));
    for (const td of /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll("[data-day]"))) {
      const day = td.dataset.day || "";
      const open = Boolean(state.open?.has(day));
      const chosen = day === state.selected;
      td.tabIndex = day === state.current ? 0 : -1;
      td.setAttribute("aria-disabled", String(!open));
      td.setAttribute("aria-selected", String(chosen));
      td.toggleAttribute("data-open", open);
      if (day === state.today) td.setAttribute("aria-current", "date");
      const notes = [Z.dayWords(day), ...(day === state.today ? [words.today] : []), ...(state.open ? [open ? words.available : words.unavailable] : [])];
      td.setAttribute("aria-label", notes.join(", "));
    }
  }

  /** @param {string} day */
  function go(day) {
    day = within(day);
    state.current = day;
    if (Z.monthOf(day) !== state.month) turn(Z.monthOf(day));
    mark();
    cell(day)?.focus();
  }

  table.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || !state.current) return;
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      if (state.open?.has(state.current)) pick(state.current);
      return;
    }
    const day = dayAfterKey(e, state.current, start);
    if (!day) return;
    e.preventDefault();
    go(day);
  });
  table.addEventListener("click", (e) => {
    const td = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest("[data-day]"));
    const day = td?.dataset.day;
    if (!day || !state.open?.has(day)) return;
    state.current = day;
    pick(day);
  });

  head();
  return {
    /**
     * Draws a month; without open its days are not known yet. The current day moves into the month.
     * @param {Partial<GridState>} changes
     */
    show(changes) {
      const before = state.month + state.from;
      Object.assign(state, changes);
      if (Z.monthOf(state.current) !== state.month) state.current = within(Z.firstOf(state.month));
      // The Tab key leads to on a day that can be chosen; a focus inside stays.
      if (changes.open?.size && !changes.open.has(state.current) && !table.contains(document.activeElement)) {
        state.current = [...changes.open].sort()[0];
      }
      if (state.month + state.from !== before) draw();
      else mark();
    },
    focus: () => cell(state.current)?.focus(),
  };
}
