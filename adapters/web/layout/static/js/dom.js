// Finding the parts of a page that the server has drawn.

/**
 * The element with an id. A page without it is a defect.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error("no element #" + id);
  return element;
}

/**
 * Makes an element with properties and children.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Partial<HTMLElementTagNameMap[T]>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function create(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/**
 * Fills %s in a text, in order.
 * @param {string} text
 * @param {...(string | number)} values
 */
export const fill = (text, ...values) => values.reduce((/** @type {string} */ out, value) => out.replace("%s", String(value)), text);
