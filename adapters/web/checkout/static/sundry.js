/* Sundry overlay. Usage:
 *   Sundry.open(embedUrl, { onComplete({checkoutId}) {…}, onClose() {…} })
 * onComplete runs once, when the server has confirmed the payment; confirm it on your own
 * server before granting access. Without onComplete the page goes to the success URL.
 * onClose runs once whenever the overlay goes away. */
(function () {
  "use strict";
  const TYPE = "sundry.checkout";
  /** @type {{ close: () => void } | null} */
  let current = null;

  /**
   * @template {keyof HTMLElementTagNameMap} T
   * @param {T} tag
   * @param {string} css
   * @param {Record<string, string>} attributes
   * @returns {HTMLElementTagNameMap[T]}
   */
  function make(tag, css, attributes) {
    const el = document.createElement(tag);
    el.style.cssText = css;
    for (const name in attributes) el.setAttribute(name, attributes[name]);
    return el;
  }

  /**
   * @param {string} embedUrl
   * @param {{ onComplete?: (payment: { checkoutId: string }) => void, onClose?: () => void }} [options]
   */
  function open(embedUrl, options = {}) {
    if (current) return current;
    const url = new URL(embedUrl);
    if (url.protocol !== "https:" && url.protocol !== "http:") throw new TypeError("Sundry.open: not a web address");
    let busy = false;
    let completed = false;
    let gone = false;
    let greeting = 0;
    const back = /** @type {HTMLElement | null} */ (document.activeElement);
    const overflow = document.documentElement.style.overflow;

    // A card over the dimmed shop; on a phone it fills the screen.
    const small = window.matchMedia("(max-width: 700px)").matches;
    const dialog = make(
      "dialog",
      "position:fixed;inset:0;width:100%;height:100%;max-width:none;max-height:none;margin:0;padding:0;border:0;background:rgba(16,18,16,.6);z-index:2147483647",
      { "aria-label": "Checkout" },
    );
    const card = make(
      "div",
      "position:absolute;inset:0;margin:auto;overflow:hidden;background:Canvas;color:CanvasText;color-scheme:light dark;" +
        (small ? "width:100%;height:100%" : "width:min(1040px,94vw);height:min(760px,92vh);border-radius:16px;box-shadow:0 20px 60px rgba(0,0,0,.35)"),
      {},
    );
    const loading = make("div", "position:absolute;inset:0;margin:auto;width:36px;height:36px;border:3px solid;border-right-color:transparent;border-radius:50%", { role: "status", "aria-label": "Loading checkout" });
    if (loading.animate) loading.animate([{ transform: "rotate(0)" }, { transform: "rotate(1turn)" }], { duration: 900, iterations: Infinity });
    const frame = make("iframe", "position:relative;display:block;width:100%;height:100%;border:0;color-scheme:normal;opacity:0", {
      title: "Checkout",
      allow: "payment",
      referrerpolicy: "no-referrer",
    });
    const button = make(
      "button",
      "position:absolute;top:8px;right:8px;width:44px;height:44px;padding:0;border:1px solid #83877e;border-radius:22px;background:#fff;color:#1b1d1a;font:24px/1 system-ui,sans-serif;cursor:pointer",
      { type: "button", "aria-label": "Close checkout" },
    );
    button.textContent = "\u00d7";
    card.append(loading, frame, button);
    dialog.append(card);

    function show() {
      loading.hidden = true;
      loading.style.display = "none";
      frame.style.opacity = "1";
    }

    /** @param {boolean} now */
    function setBusy(now) {
      busy = now;
      button.hidden = busy;
      button.style.display = busy ? "none" : "";
    }

    function close() {
      if (busy || gone) return;
      gone = true;
      current = null;
      clearTimeout(greeting);
      window.removeEventListener("message", hear);
      if (dialog.open) dialog.close();
      dialog.remove();
      document.documentElement.style.overflow = overflow;
      if (back && back.focus) back.focus();
      if (options.onClose) options.onClose();
    }

    /** @param {{ checkoutId: string, redirectUrl: string }} data */
    function complete(data) {
      if (completed) return;
      completed = true;
      setBusy(false);
      // The confirmation stays until the buyer closes it.
      if (options.onComplete) options.onComplete({ checkoutId: data.checkoutId });
      else if (/^https?:\/\//i.test(data.redirectUrl)) window.location.assign(data.redirectUrl);
    }

    /** @param {MessageEvent} m */
    function hear(m) {
      const data = m.data;
      if (m.origin !== url.origin || m.source !== frame.contentWindow) return;
      if (!data || data.type !== TYPE || data.v !== 1) return;
      clearTimeout(greeting);
      show();
      if (data.event === "ready" || data.event === "busy") setBusy(data.busy === true);
      if (data.event === "complete") complete(data);
      if (data.event === "close") close();
    }

    // Every state of the checkout is a page of its own, so each load is greeted again. A
    // page that does not respond is an error page, and those can always be closed.
    frame.addEventListener("load", () => {
      clearTimeout(greeting);
      show();
      greeting = window.setTimeout(() => setBusy(false), 5000);
      frame.contentWindow?.postMessage({ type: TYPE, v: 1, event: "open" }, url.origin);
    });
    dialog.addEventListener("cancel", (e) => {
      e.preventDefault();
      close();
    });
    // Browsers close a dialog on a second Escape without asking: open it again while paying.
    dialog.addEventListener("close", () => {
      if (!gone && busy) dialog.showModal();
      else close();
    });
    button.addEventListener("click", close);
    window.addEventListener("message", hear);

    frame.src = url.href;
    document.body.append(dialog);
    document.documentElement.style.overflow = "hidden";
    dialog.showModal();
    frame.focus();
    current = { close };
    return current;
  }

  const host = /** @type {any} */ (window);
  host.Sundry = { open }; // window.Sundry
})();
