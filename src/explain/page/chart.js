// Draws a view. Describes each rectangle in its label, and in the panel on request.

const chart = document.getElementById("chart");
const details = document.getElementById("details");
const ROW = 26;
const MAX_LISTED = 5; // Blockers of one marker that the panel lists.

let view = count ? viewOf(0) : null;
let items = [];
let elements = [];

function make(tag, className, content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (content !== undefined) element.textContent = content;
  return element;
}

const KINDS = ["", "by reference", "by reference", "out of band"];

function titleOf(item) {
  if (item.isSum) return counted(item.to - item.from, "small part");
  if (item.blockers) return item.blockers.length === 1 ? lastStep(item.blockers[0]) : String(item.blockers.length);
  return text("variable", item.part) || data.step[item.part];
}

// The label of a blocker: its path, shortened.
function lastStep(blocker) {
  return cut(blocker.short || blocker.path, 26);
}

function typeText(part) {
  return [text("type", part), text("detail", part)].filter(Boolean).join(" ");
}

function nameOf(item) {
  if (item.blockers) {
    const [blocker] = item.blockers;
    if (item.blockers.length > 1) return item.blockers.length + " objects cannot travel, below " + cut(pathOf(item.part, true), 200);
    return [cut(blocker.path, 300), blocker.type, "cannot travel", blocker.reason, placeText(blocker)].filter(Boolean).join(", ");
  }
  const path = cut(pathOf(item.part, true), 300);
  const size = sizeText(item.bytes) + ", " + shareText(item.bytes);
  if (item.isSum) return titleOf(item) + " of " + path + ", " + size;
  const parts = [path, typeText(item.part), size, KINDS[data.kind[item.part]], placeText(placeOf(item.part))];
  if (item.blocked) parts.push("cannot travel", item.blocked.reason);
  return parts.filter(Boolean).join(", ");
}

function classOf(item) {
  const names = ["item"];
  if (item.isSum) names.push("rest");
  else if (item.blockers || item.blocked) names.push("bad");
  else names.push(colourOf(item.part));
  if (isWhole(item) && KINDS[data.kind[item.part]]) names.push("named");
  if (isWhole(item) && blockedBelow[item.part]) names.push("holds");
  if (item.isDeep) names.push("deep");
  if (item.width < 20) names.push("thin");
  return names.join(" ");
}

function elementOf(item, place) {
  const element = make("div", classOf(item));
  element.style.left = item.left + "px";
  element.style.top = item.row * ROW + "px";
  element.style.width = item.width + "px";
  element.tabIndex = place === 0 ? 0 : -1;
  element.setAttribute("role", "treeitem");
  element.setAttribute("aria-level", item.row + 1);
  element.setAttribute("aria-label", nameOf(item));
  element.dataset.place = place;
  if (item.width >= 28) element.append(make("b", "", titleOf(item)));
  else if (item.blockers) element.append(make("b", "", item.blockers.length > 1 ? titleOf(item) : "!"));
  if (item.width >= 120 && !item.blockers) element.append(make("i", "", sizeText(item.bytes)));
  return element;
}

function draw() {
  if (!view) return;
  items = layout(view, chart.clientWidth);
  elements = items.map(elementOf);
  chart.replaceChildren(...elements);
  chart.style.height = (1 + Math.max(...items.map((item) => item.row))) * ROW + "px";
  tell(items[0]);
}

function line(className, content) {
  if (content) details.append(make("p", className, content));
}

function tellBlocker(blocker) {
  const path = make("p", "path");
  path.append(make("code", "", cut(blocker.path, 600)));
  details.append(path);
  line("", [blocker.type, placeText(blocker)].filter(Boolean).join(" \u00b7 "));
  line("reason", "Cannot travel: " + blocker.reason);
  if (blocker.remedy) details.append(make("pre", "", blocker.remedy));
}

function tellBlockers(blockers) {
  if (blockers.length === 1) {
    tellBlocker(blockers[0]);
    return;
  }
  line("reason", counted(blockers.length, "object") + " cannot travel:");
  for (const blocker of blockers.slice(0, MAX_LISTED)) {
    const row = make("p");
    row.append(make("code", "", cut(blocker.path, 200)), " " + blocker.type);
    details.append(row);
  }
  if (blockers.length > MAX_LISTED) line("faint", "The table below has all, and what to do.");
}

// Fills the panel.
function tell(item) {
  details.replaceChildren();
  if (item.blockers) {
    tellBlockers(item.blockers);
    return;
  }
  if (item.blocked) {
    tellBlocker(item.blocked);
    return;
  }
  const path = make("p", "path");
  path.append(make("code", "", (item.isSum ? titleOf(item) + " of " : "") + cut(pathOf(item.part, false), 600)));
  details.append(path);
  const size = sizeText(item.bytes) + " (" + shareText(item.bytes) + ")";
  if (item.isSum) {
    line("", size);
    if (item.row) line("faint", "Enter or a click shows them apart.");
    return;
  }
  const facts = [typeText(item.part), size];
  if (own[item.part] !== item.bytes) facts.push(sizeText(own[item.part]) + " of its own");
  line("", facts.join(" \u00b7 "));
  const notes = [KINDS[data.kind[item.part]] && "travels " + KINDS[data.kind[item.part]]];
  if (data.flags[item.part] & 1) notes.push("referred to more than once, counted here");
  if (data.flags[item.part] & 2) notes.push("the path does not evaluate");
  const blocked = blockedBelow[item.part];
  line("faint", placeText(placeOf(item.part)));
  line("faint", notes.filter(Boolean).join(", "));
  if (blocked) line("reason", counted(blocked, "object") + " in it cannot travel.");
}

function drawLegend() {
  const legend = document.getElementById("legend");
  const add = (className, content) => {
    const row = make("li");
    row.append(make("span", "swatch " + className), make("span", "", content));
    legend.append(row);
  };
  for (const [type, place] of typeColours) {
    add("t" + place, (data.texts[type] || "unknown") + " " + shareText(typeBytes.get(type)));
  }
  if (typeBytes.size > legend.childElementCount) add("t6", "other types");
  if (data.kind.some((kind) => KINDS[kind])) add("t6 named", "by reference");
  add("rest", "small parts, summed up");
  if (data.blockers.length) add("bad", "cannot travel");
}
