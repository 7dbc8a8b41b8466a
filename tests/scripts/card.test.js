import assert from "node:assert/strict";
import { test } from "node:test";
import * as card from "./card.js";

test("a number is grouped as it is printed on the card", () => {
  for (const [typed, want] of [
    ["4242424242424242", "4242 4242 4242 4242"],
    ["378282246310005", "3782 822463 10005"],
    ["3782", "3782"],
    ["4242-4242", "4242 4242"],
    ["", ""],
  ]) assert.equal(card.groupNumber(typed), want);
});

test("an expiry is grouped while it is typed, in every usual spelling", () => {
  for (const [typed, want] of [["1", "1"], ["2", "02"], ["123", "12 / 3"], ["12 / 34", "12 / 34"], ["12/2034", "12 / 34"], ["0", "0"]]) {
    assert.equal(card.groupExpiry(typed), want);
  }
});

test("a number is checked for its length and its check digit", () => {
  assert.equal(card.numberProblem("4242 4242 4242 4242"), "");
  assert.equal(card.numberProblem("4242 4242 4242 4241"), "luhn");
  assert.equal(card.numberProblem("4242"), "invalid_card");
});

test("a card is good until its month ends", () => {
  assert.equal(card.expiryProblem("03 / 26", new Date(2026, 2, 31, 23, 59)), "");
  assert.equal(card.expiryProblem("03/26", new Date(2026, 3, 1)), "past_expiry");
  assert.equal(card.expiryProblem("13 / 26", new Date(2026, 0, 1)), "invalid_expiry");
});

test("a security code has three or four digits", () => {
  assert.deepEqual(["12", "123", "1234", "12345", "12a"].map(card.cvcProblem), ["invalid_cvc", "", "", "invalid_cvc", "invalid_cvc"]);
});

test("the scheme is known from the first digits", () => {
  assert.deepEqual(["4", "51", "2221", "34", "6011", ""].map(card.schemeOf), ["visa", "mastercard", "mastercard", "amex", "", ""]);
});

test("the caret stays behind the digit that it was behind", () => {
  assert.equal(card.caretAfter("4242 4242", 4), 4);
  assert.equal(card.caretAfter("4242 4242", 5), 6);
  assert.equal(card.caretAfter("4242", 9), 4);
});
