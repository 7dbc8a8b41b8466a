import assert from "node:assert/strict";
import { test } from "node:test";
import { countryOfZone, guess } from "./country.js";

test("the country of a zone is one of those that are offered", () => {
  assert.equal(countryOfZone("Europe/Dublin", ["DE", "IE"]), "IE");
  assert.equal(countryOfZone("Europe/Dublin", ["DE"]), "");
});

test("a zone and a language that disagree are no guess", () => {
  assert.equal(guess("DE", "DE"), "DE");
  assert.equal(guess("US", ""), "US");
  assert.equal(guess("", "IE"), "IE");
  assert.equal(guess("US", "IE"), "");
});
