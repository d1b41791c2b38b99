// Stretches of time that were played: a list of [from, to], in order and apart.
const JOINED = 0.06; // seconds between two stretches that count as none: clocks round

export function added(ranges, from, to) {
  if (!(to > from)) return ranges;
  const all = [...ranges, [from, to]].sort((a, b) => a[0] - b[0]);
  const joined = [all[0].slice()];
  for (const [start, end] of all.slice(1)) {
    const last = joined[joined.length - 1];
    if (start <= last[1] + JOINED) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

// How many seconds of a window they cover.
export function covered(ranges, from = -Infinity, to = Infinity) {
  return ranges.reduce((sum, [start, end]) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)), 0);
}
