/* Small helps for the reader: figures enlarge on a phone, what goes on to the right fades there,
   hidden cells share a button, the sidebar's arrows have names, terms and errata say what they
   mean, links into folded boxes open them, the claims ledger has a filter. */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const WIDE = [
    "mjx-container[display]",
    "span.math",
    ".ldpbo-table",
    ".ldpbo-figure",
    ".pst-scrollable-table-container",
  ].join(", ");
  const SHORT = 24; // letters of code in the text that stay on one line
  const VERDICTS = [
    "holds",
    "holds with a fix",
    "does not hold as stated",
    "unproved",
    "not reproduced",
    "cannot be tested",
  ];

  /* Does the content of a box go on to the right? */
  function fade(box) {
    const formula = box.matches("mjx-container, span.math");
    const content = formula ? box.querySelector("mjx-math") : box.firstElementChild;
    const inside = (content || box).getBoundingClientRect();
    const outside = box.getBoundingClientRect();
    const wider = inside.width - outside.width > 8;
    box.classList.toggle("ldpbo-scroll", wider);
    box.classList.toggle("ldpbo-more", wider && inside.right - outside.right > 8);
  }
  function fadeAll() {
    document.querySelectorAll(WIDE).forEach(fade);
  }

  /* A figure has a button below it, seen on a phone, that enlarges it. */
  function addEnlarge(box, image) {
    const button = document.createElement("button");
    const toggle = () => {
      button.textContent = box.classList.toggle("large") ? "fit to width" : "enlarge";
      fade(box);
    };
    button.type = "button";
    button.className = "ldpbo-enlarge";
    button.textContent = "enlarge";
    button.addEventListener("click", toggle);
    image.addEventListener("click", () => {
      if (getComputedStyle(button).display !== "none") toggle();
    });
    box.classList.add("wide");
    image.after(button);
  }

  /* Hidden cells that follow each other without an output have one "Show the code" together, but
     for the parameters; one that only imports says so. */
  function joinHiddenCell(cell) {
    const details = cell.querySelector("details");
    if (!details) return;
    const next = cell.nextElementSibling;
    const silent = !cell.matches(".tag_parameters") && !cell.querySelector(".cell_output");
    const hiddenToo = next?.matches(".cell.tag_hide-input") && next.querySelector("details");
    const code = details.querySelector("pre").textContent.trim().split("\n");
    if (silent && hiddenToo) {
      const parts = [...details.children].filter((part) => part.tagName !== "SUMMARY");
      next.querySelector("summary").after(...parts);
      cell.remove();
    } else if (code.every((line) => /^(import |from |$)/.test(line))) {
      for (const words of details.querySelectorAll("summary p"))
        words.textContent = words.textContent.replace("the code", "the imports");
    }
  }

  /* A link into a folded box opens it. */
  function openTarget() {
    const name = decodeURIComponent(location.hash.slice(1));
    const target = name && document.getElementById(name);
    if (!target) return;
    const folded = target.closest("details:not([open])");
    for (let box = folded; box; box = box.parentElement.closest("details")) box.open = true;
    if (folded) target.scrollIntoView();
  }

  /* Terms and errata say what they mean on hover and on keyboard focus; Escape hides it. */
  function addHints(links) {
    const hint = document.createElement("div");
    hint.id = hint.className = "ldpbo-hint";
    hint.setAttribute("role", "tooltip");
    hint.hidden = true;
    document.body.append(hint);
    const hide = () => {
      hint.hidden = true;
    };
    const show = (link) => {
      hint.textContent = link.dataset.hint;
      hint.hidden = false;
      const place = link.getBoundingClientRect();
      const right = innerWidth - hint.offsetWidth - 8;
      const below = place.bottom + 6;
      const fits = below + hint.offsetHeight < innerHeight;
      hint.style.left = `${Math.max(8, Math.min(place.left, right))}px`;
      hint.style.top = `${fits ? below : place.top - hint.offsetHeight - 6}px`;
    };
    for (const link of links) {
      link.dataset.hint = link.title;
      link.removeAttribute("title");
      link.setAttribute("aria-describedby", hint.id);
      for (const kind of ["mouseenter", "focus"]) link.addEventListener(kind, () => show(link));
      for (const kind of ["mouseleave", "blur"]) link.addEventListener(kind, hide);
    }
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
    });
    const follow = () => {
      const link = document.activeElement;
      if (!hint.hidden && links.includes(link)) show(link);
      else hide();
    };
    document.addEventListener("scroll", follow, { passive: true });
  }

  /* Boxes that show or hide the rows of the claims ledger by verdict. */
  function addLedgerFilter(badges) {
    const filter = document.createElement("fieldset");
    filter.className = "ledger-filter";
    filter.innerHTML = "<legend>Verdicts shown</legend>";
    const found = badges.map((badge) => badge.textContent);
    for (const verdict of new Set([...VERDICTS, ...found])) {
      const like = badges.find((badge) => badge.textContent === verdict);
      if (!like) continue;
      const label = document.createElement("label");
      const box = document.createElement("input");
      const text = document.createElement("span");
      box.type = "checkbox";
      box.checked = true;
      box.value = verdict;
      text.className = like.className;
      text.textContent = `${verdict} (${found.filter((other) => other === verdict).length})`;
      label.append(box, " ", text);
      filter.append(label);
    }
    filter.addEventListener("change", () => {
      const checked = [...filter.querySelectorAll("input:checked")].map((box) => box.value);
      for (const badge of badges) badge.closest("tr").hidden = !checked.includes(badge.textContent);
    });
    document.querySelector("article ul.ledger-key").replaceWith(filter);
  }

  for (const box of document.querySelectorAll(".ldpbo-figure")) {
    const image = box.querySelector("img");
    if (image) addEnlarge(box, image);
  }
  document.querySelectorAll(".cell.tag_hide-input").forEach(joinHiddenCell);
  for (const code of document.querySelectorAll(".bd-article code:not(pre code, table code)"))
    if (code.textContent.length <= SHORT) code.classList.add("ldpbo-nobreak");
  const fadeScrolled = (event) => {
    if (event.target.matches?.(WIDE)) fade(event.target);
  };
  document.addEventListener("scroll", fadeScrolled, { capture: true, passive: true });
  addEventListener("resize", fadeAll);
  addEventListener("hashchange", openTarget);
  openTarget();
  addEventListener("load", () => {
    const typeset = window.MathJax?.startup?.promise;
    if (typeset) typeset.then(fadeAll);
    else fadeAll();
  });
  for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const link = summary.closest("li")?.querySelector("a");
    const page = link ? link.textContent.trim() : "this one";
    summary.setAttribute("aria-label", `Pages below ${page}`);
  }
  const explained = [...document.querySelectorAll("a:is(.ldpbo-term, .ldpbo-erratum)[title]")];
  if (explained.length) addHints(explained);
  const badges = [...document.querySelectorAll("table.ledger .verdict")];
  if (badges.length) addLedgerFilter(badges);
});
