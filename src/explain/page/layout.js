// Lays out the rectangles of a view. A view is a part, or a range of its children.
// Children that are too narrow share one rectangle, which opens as a view of its own.
// So each of 100,000 parts can be reached.

// Widths are in pixels.
const MIN_WIDTH = 3; // A rectangle of one part.
const MIN_SUM_WIDTH = 24; // A rectangle that children share, except the last one.
const MIN_PARENT_WIDTH = 12; // A parent that shows children of less than a pixel.
const MIN_MARKER_WIDTH = 16; // The marker of a blocker, which may have no bytes.
const MAX_MARKER_WIDTH = 190;
const MAX_ROWS = 30;
// Parts below this width may be nested deeply, and their text cannot be read.
const NARROW = 40;
const MAX_NARROW_ROWS = 12;
const MAX_ITEMS = 4000;

const viewOf = (part) => ({ part, from: firstChild[part], to: firstChild[part + 1], isSum: false });

function viewBytes(view) {
  if (!view.isSum) return bytes[view.part];
  let sum = 0;
  for (let at = view.from; at < view.to; at++) sum += bytes[children[at]];
  return sum;
}

const isWhole = (item) => !item.isSum && !item.blockers;

// Adds the rectangles of the children, from the left edge of `item` on. If no part in
// the view has bytes, all get the same width.
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
    const isSum = size * scale < MIN_WIDTH;
    while (isSum && at < item.to && size * scale < MIN_SUM_WIDTH) size += sizeAt(at++);
    let width = Math.min(size * scale, right - left);
    if (width < 1) {
      // The remaining children have almost no bytes, but share a visible rectangle.
      if (item.width < MIN_PARENT_WIDTH) break;
      left = Math.min(left, right - MIN_WIDTH);
      width = MIN_WIDTH;
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
    const most = item.width < NARROW ? MAX_NARROW_ROWS : MAX_ROWS;
    const isLast = item.row + 1 >= most || items.length >= MAX_ITEMS;
    item.isDeep = isLast && item.from < item.to;
    // A rectangle that children share is split only if it is the view.
    if (!isLast && (!item.isSum || next === 0)) split(item, (child) => items.push(child));
  }
  addMarkers(items, view, width);
  return items;
}

// For each part, its rectangle or that of its nearest ancestor; undefined outside of
// the view.
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

// Adds a marker for each blocker, below its parent and at the right: the place of the
// parent's own bytes.
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
    const free = Math.max(item.width - item.used, Math.min(MIN_MARKER_WIDTH, item.width));
    const fits = free >= blockers.length * MIN_MARKER_WIDTH;
    const groups = fits ? blockers.map((blocker) => [blocker]) : [blockers];
    const narrowest = MIN_MARKER_WIDTH + (fits ? 0 : 8 * String(blockers.length).length - 8);
    const each = Math.max(narrowest, Math.min(MAX_MARKER_WIDTH, free / groups.length));
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
