// Passkeys: a form that needs one asks the browser for it, and is sent with the response.
import say from "./say.js";

/** @param {string} text
 *  @returns {Promise<Credential | null>} */
function ask(text) {
  const options = JSON.parse(text).publicKey;
  if ("user" in options) {
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  }
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

/** Shows a form, where the browser has passkeys.
 * @param {HTMLFormElement} form */
export default function offer(form) {
  if (!window.PublicKeyCredential || !("parseRequestOptionsFromJSON" in PublicKeyCredential)) return;
  form.hidden = false;
  const response = /** @type {HTMLInputElement} */ (form.querySelector("[data-response]"));
  const status = document.createElement("p");
  status.className = "hint";
  status.setAttribute("role", "status");
  form.append(status);
  form.addEventListener("submit", (event) => {
    if (response.value) return;
    event.preventDefault();
    status.textContent = say("Your browser is asking for it…");
    ask(form.dataset.passkey ?? "").then((credential) => {
      response.value = JSON.stringify(/** @type {PublicKeyCredential} */ (credential).toJSON());
      form.removeAttribute("data-sent");
      form.requestSubmit();
    }).catch(() => {
      status.textContent = say("No passkey was used. Try again.");
      form.removeAttribute("data-sent");
    });
  });
}
