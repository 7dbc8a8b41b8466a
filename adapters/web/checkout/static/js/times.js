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
    current = Math.max(0, Math.min(all.length - 1, index));
    all.forEach((o, i) => (o.tabIndex = i === current ? 0 : -1));
    all[current].focus();
  }

  const columns = () => {
    const all = options();
    const top = all[0].offsetTop;
    const wrapped = all.findIndex((o) => o.offsetTop !== top);
    return wrapped < 0 ? all.length : wrapped;
  };
  /** @type {Record<string, () => number>} */
  const keys = {
    ArrowLeft: () => current - 1,
    ArrowRight: () => current + 1,
    ArrowUp: () => (columns() > current ? current : current - columns()),
    ArrowDown: () => (current + columns() < options().length ? current + columns() : current),
    Home: () => 0,
    End: () => options().length - 1,
  };
  box.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || !options().length) return;
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      choose(current);
    } else if (keys[e.key]) {
      e.preventDefault();
      go(keys[e.key]());
    }
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
