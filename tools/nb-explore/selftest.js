/* For tests: page.html#selftest says in the body's data what happened. */
async function selftest() {
  const fail = [], check = (what, ok) => { if (!ok) fail.push(what) }, shown = cls => [...document.querySelectorAll(cls)].filter(e => e.offsetParent !== null);
  check("align", JSON.stringify(align([1, 2, 3, 9, 4], [1, 3, 5, 4, 6])) === "[[0,0],[1,-1],[2,1],[3,2],[4,3],[-1,4]]");
  const a = [], b = []; for (let i = 0; i < 3000; i++) { a.push("x" + i % 7); b.push("x" + i % 5) }
  const pairs = align(a, b);
  check("align all", pairs.filter(p => p[0] >= 0).length === 3000 && pairs.filter(p => p[1] >= 0).length === 3000);
  check("passes", $("passes").children.length > 10);
  const hoist = D.stages.findIndex(s => s.pass === "nb-hoist-invariants"); showStage(hoist);
  check("two columns", document.querySelectorAll(".row").length > 20 && [...document.querySelectorAll(".row")].every(r => r.children.length === 2));
  const height = shown(".row").every(r => r.children[0].offsetTop === r.children[1].offsetTop); check("aligned", height);
  check("changes", document.querySelectorAll(".l.add,.l.moved").length > 0 && document.querySelectorAll(".l.del,.l.moved").length > 0);
  check("equal lines fold", document.querySelectorAll(".same").length > 0); const rows = shown(".row").length;
  document.querySelector(".same").click(); check("equal lines unfold", shown(".row").length > rows);
  $("search").value = "nb.miller_index"; search($("search").value); check("search", hits.length > 0 && hits[0].offsetParent !== null);
  follow("hkl"); check("follow", document.querySelectorAll(".v.sel").length > 1);
  check("trail", /inner loop: [1-9]/.test($("side").textContent) && /LLVM IR: [1-9]/.test($("side").textContent));
  const f = document.querySelector(".l .f"), before = document.querySelectorAll(".row.hidden").length; f.click();
  check("collapse", document.querySelectorAll(".row.hidden").length > before); f.click(); check("unfold", document.querySelectorAll(".row.hidden").length === before);
  check("dependence", [...document.querySelectorAll(".l")].some(l => /orientation/.test(l.title)));
  const long = document.querySelector(".more"); if (long) { long.click(); check("long line", !long.isConnected) }
  for (let i = 0; i < D.stages.length; i++) { showStage(i); check("stage " + i, document.querySelectorAll(".l").length > 5) }
  for (const t of ["LLVM IR", "Inner loop", "Overview", "IR"]) { showTab(t); check(t, ($("view").textContent || "").length > 200) }
  showTab("LLVM IR"); check("both", [...document.querySelectorAll(".pane")].every(p => p.querySelector(".v.sel")));
  showTab("Inner loop"); if (D.ports.length) check("ports", document.querySelectorAll(".bar.busy").length > 0);
  showTab("Overview"); check("image", document.querySelector("canvas").width > 0);
  document.body.dataset.selftest = fail.length ? "failed: " + fail.join(", ") : "passed";
}
function begin() {
  const hash = location.hash;
  if (hash === "#selftest") return selftest();
  if (hash.startsWith("#follow=")) { showStage(Math.max(0, D.stages.findIndex(s => s.pass === "nb-hoist-invariants"))); follow(hash.slice(8)) }
  for (const [name, t] of [["#loop", "Inner loop"], ["#llvm", "LLVM IR"], ["#overview", "Overview"]]) if (hash === name) showTab(t);
  if (hash.startsWith("#stage=")) showStage(+hash.slice(7));
}
load().then(begin).catch(e => { document.body.dataset.error = String(e); document.body.append(el("pre", "", String(e))) });
