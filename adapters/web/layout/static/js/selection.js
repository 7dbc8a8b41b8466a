// Which times are chosen: pure functions over a list of times in their order.

/** @typedef {import("./slots.d.ts").Slot} Slot */

/**
 * @param {Slot[]} picks
 * @param {Slot} slot
 */
export const includes = (picks, slot) => picks.some((p) => p.start === slot.start);

/**
 * @param {Slot[]} picks
 * @param {Slot} slot
 */
export const add = (picks, slot) => [...picks, slot].sort((a, b) => a.start - b.start);

/**
 * @param {Slot[]} picks
 * @param {Slot} slot
 */
export const remove = (picks, slot) => picks.filter((p) => p.start !== slot.start);

/**
 * Reports whether the seller needs more time between two appointments than these leave.
 * @param {Slot} a
 * @param {Slot} b
 * @param {number} gapMinutes
 */
export const tooClose = (a, b, gapMinutes) => a.start < b.end + gapMinutes * 60000 && b.start < a.end + gapMinutes * 60000;

/**
 * Why a time cannot be added to those chosen: "" when it can, or when it is one of them. A single appointment is
 * exchanged, so nothing bars another.
 * @param {Slot[]} picks
 * @param {Slot} slot
 * @param {number} sessions
 * @param {number} gapMinutes
 * @returns {"" | "overlaps" | "complete"}
 */
export function barrier(picks, slot, sessions, gapMinutes) {
  if (sessions === 1 || includes(picks, slot)) return "";
  if (picks.some((p) => tooClose(p, slot, gapMinutes))) return "overlaps";
  return picks.length >= sessions ? "complete" : "";
}
