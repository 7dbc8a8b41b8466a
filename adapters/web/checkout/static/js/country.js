// Guessing the buyer's country, so that the tax is shown before they are asked.

/**
 * The country among some that a time zone belongs to, as the browser knows it; "" when it doesn't.
 * @param {string} zone
 * @param {string[]} countries
 */
export function countryOfZone(zone, countries) {
  for (const code of countries) {
    const region = /** @type {any} */ (new Intl.Locale("und-" + code)); // getTimeZones is newer than the types
    const zones = region.getTimeZones?.() ?? region.timeZones;
    if (zones?.includes(zone)) return code;
  }
  return "";
}

/**
 * The time zone is a better sign of where somebody is than their language. Where the two disagree, the buyer is asked.
 * @param {string} byLanguage
 * @param {string} byZone
 */
export const guess = (byLanguage, byZone) => (byZone && byLanguage && byZone !== byLanguage ? "" : byZone || byLanguage);
