// The list of time zones: the browser's own and the seller's come first; typing finds any other by its city.
import { create, fill } from "./dom.js";
import * as Z from "./zones.js";

/**
 * @param {HTMLSelectElement} select
 * @param {string} sellerZone
 * @param {Record<string, string>} words
 */
export default function fillZones(select, sellerZone, words) {
  /**
   * @param {string} label
   * @param {[string, string][]} options value and text
   */
  const group = (label, options) => create("optgroup", { label }, ...options.map(([value, text]) => new Option(text, value)));
  const own = Z.browserZone();
  /** @type {[string, string][]} */
  const first = own ? [[own, fill(words.your_zone, Z.cityOf(own))]] : [];
  if (sellerZone !== own) first.push([sellerZone, fill(words.seller_zone, Z.cityOf(sellerZone))]);
  /** @type {Map<string, [string, string][]>} */
  const regions = new Map();
  for (const name of [...new Set([...Z.allZones(), "UTC"])].sort()) {
    const region = name.includes("/") ? name.slice(0, name.indexOf("/")) : words.other_zones;
    regions.set(region, [...(regions.get(region) || []), [name, Z.cityOf(name)]]);
  }
  select.replaceChildren(group(words.suggested_zones, first), ...[...regions].map(([region, all]) => group(region, all)));
}
