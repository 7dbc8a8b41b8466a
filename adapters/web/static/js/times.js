// The open times of one day as a list box: one of them takes part in the order of the Tab
// key, the arrows go from time to time, Enter and Space choose.

// options: box, choose(index). show takes [{label, chosen, barred (why it cannot be chosen)}].
export default function timeList({ box, choose }) {
  let current = 0;
  const options = () => [...box.children];

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
    const index = options().indexOf(e.target.closest("[role=option]"));
    if (index < 0) return;
    current = index;
    choose(index);
  });

  return {
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
        const option = box.children[i];
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
    focus: () => box.children[current]?.focus(),
  };
}
