"""How the page of a simulation looks, by day and by night. Nothing is loaded from anywhere: system fonts, no images."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f7f7f4; --card: #ffffff; --ink: #16181d; --soft: #5b616e; --faint: #9298a5;
  --line: #e4e4de; --grid: #efefea;
  --quiet: #ececf3; --bucket: #c9d6ea; --bucket-line: #7f9cc9;
  --briefing: #2a6fdb; --heartbeat: #e2692d; --reminder: #12956a; --notice: #7a55c7; --said: #6b7280;
  --green: #2e9e5b; --yellow: #c98a06; --red: #cf3d3d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #131519; --card: #1b1e24; --ink: #eceef2; --soft: #a4abb8; --faint: #717988;
    --line: #2c313a; --grid: #242830;
    --quiet: #232533; --bucket: #2d3f5c; --bucket-line: #6f94cf;
    --briefing: #6aa5ff; --heartbeat: #ff9a5c; --reminder: #3fcf9b; --notice: #b398f2; --said: #a4abb8;
    --green: #4bc27c; --yellow: #e3b341; --red: #f07070;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 26px; line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 6px; }
h2 { font-size: 16px; margin: 0 0 2px; }
.lead { color: var(--soft); margin: 0 0 24px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 20px 22px;
  margin: 0 0 18px; }
.card > p { color: var(--soft); margin: 0 0 14px; font-size: 13.5px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; margin: 0 0 18px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 14px 16px 12px; }
.tile b { display: block; font-size: 25px; line-height: 1.25; font-weight: 650; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; display: block; }
.tile.good b { color: var(--green); } .tile.bad b { color: var(--red); }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--soft); }
svg text.day { fill: var(--ink); font-size: 12px; } svg text.small { font-size: 10px; fill: var(--faint); }
.rule { stroke: var(--grid); stroke-width: 1; } .edge { stroke: var(--line); stroke-width: 1; }
.quiet { fill: var(--quiet); } .bucket { fill: var(--bucket); opacity: 0.38; }
.level { fill: none; stroke: var(--bucket-line); stroke-width: 1.3; stroke-linejoin: round; }
.dot { stroke: var(--card); stroke-width: 1.5; }
.briefing { fill: var(--briefing); } .heartbeat { fill: var(--heartbeat); } .reminder { fill: var(--reminder); }
.notice { fill: var(--notice); }
.reply { fill: var(--card); stroke: var(--said); stroke-width: 1.5; } .said { fill: var(--said); }
.track { fill: var(--grid); } .green { fill: var(--green); } .yellow { fill: var(--yellow); } .red { fill: var(--red); }
.asleep { fill: var(--red); opacity: 0.16; }
.bar { fill: var(--bucket-line); }
.legend { display: flex; flex-wrap: wrap; gap: 6px 18px; margin: 12px 0 0; padding: 0; list-style: none;
  color: var(--soft); font-size: 13px; }
.legend li { display: flex; align-items: center; gap: 6px; }
.legend svg { width: 14px; height: 14px; flex: none; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(330px, 1fr)); gap: 18px; }
.two .card { margin: 0; } .two { margin: 0 0 18px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
td { padding: 5px 0; border-top: 1px solid var(--grid); vertical-align: top; }
tr:first-child td { border-top: 0; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
details { border-top: 1px solid var(--grid); } details:first-of-type { border-top: 0; }
summary { cursor: pointer; padding: 8px 0; } summary span { color: var(--soft); font-size: 13px; margin-left: 8px; }
pre { margin: 0 0 12px; overflow-x: auto; font: 12.5px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  color: var(--ink); }
footer { color: var(--faint); font-size: 13px; }
@media print { body { background: none; } .card, .tile { break-inside: avoid; } }
"""
