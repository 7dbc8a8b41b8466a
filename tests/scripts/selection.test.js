import assert from "node:assert/strict";
import { test } from "node:test";
import { add, barrier, includes, remove, tooClose } from "./selection.js";

const minute = 60000;
/**
 * @param {number} start in minutes
 * @param {number} [length]
 */
const slot = (start, length = 30) => ({ start: start * minute, end: (start + length) * minute });

test("times are kept in their order", () => {
  const picks = add(add([], slot(60)), slot(0));
  assert.deepEqual(picks, [slot(0), slot(60)]);
  assert.deepEqual(remove(picks, slot(0)), [slot(60)]);
  assert.ok(includes(picks, slot(60)));
  assert.ok(!includes(picks, slot(30)));
});

test("the seller's break counts between two appointments, whichever comes first", () => {
  for (const [gap, want] of [[0, false], [14, false], [15, false], [16, true]]) {
    assert.equal(tooClose(slot(0), slot(45), Number(gap)), want);
    assert.equal(tooClose(slot(45), slot(0), Number(gap)), want);
  }
});

test("what bars a time is its neighbor first, then a complete pack", () => {
  assert.equal(barrier([slot(0)], slot(10), 2, 0), "overlaps");
  assert.equal(barrier([slot(0), slot(60)], slot(120), 2, 0), "complete");
  assert.equal(barrier([slot(0)], slot(60), 2, 0), "");
  assert.equal(barrier([slot(0)], slot(0), 1, 0), "", "a chosen time can be chosen away");
  assert.equal(barrier([slot(0)], slot(10), 1, 0), "", "a single time is exchanged");
});
