// Handles input: pointing, zooming, going back, searching.

const search = document.getElementById("search");
const found = document.getElementById("found");
const crumbs = document.getElementById("crumbs");
const MAX_CRUMBS = 5;

const views = []; // The views shown before the current one.
const isHit = new Uint8Array(count);
const hitsBelow = new Int32Array(count);

function show(next, focuses) {
  view = next;
  draw();
  drawCrumbs();
  mark();
  if (focuses && elements[0]) elements[0].focus({ preventScroll: true });
}

function zoom(next, focuses) {
  if (["part", "isSum", "from", "to"].every((key) => next[key] === view[key])) return;
  views.push(view);
  show(next, focuses);
}

function back(focuses) {
  if (views.length) show(views.pop(), focuses);
}

function crumb(content, next, isCurrent) {
  const row = make("li");
  const step = make(isCurrent || !next ? "span" : "button", "", cut(content, 60));
  if (isCurrent) step.setAttribute("aria-current", "location");
  else if (next) step.addEventListener("click", () => zoom(next, true));
  row.append(step);
  crumbs.append(row);
}

function drawCrumbs() {
  const parts = [];
  for (let part = view.part; ; part = parent[part]) {
    parts.unshift(part);
    if (part === 0 || parts.length > MAX_CRUMBS) break;
  }
  crumbs.replaceChildren();
  if (parts[0] !== 0) {
    crumb(data.step[0], viewOf(0), false);
    parts[0] = -1;
  }
  parts.forEach((part, place) => {
    if (part < 0) crumb("\u2026", null, false);
    else crumb(text("variable", part) || data.step[part], viewOf(part), !view.isSum && place === parts.length - 1);
  });
  if (view.isSum) crumb(counted(view.to - view.from, "small part"), null, true);
  if (!views.length) return;
  const button = make("button", "back", "Back (Esc)");
  button.addEventListener("click", () => back(true));
  crumbs.lastChild.append(button);
}

// --- search ------------------------------------------------------------------------

const FIELDS = ["type", "detail", "file", "function", "expression", "variable"];

// A part is a hit if one of its texts contains the query, or if a match in its path
// ends in its own step. Its children have the same match in their paths, and are no
// hits.
function findHits(query) {
  isHit.fill(0);
  hitsBelow.fill(0);
  const isTextHit = data.texts.map((one) => one.toLowerCase().includes(query));
  const ends = new Array(count);
  for (let part = 0; part < count; part++) {
    const before = part ? ends[parent[part]] : "";
    const path = before + data.step[part].toLowerCase();
    ends[part] = query.length > 1 ? path.slice(1 - query.length) : "";
    const hit = path.includes(query) || FIELDS.some((field) => isTextHit[data[field][part]]);
    isHit[part] = hitsBelow[part] = hit ? 1 : 0;
  }
  addUp(hitsBelow);
}

// The bytes of all hits. A hit inside another hit is counted with the outer one.
function sumHits() {
  const isInside = new Uint8Array(count);
  let sum = 0;
  for (let part = 0; part < count; part++) {
    const inside = part > 0 && (isInside[parent[part]] || isHit[parent[part]]);
    isInside[part] = inside ? 1 : 0;
    if (isHit[part] && !inside) sum += bytes[part];
  }
  return sum;
}

const blockerHas = (blocker, query) =>
  [blocker.path, blocker.type, blocker.file, blocker.function, blocker.reason]
    .some((one) => one.toLowerCase().includes(query));

function mark() {
  const query = search.value.trim().toLowerCase();
  chart.classList.toggle("searching", query !== "");
  if (!query) return;
  items.forEach((item, place) => {
    let hit = item.isSum ? false : isHit[item.part] === 1;
    let way = hitsBelow[item.part] > 0;
    if (item.blockers) hit = item.blockers.some((blocker) => blockerHas(blocker, query));
    for (let at = item.from; item.isSum && at < item.to && !hit; at++) hit = hitsBelow[children[at]] > 0;
    if (item.isSum || item.blockers) way = false;
    elements[place].classList.toggle("hit", hit);
    elements[place].classList.toggle("way", way && !hit);
  });
}

