// The page's side of the overlay. The parent introduces itself first; only the origins
// the session allows are believed, and nothing is sent to anybody else.
import page from "./net.js";

const TYPE = "sundry.checkout";
let parentOrigin = "";
let busy = page.state === "processing";
let wished = false; // to close, before the parent had introduced itself

/**
 * @param {string} event
 * @param {object} [more]
 */
function emit(event, more) {
  if (parentOrigin) window.parent.postMessage({ type: TYPE, v: 1, event, ...more }, parentOrigin);
}

/**
 * A payment under way must not be hidden from the person paying.
 * @param {boolean} now
 */
export function setBusy(now) {
  busy = now;
  emit("busy", { busy });
}

export function close() {
  if (busy) return;
  wished = !parentOrigin;
  emit("close");
}

export function startBridge() {
  if (!page.embedded || window.parent === window) return;
  window.addEventListener("message", (m) => {
    if (m.source !== window.parent || !page.parents.includes(m.origin)) return;
    if (!m.data || m.data.type !== TYPE || m.data.v !== 1 || m.data.event !== "open") return;
    parentOrigin = m.origin;
    emit("ready", { state: page.state, busy });
    if (page.state === "paid" || page.state === "already_paid") {
      emit("complete", { checkoutId: page.checkoutId, redirectUrl: page.redirectUrl });
    }
    if (wished) close();
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && !e.defaultPrevented) close();
  });
}
