// The list of time zones: the browser's own and the seller's come first; typing finds any by its city, country or offset.
import addSearch from "./combobox.js";
import { create, fill } from "./dom.js";
import * as Z from "./zones.js";

/**
 * @param {HTMLSelectElement} select with the zones that the server knows
 * @param {string} sellerZone
 * @param {Record<string, string>} words
 * @returns {(name: string) => string} shows a zone, and returns the name that it has today
 */
export default function fillZones(select, sellerZone, words) {
  const known = [...select.options];
  /** @param {string} name */
  const optionOf = (name) => known.find((o) => o.value === name || (o.dataset.former || "").split(" ").includes(name));
  /** @param {string} name */
  const current = (name) => optionOf(name)?.value || name;
  /** @param {string} name */
  const labelOf = (name) => optionOf(name)?.label || Z.cityOf(name);

  const [own, seller] = [current(Z.browserZone()), current(sellerZone)];
  const first = own ? [new Option(fill(words.your_zone, labelOf(own)), own)] : [];
  if (seller !== own) first.push(new Option(fill(words.seller_zone, labelOf(seller)), seller));
  select.prepend(create("optgroup", { label: words.suggested_zones }, ...first));
  const { refresh } = addSearch(select, words.no_zone);

  return (name) => {
    const shown = current(name);
    if (![...select.options].some((o) => o.value === shown)) select.append(new Option(labelOf(shown), shown));
    select.value = shown;
    refresh();
    return shown;
  };
}
