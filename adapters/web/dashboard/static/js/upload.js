// Uploads of files that are larger than one request: in parts, each of which is tried again when the line breaks.

import { fill } from "./dom.js";
import { parts, persist, Refused } from "./parts.js";
import say from "./say.js";

/** @param {string} url
 * @param {Record<string, string | Blob>} members
 * @returns {Promise<Response>} */
async function post(url, members) {
  const body = new FormData();
  for (const [name, value] of Object.entries(members)) body.append(name, value);
  const response = await fetch(url, { method: "POST", body, redirect: "error" });
  if (response.ok) return response;
  if (response.status >= 500) throw new Error(String(response.status));
  const { message } = await response.json().catch(() => ({ message: say("That didn’t work. Reload the page and try again.") }));
  throw new Refused(message);
}

/** @param {number} milliseconds
 * @returns {Promise<void>} */
const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/** Uploads a file and reports which share of it has arrived.
 * @param {string} at
 * @param {File} file
 * @param {{ token: string, downloadLimit: string }} form
 * @param {(share: number) => void} report */
async function upload(at, file, form, report) {
  const begun = await persist(() => post(at + "/begin", {
    token: form.token, name: file.name, size: String(file.size), contentType: file.type, downloadLimit: form.downloadLimit,
  }), pause);
  const { id, partSize } = await begun.json();
  for (const { number, start, end } of parts(file.size, partSize)) {
    await persist(() => post(`${at}/${id}/parts/${number}`, {
      token: form.token, file: new File([file.slice(start, end)], "part"),
    }), pause);
    report(end / file.size);
  }
  await persist(() => post(`${at}/${id}/complete`, { token: form.token }), pause);
}

/** Takes a form over that sends a file.
 * @param {HTMLFormElement} form */
export default function takeOver(form) {
  const at = form.dataset.upload ?? "";
  const button = form.querySelector("button");
  const status = document.createElement("p");
  status.className = "hint";
  status.setAttribute("role", "status");
  form.append(status);
  form.addEventListener("submit", (event) => {
    const data = new FormData(form);
    const file = data.get("file");
    if (!(file instanceof File) || file.size === 0) return; // the server asks for one
    event.preventDefault();
    if (button) button.disabled = true;
    status.textContent = say("Uploading…");
    upload(at, file, { token: String(data.get("token")), downloadLimit: String(data.get("downloadLimit") ?? "") },
      (share) => { status.textContent = fill(say("Uploading… %s %"), Math.floor(share * 100)); })
      .then(() => { location.hash = "files"; location.reload(); })
      .catch((error) => {
        status.textContent = error instanceof Refused ? error.message : say("The upload broke off. Try again.");
        form.removeAttribute("data-sent");
        if (button) button.disabled = false;
      });
  });
}
