import assert from "node:assert/strict";
import { test } from "node:test";
import * as Z from "./zones.js";

test("days are counted over months, years and leap days", () => {
  assert.equal(Z.addDays("2027-12-31", 1), "2028-01-01");
  assert.equal(Z.addDays("2028-03-01", -1), "2028-02-29");
  assert.equal(Z.addMonths("2027-11", 3), "2028-02");
  assert.equal(Z.addMonths("2027-01", -1), "2026-12");
  assert.equal(Z.lastOf("2028-02"), "2028-02-29");
  assert.equal(Z.weekdayOf("2027-03-14"), 0);
});

test("an instant falls on the day of its zone", () => {
  const instant = Date.parse("2027-03-14T02:30:00Z");
  assert.equal(Z.dayOf(instant, "Europe/Berlin"), "2027-03-14");
  assert.equal(Z.dayOf(instant, "America/New_York"), "2027-03-13");
});

test("a clock is read in twelve hours or in twenty-four", () => {
  const midnight = Date.parse("2027-03-14T00:05:00Z");
  assert.equal(Z.clock(midnight, "UTC", true), "12:05 AM");
  assert.equal(Z.clock(midnight, "UTC", false), "00:05");
});

test("a zone is named by its abbreviation where there is one, and by its offset", () => {
  const summer = Date.parse("2027-07-01T12:00:00Z");
  assert.equal(Z.zoneWords(summer, "America/New_York"), "EDT (UTC−4)");
  assert.equal(Z.zoneWords(summer, "Asia/Kathmandu"), "UTC+5:45");
  assert.equal(Z.cityOf("America/Argentina/Buenos_Aires"), "Argentina, Buenos Aires");
});

test("the two hours of a change of clocks are distinguished", () => {
  const first = Date.parse("2027-11-07T05:30:00Z");
  const second = Date.parse("2027-11-07T06:30:00Z");
  assert.equal(Z.clock(first, "America/New_York", false), Z.clock(second, "America/New_York", false));
  assert.notEqual(Z.zoneWords(first, "America/New_York"), Z.zoneWords(second, "America/New_York"));
  assert.equal(Z.hours(first, second, "America/New_York", false), "01:30 EDT (UTC−4) – 01:30 EST (UTC−5)");
});

test("an appointment past midnight shows on which day it ends", () => {
  Z.setLocale("en-US");
  assert.equal(Z.hours(Date.parse("2027-03-14T23:30:00Z"), Date.parse("2027-03-15T00:30:00Z"), "UTC", false), "23:30 – Monday, March 15, 2027, 00:30 UTC");
});

test("days and months are written in the reader's language", () => {
  Z.setLocale("de-DE");
  assert.equal(Z.dayWords("2027-03-14"), "Sonntag, 14. März 2027");
  assert.equal(Z.monthWords("2027-03"), "März 2027");
  Z.setLocale("en-US");
});
