// The parts as columns: an array for each field, so that 100,000 parts load quickly.
// An index leads from each part to its children, largest first.

const data = JSON.parse(document.getElementById("data").textContent);
const { parent, bytes, own } = data;
const count = parent.length;

const firstChild = new Int32Array(count + 1);
const children = new Int32Array(count);
// Blockers at a part and below it.
const blockedBelow = new Int32Array(count);

function sortChildren() {
  for (let part = 1; part < count; part++) firstChild[parent[part] + 1]++;
  for (let part = 0; part < count; part++) firstChild[part + 1] += firstChild[part];
  const free = firstChild.slice();
  for (let part = 1; part < count; part++) children[free[parent[part]]++] = part;
  for (let part = 0; part < count; part++) {
    const held = children.subarray(firstChild[part], firstChild[part + 1]);
    if (held.length > 1) held.sort((a, b) => bytes[b] - bytes[a] || a - b);
  }
}

// Each part follows its parent, so one pass from the end adds up all descendants.
function addUp(counts) {
  for (let part = count - 1; part > 0; part--) counts[parent[part]] += counts[part];
}

sortChildren();
if (count) for (const blocker of data.blockers) blockedBelow[blocker.part]++;
addUp(blockedBelow);

const text = (column, part) => data.texts[data[column][part]];

// The steps from `start`, or from the last variable, to a part.
function pathOf(part, isShort) {
  const steps = [];
  for (;;) {
    const variable = isShort ? text("variable", part) : "";
    steps.push(variable || data.step[part]);
    if (part === 0 || variable) return steps.reverse().join("");
    part = parent[part];
  }
}

// Shortens a text to fit a label. Leaves out the middle, which says least.
function cut(whole, length) {
  if (whole.length <= length) return whole;
  const end = Math.floor(length * 0.6);
  return whole.slice(0, length - end) + "\u2026" + whole.slice(-end);
}

const UNITS = ["kB", "MB", "GB", "TB", "PB", "EB"];

// Must give the same text as size_text() in src/explain/size_text.cpp.
function sizeText(size) {
  if (size < 1000) return size + " B";
  size /= 1000;
  let unit = 0;
  for (; size >= 999.95 && unit < UNITS.length - 1; unit++) size /= 1000;
  return size.toFixed(1) + " " + UNITS[unit];
}

function shareText(size) {
  const share = data.total ? (100 * size) / data.total : 0;
  if (share > 0 && share < 0.1) return "under 0.1 %";
  return (share < 10 ? share.toFixed(1) : Math.round(share)) + " %";
}

const counted = (number, noun) =>
  number.toLocaleString("en") + " " + noun + (number === 1 ? "" : "s");

function placeText(place) {
  const at = place.file ? place.file + (place.line ? ":" + place.line : "") : "";
  const where = [at, place.function ? "in " + place.function : ""].filter(Boolean);
  if (place.expression) where.push("as " + place.expression);
  return where.join(" ");
}

// A child is captured together with its parent, so it has the place of the nearest
// ancestor whose place is known.
const captured = new Int32Array(count);
for (let part = 1; part < count; part++) {
  const isKnown = text("file", part) || text("function", part) || text("expression", part);
  captured[part] = isKnown ? part : captured[parent[part]];
}

function placeOf(part) {
  const at = captured[part];
  return {
    file: text("file", at),
    line: data.line[at],
    function: text("function", at),
    expression: text("expression", at),
  };
}

// Each of the largest types gets its own colour. All others share the last colour.
const COLOURS = 6;
const typeBytes = new Map();
for (let part = 0; part < count; part++) {
  const type = data.type[part];
  typeBytes.set(type, (typeBytes.get(type) || 0) + own[part]);
}
const typeColours = new Map(
  [...typeBytes.keys()]
    .sort((a, b) => typeBytes.get(b) - typeBytes.get(a) || a - b)
    .slice(0, COLOURS)
    .filter((type) => typeBytes.get(type) * 1000 >= data.total)
    .map((type, place) => [type, place]),
);
const colourOf = (part) => "t" + (typeColours.get(data.type[part]) ?? COLOURS);
