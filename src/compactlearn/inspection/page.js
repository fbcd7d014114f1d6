"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  // Choosers: a row of buttons of which one is pressed; the others' panels are put away.
  const choose = (chooser, key) => {
    for (const button of all("button", chooser)) {
      button.setAttribute("aria-pressed", String(button.dataset.key === key));
    }
    for (const panel of all(".panel")) {
      if (panel.dataset.of === chooser.id) panel.hidden = key !== "*" && panel.dataset.key !== key;
    }
  };
  for (const chooser of all(".chooser")) {
    chooser.hidden = false;
    chooser.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) choose(chooser, button.dataset.key);
    });
    const first = chooser.querySelector("button");
    if (first) choose(chooser, first.dataset.key);
  }

  // Sorting: by the number in data-v where there is one, else by the text; what is missing comes last.
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const given = cell.dataset.v;
    if (given === undefined) return cell.textContent.trim().toLowerCase() || null;
    return given === "" ? null : Number(given);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en"));
  const sort = (head) => {
    const table = head.closest("table");
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of all("thead th", table)) {
      if (other.querySelector("button")) other.setAttribute("aria-sort", "none");
    }
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, place) => ({ row, place, value: valueOf(row, head.cellIndex) }));
    rows.sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.place - b.place;
      return (up ? compare(a.value, b.value) : compare(b.value, a.value)) || a.place - b.place;
    });
    body.append(...rows.map((one) => one.row));
  };
  for (const button of all("th button")) {
    button.addEventListener("click", () => sort(button.closest("th")));
  }

  // Filters: a row stays if each word begins one of its own. Where rows have names, only these count.
  const begins = (word) => new RegExp(`(^|[^\\p{L}\\p{N}])${word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}`, "iu");
  const textOf = (row) => Array.from(row.querySelector("th") ? [row.querySelector("th")] : row.cells, (cell) => cell.textContent).join(" ");
  for (const input of all("input[data-filter]")) {
    const table = document.getElementById(input.dataset.filter);
    const count = document.getElementById(`${input.id}-count`);
    const rows = Array.from(table.tBodies[0].rows);
    let texts = null;
    input.closest(".tools").hidden = false;
    const apply = () => {
      texts ??= rows.map(textOf);
      const words = input.value.split(/\s+/).filter(Boolean).map(begins);
      let kept = 0;
      rows.forEach((row, place) => {
        const stays = words.every((word) => word.test(texts[place]));
        row.hidden = !stays;
        kept += stays;
      });
      const whole = `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
      count.textContent = words.length ? `${kept} of ${whole}` : whole;
    };
    input.addEventListener("input", apply);
    apply();
  }

  // Tables that are wider than their frame say so; a shade lies where more is to come.
  const frames = all(".frame").map((frame) => ({ frame, cue: frame.querySelector(".cue"), inside: frame.querySelector(".wide") }));
  const look = ({ frame, cue, inside }) => {
    const room = inside.scrollWidth - inside.clientWidth;
    cue.hidden = room <= 1;
    frame.style.setProperty("--cue", `${inside.offsetTop}px`);
    frame.classList.toggle("more", room - inside.scrollLeft > 1);
  };
  const watch = new ResizeObserver((entries) => entries.forEach((entry) => look(frames.find((one) => one.inside === entry.target))));
  for (const one of frames) {
    one.inside.addEventListener("scroll", () => look(one), { passive: true });
    watch.observe(one.inside);
  }
  addEventListener("beforeprint", () => all("details").forEach((one) => { one.open = true; }));

  // Figures: one stop of the Tab key each; arrows go from point to point.
  const tip = document.getElementById("tip");
  let shown = null; // the point that the tip is about, and where the pointer is (null: the keyboard)
  const show = (point, x, y, pointer = null) => {
    shown = { point, pointer };
    tip.textContent = point.getAttribute("aria-label");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - box.width - 6))}px`;
    tip.style.top = `${y - box.height - 10 < 6 ? y + 16 : y - box.height - 10}px`;
  };
  const put = () => { tip.hidden = true; shown = null; };
  const showAt = (point) => {
    const box = point.getBoundingClientRect();
    show(point, box.left + box.width / 2, box.top);
  };
  for (const figure of all("figure svg")) {
    const points = all(".pt", figure);
    points.forEach((point, place) => {
      const title = point.querySelector("title");
      point.setAttribute("aria-label", title.textContent);
      title.remove(); // or the browser would show it as well
      point.setAttribute("role", "img");
      point.setAttribute("tabindex", place ? "-1" : "0");
    });
    figure.addEventListener("mousemove", (event) => {
      const point = event.target.closest(".pt");
      if (point) show(point, event.clientX, event.clientY, [event.clientX, event.clientY]); else put();
    });
    figure.addEventListener("mouseleave", put);
    figure.addEventListener("focusin", (event) => {
      const point = event.target.closest(".pt");
      if (point) showAt(point);
    });
    figure.addEventListener("focusout", put);
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const at = points.indexOf(event.target);
      if (event.key === "Escape") put();
      if (!step || at < 0) return;
      event.preventDefault();
      const next = points[(at + step + points.length) % points.length];
      event.target.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }
  addEventListener("scroll", () => {
    if (!shown) return;
    if (!shown.pointer) showAt(shown.point);
    else if (document.elementFromPoint(...shown.pointer)?.closest(".pt") !== shown.point) put();
  }, { passive: true, capture: true });

  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
})();
