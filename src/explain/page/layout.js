// Where the rectangles of a view are. A view is a part, or a range of what it holds:
// parts that are too narrow are summed up in one rectangle, which is a view as well, so
// that all of 100,000 parts can be reached.

const NARROWEST = 3; // Pixels of a part that is drawn by itself.
const NARROWEST_SUM = 24; // Of several that are summed up, if there are so many.
const ROOM = 12; // Pixels of what can lend some of them to what has none.
const MARKER = 16; // Of what cannot travel, which may have no bytes.
const WIDEST_MARKER = 190;
const MOST_ROWS = 30;
// What is narrow can be deep, and nobody reads it: some rows of it do.
const NARROW = 40;
const MOST_NARROW_ROWS = 12;
const MOST_ITEMS = 4000;

const viewOf = (part) => ({ part, from: firstChild[part], to: firstChild[part + 1], isSum: false });

function viewBytes(view) {
  if (!view.isSum) return bytes[view.part];
  let sum = 0;
  for (let at = view.from; at < view.to; at++) sum += bytes[children[at]];
  return sum;
}

const isWhole = (item) => !item.isSum && !item.blockers;

// The rectangles of what one holds, from its left edge on. Where nothing in the view has
// bytes, all are as wide.
function split(item, add) {
  const isEven = item.row === 0 && item.bytes === 0;
  const whole = isEven ? item.to - item.from : item.bytes;
  const scale = whole ? item.width / whole : 0;
  const sizeAt = (at) => (isEven ? 1 : bytes[children[at]]);
  const right = item.left + item.width;
  let left = item.left;
  let at = item.from;
  while (at < item.to) {
    const from = at;
    let size = sizeAt(at++);
    const isSum = size * scale < NARROWEST;
    while (isSum && at < item.to && size * scale < NARROWEST_SUM) size += sizeAt(at++);
    let width = Math.min(size * scale, right - left);
    if (width < 1) {
      // What is left is hardly anything, and can be reached all the same.
      if (item.width < ROOM) break;
      left = Math.min(left, right - NARROWEST);
      width = NARROWEST;
      while (at < item.to) size += sizeAt(at++);
    }
    const place = { left, width, row: item.row + 1, bytes: isEven ? 0 : size, above: item };
    const alone = at - from === 1;
    add({ ...(alone ? viewOf(children[from]) : { part: item.part, from, to: at, isSum: true }), ...place });
    left += width;
  }
  item.used = left - item.left;
}

// The rectangles of a view, row by row.
function layout(view, width) {
  const items = [{ ...view, left: 0, width, row: 0, bytes: viewBytes(view), above: null }];
  for (let next = 0; next < items.length; next++) {
    const item = items[next];
    item.used = 0;
    const most = item.width < NARROW ? MOST_NARROW_ROWS : MOST_ROWS;
    const isLast = item.row + 1 >= most || items.length >= MOST_ITEMS;
    item.isDeep = isLast && item.from < item.to;
    // What is summed up is taken apart where it is the view.
    if (!isLast && (!item.isSum || next === 0)) split(item, (child) => items.push(child));
  }
  addMarkers(items, view, width);
  return items;
}

// The rectangle that shows a part, or what holds it; undefined outside of the view.
function findShown(items, view) {
  const shown = new Map();
  for (const item of items) {
    if (!item.isSum) shown.set(item.part, item);
    else for (let at = item.from; at < item.to; at++) shown.set(children[at], item);
  }
  const nearest = new Array(count);
  for (let part = 0; part < count; part++) {
    nearest[part] = shown.get(part) ?? (part === 0 || part === view.part ? undefined : nearest[parent[part]]);
  }
  return nearest;
}

// What cannot travel hangs below what holds it, at the right, where its own bytes are.
function addMarkers(items, view, width) {
  if (!data.blockers.length || !count) return;
  const nearest = findShown(items, view);
  const held = new Map();
  for (const blocker of data.blockers) {
    const item = nearest[blocker.part];
    if (!item) continue;
    if (blocker.isPart && isWhole(item) && item.part === blocker.part && item.row > 0) {
      item.blocked = blocker;
    } else if (held.has(item)) {
      held.get(item).push(blocker);
    } else {
      held.set(item, [blocker]);
    }
  }
  for (const [item, blockers] of held) {
    const free = Math.max(item.width - item.used, Math.min(MARKER, item.width));
    const fits = free >= blockers.length * MARKER;
    const groups = fits ? blockers.map((blocker) => [blocker]) : [blockers];
    const narrowest = MARKER + (fits ? 0 : 8 * String(blockers.length).length - 8);
    const each = Math.max(narrowest, Math.min(WIDEST_MARKER, free / groups.length));
    const left = Math.max(0, Math.min(width, item.left + item.width) - each * groups.length);
    groups.forEach((group, place) => {
      items.push({
        part: item.part, from: 0, to: 0, isSum: false, blockers: group, bytes: 0, used: 0,
        left: left + place * each, width: each, row: item.row + 1, above: item,
      });
    });
  }
  items.sort((a, b) => a.row - b.row || a.left - b.left);
}
