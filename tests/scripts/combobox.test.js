import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, matches, rank } from "./combobox.js";

const kolkata = fold("Kolkata, Indien · UTC+5:30 Asia/Kolkata Asia/Calcutta");

test("an option is found by any of its words, in any order and case", () => {
  for (const query of ["kolk", "INDIEN", "utc+5:30", "+5:30", "calcutta", "indien kolkata", "Kolkata, Indien · UTC+5:30", ""]) {
    assert.equal(matches(kolkata, query), true, query);
  }
  assert.equal(matches(kolkata, "kolkata nepal"), false);
});

test("whole words come first, then their beginnings", () => {
  assert.equal(rank("Kolkata, India · UTC+5:30", "india"), 0);
  assert.equal(rank("Knox, Indiana, United States", "india"), 1);
  assert.equal(rank("Antananarivo, Madagascar", "india"), 2);
  assert.equal(rank("Kolkata, India · UTC+5:30", ""), 0);
});

test("accents do not matter", () => {
  assert.equal(matches(fold("São Paulo, Brésil"), "sao bresil"), true);
  assert.equal(matches(fold("Sao Paulo"), "São"), true);
});
