"""The look of the HTML page, in light and dark."""

from __future__ import annotations

STYLE = """
:root {
  --ground: #ffffff; --panel: #f6f8fa; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0;
  --good: #1a6b34; --bad: #b3261e; --doubt: #7a5200; --accent: #0757b8;
  --heat1: #e6f0fa; --heat2: #b5d3f2; --heat3: #f6d09a; --heat4: #eda66b; --mark: #fff1bf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1419; --panel: #181f27; --ink: #e6e9ec; --faint: #a3adb7; --line: #36414c;
    --good: #6fd58c; --bad: #ff8e85; --doubt: #efc05f; --accent: #79b8ff;
    --heat1: #18283a; --heat2: #23507f; --heat3: #6e4a12; --heat4: #8f4a16; --mark: #4a3d10;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem; }
article + article { margin-top: 3rem; border-top: 3px solid var(--line); padding-top: 1.5rem; }
h1 { font-size: 1.35rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 .5rem; }
section { margin-top: 1.6rem; }
p { margin: .3rem 0; overflow-wrap: anywhere; }
.note { color: var(--faint); font-size: .9rem; }
.verdict { font-size: 1.6rem; font-weight: 650; margin: 0; }
.holds, .equal { color: var(--good); }
.broken, .ranks, .differs, .raises { color: var(--bad); }
.inconclusive, .budget { color: var(--doubt); }
.card { border: 1px solid var(--line); border-left: 5px solid var(--bad); border-radius: 6px;
  background: var(--panel); padding: 1rem; }
.card h2 { color: var(--bad); }
.finding { font-weight: 600; }
pre, code { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .85rem; }
pre { background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: .5rem 0;
  overflow-x: auto; }
pre > span { display: block; padding: 0 .6rem; }
pre .marked { background: var(--mark); font-weight: 600; }
.number { color: var(--faint); }
table { border-collapse: collapse; font-size: .88rem; margin: .4rem 0; }
th, td { border: 1px solid var(--line); padding: .22rem .55rem; text-align: left; }
thead th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 500; overflow-wrap: anywhere; }
.matrix td, .matrix thead td { border-color: var(--line); }
.matrix thead td { border: 0; }
.runs { text-align: center; font-variant-numeric: tabular-nums; }
.none { color: var(--faint); }
.heat1 { background: var(--heat1); } .heat2 { background: var(--heat2); }
.heat3 { background: var(--heat3); } .heat4 { background: var(--heat4); }
.result { font-weight: 600; white-space: nowrap; }
.wide { overflow-x: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .4rem 0; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--accent); }
ul { margin: .3rem 0; padding-left: 1.2rem; }
svg { max-width: 100%; height: auto; display: block; margin: .5rem 0; }
svg text { fill: var(--ink); font-size: 12px; } svg .faint { fill: var(--faint); }
svg .axis { stroke: var(--faint); } svg .grid { stroke: var(--line); }
svg .solid { fill: var(--accent); stroke: var(--accent); }
svg .hollow { fill: var(--ground); stroke: var(--accent); stroke-width: 1.5; }
svg .error, svg .link { stroke: var(--accent); stroke-width: 1.5; fill: none; }
svg .link { stroke-dasharray: 2 3; } svg .limit { stroke: var(--bad); stroke-dasharray: 6 4; }
@media print { .card { break-inside: avoid; } }
"""
