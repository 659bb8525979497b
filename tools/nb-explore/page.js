const $ = id => document.getElementById(id);
const el = (tag, cls, text) => {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
};
let D, current = 0, followed = null, tab = "IR", hits = [], hitAt = -1;
const BITS = [[1, "pixel"], [2, "source"], [4, "orientation"], [8, "sample"]];
const colorOf = d => { for (const b of [8, 4, 2, 1]) if (d & b) return `var(--d${b})`; return "transparent" };
/* A value's name without the numbers that keep it apart from others. */
const base = n => n.replace(/^%/, "").replace(/[_.]?\d+(\.i)*$/, "");

/* The browser takes the page for loaded when there is something to see: a document that is open holds that up. */
async function load() {
  const unpacking = $("unpacking").contentDocument;
  unpacking.open();
  await unpack().finally(() => unpacking.close());
}

async function unpack() {
  const raw = Uint8Array.from(atob($("data").textContent.trim()), c => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  D = JSON.parse(await new Response(stream).text());
  $("flags").textContent = D.title; $("flags").title = D.title; document.title = "nb-explore: " + D.title;
  for (const t of ["Overview", "IR", "LLVM IR", "Inner loop"]) {
    const b = el("button", t === tab ? "on" : "", t); b.onclick = () => showTab(t); $("tabs").append(b);
  }
  for (const [b, name] of BITS) { const s = el("span"), i = el("i"); i.style.background = `var(--d${b})`; s.append(i, name); $("key").append(s) }
  $("equal").onchange = () => showTab(tab);
  passes(); showStage(D.stages.findIndex((s, i) => i && s.changed) > 0 ? D.stages.findIndex((s, i) => i && s.changed) : 0);
  $("search").oninput = () => search($("search").value);
  $("search").onkeydown = e => { if (e.key === "Enter" && hits.length) { hitAt = (hitAt + (e.shiftKey ? hits.length - 1 : 1)) % hits.length; goHit() } };
  document.body.dataset.ready = "1";
}

function passes() {
  let stage = null; const box = $("passes"); box.textContent = "";
  D.stages.forEach((s, i) => {
    if (s.stage !== stage && s.stage) { stage = s.stage; box.append(el("div", "stage", stage)) }
    const d = el("div", s.changed ? "" : "unchanged", `${i} ${s.pass}`);
    if (s.trial) {
      const t = s.trial, ok = t.failure === "" && t.image && t.image.same && t.gradient_failure === "" && (!t.gradient || t.gradient.same);
      d.append(el("span", ok ? "good" : "bad", ok ? " ✓" : " ✗"));
      d.title = ok ? "image and gradient are right from here on" : "wrong from here on: " + (t.failure || "the image or the gradient differs");
    }
    if (i === current) d.classList.add("on");
    d.onclick = () => { tab = "IR"; showStage(i); showTab("IR") };
    box.append(d);
  });
}

/* --- lines --- */
const TOKEN = /(%[A-Za-z0-9_$.\-]+(?:#\d+)?)|("(?:[^"\\]|\\.)*")|(![A-Za-z_][\w.]*|\b(?:f64|f32|index|i1|i8|i32|i64|double|float|ptr)\b|\b(?:tensor|vector|memref)(?=<))|(\b[a-z_]+\.[a-z_.\d]+\b)|(-?\b\d+(?:\.\d+(?:[eE][-+]?\d+)?)?\b)/g;
function paint(row, text) {
  let at = 0; TOKEN.lastIndex = 0;
  for (let m; (m = TOKEN.exec(text));) {
    if (m.index > at) row.append(text.slice(at, m.index));
    const s = el("span", m[1] ? "v" : m[2] ? "s" : m[3] ? "t" : m[4] ? "o" : "n", m[0]);
    if (m[1]) { const n = base(m[0]); if (/[A-Za-z]/.test(n)) { s.dataset.name = n; s.onclick = e => { e.stopPropagation(); follow(n) } } }
    row.append(s); at = m.index + m[0].length;
  }
  row.append(text.slice(at));
}
const LONG = 300;
/* One line [text, dependence, name] of a program; a long one is cut off until it is asked for. */
function lineOf(l, cls, remarks) {
  const row = el("div", "l" + (cls ? " " + cls : ""));
  if (!l) return row;
  const text = l[0], bar = el("span", "d"); bar.style.background = colorOf(l[1]); row.append(bar);
  row.style.setProperty("--in", /^ */.exec(text)[0].length + 4 + "ch");
  if (l[1]) row.title = "depends on: " + BITS.filter(b => l[1] & b[0]).map(b => b[1]).join(", ");
  if (text.length <= LONG) paint(row, text);
  else {
    paint(row, text.slice(0, LONG));
    const more = el("span", "more", ` … ${text.length - LONG} more characters`);
    more.onclick = () => { more.remove(); paint(row, text.slice(LONG)); mark() };
    row.append(more);
  }
  for (const r of remarks || []) row.append(el("div", "r", "ⓘ " + r.message));
  return row;
}
/* Lines that are equal but for the numbers in names. */
const keyOf = t => t.replace(/%([A-Za-z_$.\-]*[A-Za-z$])?_?\d*/g, "%$1").trim();

/* --- a program beside that before it --- */
function diff(before, after, remarks) {
  const a = before.map(l => keyOf(l[0])), b = after.map(l => keyOf(l[0])), pairs = align(a, b);
  const lost = new Set(), made = new Set();
  for (const [i, j] of pairs) if (i < 0 || j < 0 || a[i] !== b[j]) { if (i >= 0) lost.add(a[i]); if (j >= 0) made.add(b[j]) }
  const byName = new Map();
  for (const r of remarks || []) if (r.name) byName.set(r.name, [...(byName.get(r.name) || []), r]);
  const box = el("div", "code"), rows = [];
  for (const [i, j] of pairs) {
    const same = i >= 0 && j >= 0 && a[i] === b[j];
    const cls = (k, other, c) => same ? "" : other.has(k) ? "moved" : k === "" ? "" : c;
    const said = j >= 0 && after[j][2] ? byName.get(after[j][2]) : null;
    if (said) byName.delete(after[j][2]);
    const row = el("div", "row");
    const left = lineOf(before[i], i < 0 ? "none" : cls(a[i], made, "del")), right = lineOf(after[j], j < 0 ? "none" : cls(b[j], lost, "add"), said);
    row.append(left, right); row.dataset.same = same && !said ? "1" : "";
    rows.push({row, left: i < 0 ? "" : before[i][0], right: j < 0 ? "" : after[j][0], lineLeft: left, lineRight: right});
    box.append(row);
  }
  regions(rows, "left", "lineLeft"); regions(rows, "right", "lineRight");
  if (!$("equal").checked) foldEqual(rows);
  return box;
}
/* A sign in front of what a brace opens, which hides what is in it. */
function regions(rows, side, line) {
  const open = [];
  rows.forEach((r, at) => {
    const text = r[side];
    if (/^\s*}/.test(text) && open.length) open.pop().end = at;
    if (/[{]\s*$/.test(text)) {
      const f = el("span", "f", "▾"), o = {begin: at, end: rows.length};
      f.onclick = () => {
        const hide = f.textContent === "▾"; f.textContent = hide ? "▸" : "▾";
        for (let i = o.begin + 1; i < o.end; i++) rows[i].row.classList.toggle("hidden", hide);
      };
      r[line].prepend(f); open.push(o);
    }
  });
}
/* Keeps the ends of a long stretch that did not change. */
function foldEqual(rows) {
  const CONTEXT = 3;
  for (let i = 0; i < rows.length;) {
    let end = i;
    while (end < rows.length && rows[end].row.dataset.same) end++;
    const first = i ? i + CONTEXT : 0, last = end < rows.length ? end - CONTEXT : end;
    if (last - first > 4 && last - first < rows.length) {
      const hidden = rows.slice(first, last).map(r => r.row), sign = el("div", "same", `${hidden.length} lines did not change`);
      const show = () => { for (const r of hidden) { r.classList.remove("equal"); delete r.dataset.fold } sign.remove() };
      for (const r of hidden) { r.classList.add("equal"); r._show = show }
      sign.onclick = show; hidden[0].before(sign);
    }
    i = Math.max(end, i + 1);
  }
}
function reveal(row) { if (row && row._show && row.classList.contains("equal")) row._show(); if (row) row.classList.remove("hidden") }

function pane(title, nodes) {
  const p = el("div", "pane"); p.append(el("h2", "", title)); const c = el("div", "code"); c.append(...nodes); p.append(c); return p;
}
function showStage(i) {
  current = i; passes(); const s = D.stages[i], b = D.stages[i - 1];
  if (!b) $("panes").replaceChildren(pane(`${i} ${s.pass}`, s.lines.map(l => lineOf(l))));
  else {
    const box = el("div", "diff"), head = el("div", "head");
    head.append(el("h2", "", `before: ${i - 1} ${b.pass}`), el("h2", "", `after: ${i} ${s.pass}${s.changed ? "" : " (nothing changed)"}`));
    box.append(head, diff(b.lines, s.lines, s.remarks)); $("panes").replaceChildren(box);
  }
  side(); if (followed) { mark(); showFollowed() } search($("search").value, true);
}

/* --- machine code --- */
function loopPane() {
  return pane("inner loop: instruction, and the value that it is for", D.loop.map(([text, name]) => {
    const r = el("div", "l"); r.append(text.replace(/\t/g, " ").padEnd(44));
    if (name) { const n = base(name) || name, s = el("span", "v", name); s.dataset.name = n; s.onclick = () => follow(n); r.append(s) }
    return r;
  }));
}
function portsPane() {
  const bars = D.ports, most = Math.max(...bars.map(b => b[1])), nodes = [], t = el("table");
  for (const [name, cycles] of bars) {
    if (!cycles) continue;
    const r = el("tr"), c = el("td"), bar = el("span", "bar" + (cycles > 0.9 * most ? " busy" : ""));
    bar.style.width = 160 * cycles / most + "px"; c.append(bar); r.append(el("td", "", name), el("td", "x", cycles.toFixed(2)), c); t.append(r);
  }
  t.style.margin = "6px 8px"; nodes.push(bars.length ? t : el("div", "", "LLVM has no model of this processor"));
  return pane("pressure on ports: cycles each time around the loop (LLVM's scheduling model)", nodes);
}
function showTab(t) {
  tab = t; for (const b of $("tabs").children) b.classList.toggle("on", b.textContent === t);
  $("overview").classList.toggle("hidden", t !== "Overview"); $("panes").classList.toggle("hidden", t === "Overview");
  if (t === "Overview") overview();
  if (t === "IR") showStage(current);
  if (t === "LLVM IR") $("panes").replaceChildren(pane("optimized LLVM IR of the function that renders a tile", D.llvm.map(l => lineOf([l, 0, ""]))), loopPane());
  if (t === "Inner loop") $("panes").replaceChildren(loopPane(), portsPane());
  if (t === "LLVM IR" || t === "Inner loop") { mark(); showFollowed(); search($("search").value, true) }
  side();
}

/* --- following a value --- */
function follow(n) { followed = followed === n ? null : n; mark(); side(); showFollowed() }
function mark() { document.querySelectorAll(".v").forEach(v => v.classList.toggle("sel", !!followed && v.dataset.name === followed)) }
function showFollowed() {
  const selected = [...document.querySelectorAll(".v.sel")];
  selected.forEach(v => reveal(v.closest(".row")));
  const boxes = [...document.querySelectorAll(".pane")];
  for (const p of boxes.length ? boxes : [document]) { const f = p.querySelector(".row>.l:last-child .v.sel") || p.querySelector(".v.sel"); if (f) f.scrollIntoView({block: "center"}) }
}
const isOf = name => name && (name === followed || base(name) === followed);
function trail(box) {
  box.append(el("h3", "", `where %${followed} went`));
  let before = "";
  D.stages.forEach((t, i) => {
    const own = t.lines.filter(l => isOf(l[2])); if (!own.length) return;
    const ops = new Map();
    for (const l of own) { const m = /=\s*"?([\w.]+)/.exec(l[0]); if (m) ops.set(m[1], (ops.get(m[1]) || 0) + 1) }
    const what = [...ops].sort((x, y) => y[1] - x[1]).slice(0, 4).map(o => `${o[1]}× ${o[0]}`).join(", ");
    if (what === before && i !== current) return;
    before = what;
    const a = el("a", i === current ? "here" : "", `${i} ${t.pass}`); a.onclick = () => { tab = "IR"; showStage(i); showTab("IR") };
    box.append(el("div"), a, el("div", "", what || `${own.length} op(s)`));
  });
  const inLlvm = D.llvm.filter(l => { const m = /^\s*%([\w.]+) =/.exec(l); return m && isOf(m[1]) }).length;
  const a = el("a", "", `LLVM IR: ${inLlvm} instruction(s)`), b = el("a", "", `inner loop: ${D.loop.filter(l => isOf(l[1])).length} of ${D.loop.length} instructions`);
  a.onclick = () => showTab("LLVM IR"); b.onclick = () => showTab("Inner loop");
  box.append(el("div"), a, el("div"), b);
}
function rowsOf(pairs) { const t = el("table"); for (const [a, b] of pairs) { const r = el("tr"); r.append(el("td", "", a), el("td", "x", String(b))); t.append(r) } return t }
const verdict = d => d ? `${d.same ? "right" : "WRONG"} (${d.relative.toExponential(1)})` : "-";
function side() {
  const box = $("side"), s = D.stages[current]; box.textContent = "";
  if (followed) trail(box);
  if (tab !== "IR") { if (D.statistics) box.append(el("h3", "", "inner loop"), rowsOf(D.statistics)); return }
  if (s.trial) {
    const t = s.trial; box.append(el("h3", "", `a kernel from the end of stage '${s.stage}' on`));
    box.append(t.failure ? el("div", "", t.failure) : rowsOf([["image", verdict(t.image)], ["gradient", t.gradient_failure || verdict(t.gradient)],
      ["instructions of the inner loop", t.loop_instructions], ["ns per sample", t.ns_per_sample === undefined ? "-" : t.ns_per_sample.toFixed(3)], ["code bytes", t.code_bytes]]));
  }
  box.append(el("h3", "", "remarks")); if (!s.remarks.length) box.append(el("div", "", "none"));
  for (const r of s.remarks) { const d = el("div", "remark", `${r.kind}: ${r.name ? "%" + r.name + ": " : ""}${r.message}`); if (r.name) { d.style.cursor = "pointer"; d.onclick = () => follow(base(r.name)) } box.append(d) }
  const b = current ? D.stages[current - 1].ops : {}, kinds = new Set([...Object.keys(s.ops), ...Object.keys(b)]);
  box.append(el("h3", "", "ops in the innermost loops, by kind"));
  box.append(rowsOf([...kinds].sort((x, y) => (s.ops[y] || 0) - (s.ops[x] || 0)).map(k => [k, `${s.ops[k] || 0}${current && (b[k] || 0) !== (s.ops[k] || 0) ? ` (was ${b[k] || 0})` : ""}`])));
}
function overview() {
  const o = $("overview"); o.textContent = ""; o.append(el("h3", "", D.title), rowsOf(D.summary), el("h3", "", "image, as the interpreter makes it (logarithmic)"));
  const c = el("canvas"); c.width = D.image.width; c.height = D.image.height;
  const g = c.getContext("2d"), im = g.createImageData(c.width, c.height), bytes = Uint8Array.from(atob(D.image.data), x => x.charCodeAt(0));
  bytes.forEach((v, i) => im.data.set([255 - v, 255 - v, 255 - v, 255], 4 * i)); g.putImageData(im, 0, 0);
  c.style.width = Math.max(256, c.width) + "px"; o.append(c, el("h3", "", "stages: a kernel made from the end of each"));
  const t = el("table"), h = el("tr"); for (const x of ["stage", "image", "gradient", "ns per sample", "inner loop", "spills", "code bytes"]) h.append(el("th", "", x)); t.append(h);
  for (const s of D.stages) if (s.trial) {
    const r = el("tr"), d = s.trial;
    for (const x of d.failure ? [s.stage, d.failure] : [s.stage, verdict(d.image), d.gradient_failure || verdict(d.gradient), d.ns_per_sample === undefined ? "-" : d.ns_per_sample.toFixed(3), d.loop_instructions, d.loop_spills, d.code_bytes]) r.append(el("td", "", String(x)));
    t.append(r);
  }
  o.append(t);
}

/* --- search --- */
function search(word, stay) {
  document.querySelectorAll(".l.hit").forEach(l => l.classList.remove("hit")); hits = []; hitAt = -1;
  if (word) for (const l of document.querySelectorAll(".l")) if (l.textContent.includes(word)) { l.classList.add("hit"); hits.push(l) }
  $("found").textContent = word ? `${hits.length} lines` : ""; if (hits.length) { hitAt = 0; if (!stay) goHit() }
}
function goHit() { reveal(hits[hitAt].closest(".row")); hits[hitAt].scrollIntoView({block: "center"}); $("found").textContent = `${hitAt + 1} of ${hits.length} lines` }

window.onerror = m => { document.body.dataset.error = m };
