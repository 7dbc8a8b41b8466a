// How long the page, and the times on it, are kept: shown by the minute, spoken twice.
import page from "./net.js";
import { byId, fill } from "./dom.js";

const words = page.text;
const spoken = [300, 60]; // seconds before the end
const loaded = Date.now();

// The account's clock, which in the sandbox is not the browser's.
export const now = () => page.now + Date.now() - loaded;

/** @param {number} seconds */
function inWords(seconds) {
  if (seconds <= 60) return fill(words.seconds, seconds);
  return fill(words.minutes, Math.ceil(seconds / 60));
}

/**
 * @param {() => void} over called once the time has come; it is for the server to decide what that means
 */
export default function startHold(over) {
  const line = document.getElementById("hold");
  if (!line || !page.expiresAt) return;
  const sentence = page.calendar ? words.left : words.held;
  let before = Infinity; // a page opened late speaks at once
  const tick = () => {
    const left = Math.max(0, Math.ceil((page.expiresAt - now()) / 1000));
    // In the last minute every ten seconds: nobody is helped by a number that never rests.
    const shown = fill(sentence, inWords(left > 60 ? left : Math.ceil(left / 10) * 10));
    if (line.textContent !== shown) line.textContent = shown;
    line.classList.toggle("soon", left <= spoken[0]);
    line.hidden = false;
    if (left > 0 && spoken.some((mark) => before > mark && left <= mark)) {
      byId("hold-status").textContent = fill(sentence, left <= 60 ? words.minute : fill(words.minutes, Math.ceil(left / 60)));
    }
    before = left;
    if (left > 0) return;
    clearInterval(ticking);
    over();
  };
  const ticking = setInterval(tick, 1000);
  tick();
}
