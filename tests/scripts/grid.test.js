import assert from "node:assert/strict";
import { test } from "node:test";
import { dayAfterKey, sameDay, weeksOf } from "./grid.js";

const [sunday, monday] = [0, 1];

test("a month is drawn in whole weeks, without the days of other months", () => {
  const weeks = weeksOf("2027-03", "2027-02-10", monday);
  assert.equal(weeks.length, 5);
  assert.equal(weeks[0][0], "2027-03-01");
  assert.deepEqual(weeks[4], ["2027-03-29", "2027-03-30", "2027-03-31", "", "", "", ""]);
  assert.deepEqual(weeksOf("2027-03", "2027-02-10", sunday)[0], ["", "2027-03-01", "2027-03-02", "2027-03-03", "2027-03-04", "2027-03-05", "2027-03-06"]);
});

test("weeks that are over are left out, the days of this one stay", () => {
  const weeks = weeksOf("2027-03", "2027-03-17", monday);
  assert.equal(weeks.length, 3);
  assert.equal(weeks[0][0], "2027-03-15");
});

test("a month on whose last day a week begins keeps that day", () => {
  assert.deepEqual(weeksOf("2027-01", "2027-01-31", sunday), [["2027-01-31", "", "", "", "", "", ""]]);
});

test("another month has the same day, or its last one", () => {
  assert.equal(sameDay("2027-01-31", 1), "2027-02-28");
  assert.equal(sameDay("2028-02-29", -12), "2027-02-28");
  assert.equal(sameDay("2027-03-14", -1), "2027-02-14");
});

test("the keys of a grid lead to a day", () => {
  /**
   * @param {string} key
   * @param {boolean} [shiftKey]
   */
  const after = (key, shiftKey = false) => dayAfterKey({ key, shiftKey }, "2027-03-17", monday);
  assert.deepEqual(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"].map((key) => after(key)), [
    "2027-03-16", "2027-03-18", "2027-03-10", "2027-03-24", "2027-03-15", "2027-03-21", "2027-02-17", "2027-04-17",
  ]);
  assert.equal(after("PageDown", true), "2028-03-17");
  assert.equal(after("a"), "");
});
