import assert from "node:assert/strict";
import { test } from "node:test";
import { indexAfterKey } from "./times.js";

test("the keys of a list lead to a time and never out of it", () => {
  /**
   * @param {string} key
   * @param {number} current
   */
  const after = (key, current) => indexAfterKey(key, current, 8, 3); // rows of 3, 3 and 2
  assert.deepEqual(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].map((key) => after(key, 4)), [3, 5, 1, 7, 0, 7]);
  assert.deepEqual(["ArrowLeft", "ArrowUp"].map((key) => after(key, 0)), [0, 0]);
  assert.deepEqual(["ArrowRight", "ArrowDown"].map((key) => after(key, 7)), [7, 7]);
  assert.equal(after("ArrowDown", 5), 5, "there is no time below the last column");
  assert.equal(after("Tab", 2), -1);
});
