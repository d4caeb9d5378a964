/* Small helps for the reader: figures enlarge on a phone, the claims ledger can be filtered, the sidebar's arrows have names. */
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".ldpbo-figure")) {
    const image = box.querySelector("img");
    if (!image || image.getAttribute("width") / image.getAttribute("height") < 1.3) continue;          // a picture that names no size counts as wide
    const button = document.createElement("button");
    const toggle = () => { button.textContent = box.classList.toggle("large") ? "fit to width" : "enlarge"; };
    button.type = "button";
    button.className = "ldpbo-enlarge";
    button.textContent = "enlarge";
    button.addEventListener("click", toggle);
    image.addEventListener("click", () => { if (getComputedStyle(button).display !== "none") toggle(); });
    box.classList.add("wide");
    image.after(button);
  }

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
