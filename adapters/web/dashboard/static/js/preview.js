// The preview beside a form: drawn from what is typed, which is not saved by it.

const pause = 400; // milliseconds without a key

/** Draws the preview of a form whenever something in it changes.
 * @param {HTMLFormElement} form */
export default function preview(form) {
  const frame = /** @type {HTMLIFrameElement | null} */ (document.querySelector(".part-preview iframe"));
  if (!frame) return;
  let timer = 0;
  let latest = 0;

  async function draw() {
    if (!frame?.offsetParent) return; // there is no space for it
    const mine = ++latest;
    const body = new URLSearchParams(/** @type {[string, string][]} */ ([...new FormData(form)]));
    const response = await fetch(form.dataset.preview ?? "", { method: "POST", body });
    if (!response.ok || mine !== latest) return; // what is half typed leaves the last one
    const html = await response.text();
    const shown = frame.contentDocument;
    if (!shown?.doctype) {
      frame.srcdoc = html;
      return;
    }
    const page = new DOMParser().parseFromString(html, "text/html");
    shown.replaceChild(shown.adoptNode(page.documentElement), shown.documentElement);
  }
  const redraw = () => { draw().catch(() => {}); }; // offline: the last one stays

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(redraw, pause);
  });
  if (!frame.hasAttribute("src")) redraw();
}
