import assert from "node:assert/strict";
import { test } from "node:test";
import createOpenings from "./openings.js";

const noon = (/** @type {string} */ day) => ({ start: Date.parse(day + "T12:00:00Z"), end: Date.parse(day + "T12:30:00Z") });

/**
 * Openings on the 10th of March 2027 up to an end, over a calendar with the given open days, and what was asked of it.
 * @param {string[]} open
 * @param {object} [more]
 * @param {import("./slots.d.ts").Slot[]} [more.held]
 * @param {import("./slots.d.ts").Slot[]} [more.freed]
 * @param {boolean} [more.broken]
 * @param {string} [more.zone]
 */
function makeOpenings(open, { held = [], freed = [], broken = false, zone = "UTC" } = {}) {
  /** @type {string[][]} */
  const asked = [];
  const state = { broken };
  const openings = createOpenings({
    source: {
      dates: (from, to) => {
        asked.push([from, to]);
        return state.broken ? Promise.reject(new Error("down")) : Promise.resolve(open.filter((day) => day >= from && day <= to));
      },
      slots: (day) => Promise.resolve(open.includes(day) ? [noon(day)] : []),
    },
    zone,
    until: "2027-06-30",
    held,
    freed,
    now: () => Date.parse("2027-03-10T08:00:00Z"),
  });
  return { openings, asked, state };
}

test("a month is asked for once, from today on", async () => {
  const { openings, asked } = makeOpenings(["2027-03-12"]);
  assert.deepEqual([...(await openings.daysOf("2027-03"))], ["2027-03-12"]);
  await openings.daysOf("2027-03");
  assert.deepEqual(asked, [["2027-03-10", "2027-03-31"]]);
  openings.forget();
  await openings.daysOf("2027-03");
  assert.equal(asked.length, 2);
});

test("a month that could not be read is asked for again", async () => {
  const { openings, state } = makeOpenings(["2027-03-12"], { broken: true });
  await assert.rejects(openings.daysOf("2027-03"));
  state.broken = false;
  assert.equal((await openings.daysOf("2027-03")).size, 1);
});

test("the next open day is found months ahead, in ranges that the API takes", async () => {
  const { openings, asked } = makeOpenings(["2027-06-02"]);
  assert.equal(await openings.nextDay("2027-03-10"), "2027-06-02");
  assert.deepEqual(asked, [["2027-03-10", "2027-05-10"], ["2027-05-11", "2027-07-02"]]);
  assert.equal(await makeOpenings([]).openings.nextDay("2027-03-10"), "");
});

test("nothing is asked for months that are over or not yet open", async () => {
  const { openings, asked } = makeOpenings(["2027-03-12"]);
  assert.equal((await openings.daysOf("2027-02")).size, 0);
  assert.equal((await openings.daysOf("2027-08")).size, 0);
  assert.deepEqual(asked, []);
});

test("the seller's last evening is open two days later at the other end of the world", async () => {
  const { openings } = makeOpenings(["2027-07-02"], { zone: "Pacific/Kiritimati" }); // 23:00 in Pacific/Pago_Pago
  assert.equal((await openings.daysOf("2027-07")).size, 1);
  assert.equal(await openings.nextDay("2027-06-01"), "2027-07-02");
  assert.equal(openings.last, "2027-07-02");
});

test("a time that the buyer holds is open to them, in its order and once", async () => {
  const held = [noon("2027-03-11"), noon("2027-03-12")];
  const { openings } = makeOpenings(["2027-03-12"], { held });
  assert.deepEqual([...(await openings.daysOf("2027-03"))].sort(), ["2027-03-11", "2027-03-12"]);
  assert.deepEqual(await openings.slotsOf("2027-03-11"), [held[0]]);
  assert.deepEqual(await openings.slotsOf("2027-03-12"), [held[1]]);
});

test("a time that only the buyer's own bars is open to them until one turns out to be taken", async () => {
  const held = [noon("2027-03-11")];
  const { openings } = makeOpenings(["2027-03-12"], { held, freed: [...held, noon("2027-03-12"), noon("2027-03-14")] });
  assert.deepEqual([...(await openings.daysOf("2027-03"))].sort(), ["2027-03-11", "2027-03-12", "2027-03-14"]);
  assert.deepEqual(await openings.slotsOf("2027-03-11"), held);
  assert.deepEqual(await openings.slotsOf("2027-03-14"), [noon("2027-03-14")]);
  openings.forget();
  assert.deepEqual([...(await openings.daysOf("2027-03"))].sort(), ["2027-03-11", "2027-03-12"]);
});
