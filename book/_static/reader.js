/* Small helps for the reader: figures enlarge on a phone, what goes on to the right fades there, the claims ledger can be filtered, the sidebar's arrows have names. */
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".ldpbo-figure")) {
    const image = box.querySelector("img");
    if (!image) continue;
    const button = document.createElement("button");
    const toggle = () => { button.textContent = box.classList.toggle("large") ? "fit to width" : "enlarge"; fade(box); };
    button.type = "button";
    button.className = "ldpbo-enlarge";
    button.textContent = "enlarge";
    button.addEventListener("click", toggle);
    image.addEventListener("click", () => { if (getComputedStyle(button).display !== "none") toggle(); });
    box.classList.add("wide");
    image.after(button);
  }

  // Hidden cells that follow each other without an output have one "Show the code" together; one that only imports says so.
  for (const cell of document.querySelectorAll(".cell.tag_hide-input")) {
    const details = cell.querySelector("details"), next = cell.nextElementSibling;
    if (!details) continue;
    const code = details.querySelector("pre").textContent.trim().split("\n");
    if (!cell.querySelector(".cell_output") && next?.matches(".cell.tag_hide-input") && next.querySelector("details")) {
      next.querySelector("summary").after(...[...details.children].filter(part => part.tagName !== "SUMMARY"));
      cell.remove();
    } else if (code.every(line => /^(import |from |$)/.test(line))) {
      for (const words of details.querySelectorAll("summary p")) words.textContent = words.textContent.replace("the code", "the imports");
    }
  }

  const wide = "mjx-container[display], span.math, .ldpbo-table, .ldpbo-figure, .pst-scrollable-table-container";
  const fade = box => {
    const content = box.matches("mjx-container, span.math") ? box.querySelector("mjx-math") : box.firstElementChild;
    const inside = (content || box).getBoundingClientRect(), outside = box.getBoundingClientRect();
    box.classList.toggle("ldpbo-scroll", inside.width - outside.width > 8);
    box.classList.toggle("ldpbo-more", inside.width - outside.width > 8 && inside.right - outside.right > 8);
  };
  const look = () => document.querySelectorAll(wide).forEach(fade);
  document.addEventListener("scroll", event => { if (event.target.matches?.(wide)) fade(event.target); }, {capture: true, passive: true});
  addEventListener("resize", look);
  addEventListener("load", () => window.MathJax?.startup?.promise ? MathJax.startup.promise.then(look) : look());

  for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages below ${link ? link.textContent.trim() : "this one"}`);
  }

  const badges = [...document.querySelectorAll("table.ledger .verdict")];
  if (!badges.length) return;
  const count = new Map();
  for (const verdict of ["holds", "holds with a fix", "does not hold as stated", "unproved", "not reproduced", "cannot be tested"]) count.set(verdict, 0);
  for (const badge of badges) count.set(badge.textContent, (count.get(badge.textContent) || 0) + 1);
  const filter = document.createElement("fieldset");
  filter.className = "ledger-filter";
  filter.innerHTML = "<legend>Verdicts shown</legend>";
  for (const [verdict, many] of count) {
    const label = document.createElement("label"), box = document.createElement("input"), text = document.createElement("span");
    const like = badges.find(badge => badge.textContent === verdict);
    if (!like) continue;
    box.type = "checkbox";
    box.checked = true;
    box.value = verdict;
    text.className = like.className;
    text.textContent = `${verdict} (${many})`;
    label.append(box, " ", text);
    filter.append(label);
  }
  filter.addEventListener("change", () => {
    const shown = new Set([...filter.querySelectorAll("input:checked")].map(box => box.value));
    for (const badge of badges) badge.closest("tr").hidden = !shown.has(badge.textContent);
  });
  document.querySelector("article h1").after(filter);
});
