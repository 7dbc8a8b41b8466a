// Rules of card fields: pure functions, no page.

/** @param {string} text */
export const digits = (text) => text.replace(/\D/g, "").slice(0, 19);

/**
 * American Express groups 4-6-5; every other scheme groups by four.
 * @param {string} text
 */
export function groupNumber(text) {
  const d = digits(text);
  const groups = /^3[47]/.test(d)
    ? [d.slice(0, 4), d.slice(4, 10), d.slice(10, 15)]
    : d.match(/.{1,4}/g) || [];
  return groups.filter(Boolean).join(" ");
}

/** @param {string} text */
export function groupExpiry(text) {
  let d = text.replace(/\D/g, "");
  if (/^20\d\d$/.test(d.slice(2)) && d.length === 6) d = d.slice(0, 2) + d.slice(4); // filled in as MM/YYYY
  if (/^[2-9]/.test(d)) d = "0" + d;
  d = d.slice(0, 4);
  return d.length > 2 ? d.slice(0, 2) + " / " + d.slice(2) : d;
}

/** @param {string} number */
export function passesLuhn(number) {
  let sum = 0;
  [...number].reverse().forEach((c, i) => {
    let n = Number(c);
    if (i % 2) n = n > 4 ? n * 2 - 9 : n * 2;
    sum += n;
  });
  return sum % 10 === 0;
}

/** @param {string} number */
export function schemeOf(number) {
  if (/^4/.test(number)) return "visa";
  if (/^(5[1-5]|2[2-7])/.test(number)) return "mastercard";
  if (/^3[47]/.test(number)) return "amex";
  return "";
}

/**
 * Each check returns the key of a message, or "" when the value is fine.
 * @param {string} text
 */
export function numberProblem(text) {
  const d = digits(text);
  if (d.length < 14) return "invalid_card";
  return passesLuhn(d) ? "" : "luhn";
}

/**
 * @param {string} text
 * @param {Date} now
 */
export function expiryProblem(text, now) {
  const m = /^(0[1-9]|1[0-2]) ?\/ ?(\d\d)$/.exec(text.trim());
  if (!m) return "invalid_expiry";
  const firstBad = new Date(2000 + Number(m[2]), Number(m[1]), 1);
  return firstBad <= now ? "past_expiry" : "";
}

/** @param {string} text */
export const cvcProblem = (text) => (/^\d{3,4}$/.test(text.trim()) ? "" : "invalid_cvc");

/**
 * Where the caret belongs in a text after as many digits as were left of it before.
 * @param {string} text
 * @param {number} count
 */
export function caretAfter(text, count) {
  let caret = 0;
  for (let seen = 0; caret < text.length && seen < count; caret++) if (/\d/.test(text[caret])) seen++;
  return caret;
}
