// The open times of one day as a list box: one of them takes part in the order of the Tab
// key, the arrows go from time to time, Enter and Space choose.

/**
 * @typedef {object} TimeOption
 * @property {string} start ISO 8601
 * @property {string} label
 * @property {boolean} chosen
 * @property {string} barred why it cannot be chosen, "" when it can
 */

/**
 * Where a key leads from one of the times, which are laid out in columns; -1 for keys that lead nowhere.
 * @param {string} key
 * @param {number} current
 * @param {number} count
 * @param {number} columns
 */
export function indexAfterKey(key, current, count, columns) {
  /** @type {Record<string, number>} */
  const keys = {
    ArrowLeft: Math.max(0, current - 1),
    ArrowRight: Math.min(count - 1, current + 1),
    ArrowUp: columns > current ? current : current - columns,
    ArrowDown: current + columns < count ? current + columns : current,
    Home: 0,
    End: count - 1,
  };
  return keys[key] ?? -1;
}

/**
 * @param {object} options
 * @param {HTMLElement} options.box
 * @param {(index: number) => void} options.choose
 */
export default function createTimeList({ box, choose }) {
  let current = 0;
  const options = () => /** @type {HTMLElement[]} */ ([...box.children]);

  /** @param {number} index */
  function go(index) {
    const all = options();
    current = index;
    all.forEach((o, i) => (o.tabIndex = i === current ? 0 : -1));
    all[current].focus();
  }

  const columns = () => {
    const all = options();
    const top = all[0].offsetTop;
    const wrapped = all.findIndex((o) => o.offsetTop !== top);
    return wrapped < 0 ? all.length : wrapped;
  };
  box.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || !options().length) return;
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      choose(current);
      return;
    }
    const index = indexAfterKey(e.key, current, options().length, columns());
    if (index < 0) return;
    e.preventDefault();
    go(index);
  });
  box.addEventListener("click", (e) => {
    const option = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest("[role=option]"));
    const index = option ? options().indexOf(option) : -1;
    if (index < 0) return;
    current = index;
    choose(index);
  });

  return {
    /**
     * @param {TimeOption[]} times
     * @param {boolean} fresh another day than before
     */
    show(times, fresh) {
      if (fresh) current = Math.max(0, times.findIndex((t) => t.chosen));
      current = Math.min(current, Math.max(0, times.length - 1));
      if (times.length !== box.children.length || fresh) {
        box.replaceChildren(
          ...times.map(() => {
            const option = document.createElement("div");
            option.setAttribute("role", "option");
            return option;
          }),
        );
      }
      times.forEach((t, i) => {
        const option = options()[i];
        if (option.textContent !== t.label) option.textContent = t.label;
        option.dataset.start = t.start;
        option.tabIndex = i === current ? 0 : -1;
        option.setAttribute("aria-selected", String(t.chosen));
        option.setAttribute("aria-disabled", String(Boolean(t.barred)));
        if (t.barred) option.setAttribute("aria-description", t.barred);
        else option.removeAttribute("aria-description");
      });
      box.hidden = !times.length; // an empty list box is none
    },
    focus: () => options()[current]?.focus(),
  };
}
