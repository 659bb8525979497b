"use strict";
/* Two lists of keys side by side: pairs [i, j] of places, -1 where one has nothing; equal pairs are in both.
   Patience: keys that each list has once are anchors; what lies between is compared in full where it is small. */
function align(a, b) {
  const pairs = [];
  const between = (a0, a1, b0, b1) => {
    while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) pairs.push([a0++, b0++]);
    const tail = [];
    while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) tail.push([--a1, --b1]);
    if (a0 < a1 && b0 < b1) {
      const anchors = anchorsOf(a0, a1, b0, b1);
      if (anchors.length) {
        for (const [i, j] of anchors) { between(a0, i, b0, j); pairs.push([i, j]); a0 = i + 1; b0 = j + 1 }
        between(a0, a1, b0, b1);
        a0 = a1; b0 = b1;
      } else if ((a1 - a0) * (b1 - b0) < 4e6) { longest(a0, a1, b0, b1); a0 = a1; b0 = b1 }
    }
    replace(a0, a1, b0, b1);
    for (const p of tail.reverse()) pairs.push(p);
  };
  const replace = (a0, a1, b0, b1) => {
    for (; a0 < a1 || b0 < b1; a0++, b0++) pairs.push([a0 < a1 ? a0 : -1, b0 < b1 ? b0 : -1]);
  };
  const anchorsOf = (a0, a1, b0, b1) => {
    const seen = new Map();
    for (let i = a0; i < a1; i++) { const s = seen.get(a[i]); s ? s.n++ : seen.set(a[i], {n: 1, i, m: 0, j: -1}) }
    for (let j = b0; j < b1; j++) { const s = seen.get(b[j]); if (s) { s.m++; s.j = j } }
    const once = [...seen.values()].filter(s => s.n === 1 && s.m === 1).sort((x, y) => x.i - y.i);
    // The longest increasing run of j.
    const ends = [];
    for (const s of once) {
      let low = 0, high = ends.length;
      while (low < high) { const mid = (low + high) >> 1; ends[mid].j < s.j ? low = mid + 1 : high = mid }
      s.before = low ? ends[low - 1] : null; ends[low] = s;
    }
    const chain = [];
    for (let s = ends[ends.length - 1]; s; s = s.before) chain.push([s.i, s.j]);
    return chain.reverse();
  };
  /* The longest common subsequence, by its table. */
  const longest = (a0, a1, b0, b1) => {
    const n = a1 - a0, m = b1 - b0, t = new Uint16Array((n + 1) * (m + 1));
    for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--)
      t[i * (m + 1) + j] = a[a0 + i] === b[b0 + j] ? t[(i + 1) * (m + 1) + j + 1] + 1
        : Math.max(t[(i + 1) * (m + 1) + j], t[i * (m + 1) + j + 1]);
    let i = 0, j = 0, i0 = 0, j0 = 0;
    while (i < n && j < m) {
      if (a[a0 + i] === b[b0 + j]) { replace(a0 + i0, a0 + i, b0 + j0, b0 + j); pairs.push([a0 + i++, b0 + j++]); i0 = i; j0 = j }
      else if (t[(i + 1) * (m + 1) + j] >= t[i * (m + 1) + j + 1]) i++; else j++;
    }
    replace(a0 + i0, a1, b0 + j0, b1);
  };
  between(0, a.length, 0, b.length);
  return pairs;
}
