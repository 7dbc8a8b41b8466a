import assert from "node:assert/strict";
import { test } from "node:test";
import { parts, persist, Refused } from "./parts.js";

test("parts cover a file once, in their order", () => {
  assert.deepEqual(parts(25, 10), [
    { number: 1, start: 0, end: 10 }, { number: 2, start: 10, end: 20 }, { number: 3, start: 20, end: 25 },
  ]);
  assert.deepEqual(parts(10, 10), [{ number: 1, start: 0, end: 10 }]);
  assert.deepEqual(parts(0, 10), []);
});

test("what breaks off is sent again after a pause, and not for ever", async () => {
  /** @type {number[]} */
  const pauses = [];
  const pause = (/** @type {number} */ milliseconds) => { pauses.push(milliseconds); return Promise.resolve(); };
  let sent = 0;
  const arrived = await persist(() => (++sent < 3 ? Promise.reject(new Error("offline")) : Promise.resolve("arrived")), pause);
  assert.equal(arrived, "arrived");
  assert.deepEqual(pauses, [500, 1000]);
  sent = 0;
  await assert.rejects(persist(() => { sent++; return Promise.reject(new Error("offline")); }, pause), /offline/);
  assert.equal(sent, 5);
});

test("what is refused is sent once", async () => {
  let sent = 0;
  await assert.rejects(persist(() => { sent++; return Promise.reject(new Refused("too large")); }, () => Promise.resolve()), /too large/);
  assert.equal(sent, 1);
});