function find() {
  const query = search.value.trim().toLowerCase();
  if (query) {
    findHits(query);
    const sum = sumHits();
    const blocked = data.blockers.filter((blocker) => blockerHas(blocker, query)).length;
    found.textContent = counted(count ? hitsBelow[0] : 0, "part") + ", " + sizeText(sum) +
      " (" + shareText(sum) + ")" + (blocked ? ", " + blocked + " cannot travel" : "");
  } else {
    found.textContent = "";
  }
  mark();
}

// --- pointer and keys --------------------------------------------------------------

const placeAt = (target) => Number(target.closest?.(".item")?.dataset.place ?? -1);

function focusOn(place) {
  if (!elements[place]) return;
  for (const element of chart.querySelectorAll("[tabindex='0']")) element.tabIndex = -1;
  elements[place].tabIndex = 0;
  elements[place].focus();
}

const placeOfAbove = (item) => items.indexOf(item.above);
const placeOfBelow = (item) => items.findIndex((other) => other.above === item);

function beside(place, step) {
  const other = items[place + step];
  return other && other.row === items[place].row ? place + step : -1;
}

function open(place) {
  const item = items[place];
  if (item.blockers) focusOn(place);
  else zoom({ part: item.part, from: item.from, to: item.to, isSum: item.isSum }, true);
}

const KEYS = {
  ArrowUp: (place) => focusOn(placeOfAbove(items[place])),
  ArrowDown: (place) => focusOn(placeOfBelow(items[place])),
  ArrowLeft: (place) => focusOn(beside(place, -1)),
  ArrowRight: (place) => focusOn(beside(place, 1)),
  Home: () => focusOn(0),
  Enter: open,
  " ": open,
};

chart.addEventListener("keydown", (event) => {
  const place = placeAt(event.target);
  if (place < 0 || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  KEYS[event.key](place);
});
chart.addEventListener("click", (event) => {
  const place = placeAt(event.target);
  if (place >= 0) open(place);
});
for (const kind of ["pointerover", "focusin"]) {
  chart.addEventListener(kind, (event) => {
    const place = placeAt(event.target);
    if (place >= 0) tell(items[place]);
  });
}
// When the pointer leaves, the panel describes the focused rectangle again.
chart.addEventListener("pointerleave", () => {
  const place = placeAt(document.activeElement);
  if (items.length) tell(items[Math.max(place, 0)]);
});
document.addEventListener("keydown", (event) => {
  // In the search field, Escape only clears the field.
  if (event.key === "Escape" && !event.defaultPrevented) back(chart.contains(document.activeElement));
});
let waiting = 0;
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(find, 100);
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && search.value) {
    search.value = "";
    find();
    event.preventDefault();
  }
  if (event.key === "Enter") focusOn(elements.findIndex((element) => element.classList.contains("hit")));
});

// Paths in the tables lead to the chart.
function linkTables() {
  for (const cell of document.querySelectorAll("td[data-part]")) {
    const button = make("button");
    button.title = "Show in the chart";
    button.append(...cell.childNodes);
    button.addEventListener("click", () => {
      zoom(viewOf(Number(cell.dataset.part)), true);
      document.getElementById("picture").scrollIntoView({ block: "start" });
    });
    cell.append(button);
  }
}

if (view) {
  document.getElementById("picture").hidden = false;
  drawLegend();
  linkTables();
  show(view, false);
  let width = chart.clientWidth;
  new ResizeObserver(() => {
    if (chart.clientWidth === width) return;
    width = chart.clientWidth;
    const focused = chart.contains(document.activeElement);
    show(view, focused);
  }).observe(chart);
}
