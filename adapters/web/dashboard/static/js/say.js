// The texts of scripts: English here, translated by what the page brings along.

/** @type {Record<string, string>} */
const texts = JSON.parse(document.getElementById("page-data")?.textContent || "{}");

/** A text in the language of the page.
 * @param {string} text
 * @returns {string} */
export default function say(text) {
  return texts[text] ?? text;
}
