/* Sundry overlay. Usage:
 *   Sundry.open(embedUrl, { onComplete({checkoutId}) {…}, onClose() {…} })
 * onComplete runs once, when the server has confirmed the payment; confirm it on your own
 * server before granting access. Without onComplete the page goes to the success URL.
 * onClose runs once whenever the overlay goes away. */
(function () {
  "use strict";
  var TYPE = "sundry.checkout";
  var current = null;

  function make(tag, css, attributes) {
    var el = document.createElement(tag);
    el.style.cssText = css;
    for (var name in attributes) el.setAttribute(name, attributes[name]);
    return el;
  }

  function open(embedUrl, options) {
    if (current) return current;
    options = options || {};
    var url = new URL(embedUrl);
    if (url.protocol !== "https:" && url.protocol !== "http:") throw new TypeError("Sundry.open: not a web address");
    var busy = false;
    var completed = false;
    var gone = false;
    var greeting = 0;
    var back = document.activeElement;
    var overflow = document.documentElement.style.overflow;

    var dialog = make(
      "dialog",
      "position:fixed;inset:0;width:100%;height:100%;max-width:none;max-height:none;margin:0;padding:0;border:0;background:rgba(16,18,16,.6);z-index:2147483647",
      { "aria-label": "Checkout" },
    );
    var frame = make("iframe", "display:block;width:100%;height:100%;border:0;color-scheme:normal", {
      title: "Checkout",
      allow: "payment",
      referrerpolicy: "no-referrer",
    });
    var button = make(
      "button",
      "position:absolute;top:8px;right:8px;width:44px;height:44px;padding:0;border:1px solid #83877e;border-radius:22px;background:#fff;color:#1b1d1a;font:24px/1 system-ui,sans-serif;cursor:pointer",
      { type: "button", "aria-label": "Close checkout" },
    );
    button.textContent = "\u00d7";
    dialog.appendChild(frame);
    dialog.appendChild(button);

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

    function complete(data) {
      if (completed) return;
      completed = true;
      setBusy(false);
      if (options.onComplete) {
        // Leaves the confirmation in sight for a moment; the callback runs at once.
        setTimeout(close, 1500);
        options.onComplete({ checkoutId: data.checkoutId });
      } else if (/^https?:\/\//.test(data.redirectUrl)) {
        window.location.assign(data.redirectUrl);
      }
    }

    function hear(m) {
      var data = m.data;
      if (m.origin !== url.origin || m.source !== frame.contentWindow) return;
      if (!data || data.type !== TYPE || data.v !== 1) return;
      clearTimeout(greeting);
      if (data.event === "ready" || data.event === "busy") setBusy(data.busy === true);
      if (data.event === "complete") complete(data);
      if (data.event === "close") close();
    }

    // Every state of the checkout is a page of its own, so each load is greeted again. A
    // page that does not answer is an error page, and those can always be closed.
    frame.addEventListener("load", function () {
      clearTimeout(greeting);
      greeting = setTimeout(setBusy, 5000, false);
      frame.contentWindow.postMessage({ type: TYPE, v: 1, event: "open" }, url.origin);
    });
    dialog.addEventListener("cancel", function (e) {
      e.preventDefault();
      close();
    });
    // Browsers close a dialog on a second Escape without asking: open it again while paying.
    dialog.addEventListener("close", function () {
      if (!gone && busy) dialog.showModal();
      else close();
    });
    button.addEventListener("click", close);
    window.addEventListener("message", hear);

    frame.src = url.href;
    document.body.appendChild(dialog);
    document.documentElement.style.overflow = "hidden";
    dialog.showModal();
    frame.focus();
    current = { close: close };
    return current;
  }

  window.Sundry = { open: open };
})();
