// The look of the report. Plots refer to the variables by name.
#pragma once

namespace clcook::tool::report {

inline constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --text: #1c1e21; --soft-text: #5c6269; --back: #fdfdfc;
  --card: #ffffff; --soft: #f2f2ee; --line: #d8d8d2; --grid: #e4e4df; --link: #1a5fb4;
  --base: #858c94; --faster: #2273c9; --tie: #b39136; --slower: #cf4a1c; --failed: #b3122b;
  --faster-text: #1a5fa8; --tie-text: #7b6114; --slower-text: #ad3a10; --warn-back: #fdf1ea;
  --s1: #2273c9; --s2: #d2591a; --s3: #0f8f6b; --s4: #9a47c2; --s5: #a07c00; --s6: #c93573;
  --s7: #5b6b7b; --s8: #138096; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e0; --soft-text: #a3a9b0; --back: #141619; --card: #1b1e22;
    --soft: #24282d; --line: #3a3f46; --grid: #2f343a; --link: #8ab8f0;
    --base: #8b939c; --faster: #5aa2ee; --tie: #d3b257; --slower: #f2764a; --failed: #ff7b8c;
    --faster-text: #8abcf2; --tie-text: #dcc073; --slower-text: #f79672; --warn-back: #2f211b;
    --s1: #5aa2ee; --s2: #f08a4b; --s3: #3cc29a; --s4: #c58ae6; --s5: #d3b257; --s6: #f07cab;
    --s7: #9aabbc; --s8: #4fbfd4; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; color: var(--text);
  background: var(--back); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); }
h1 { font-size: 1.6rem; margin: .5rem 0; }
h2 { font-size: 1.35rem; margin: 0; }
h3 { font-size: 1.1rem; margin: 1.6rem 0 .4rem; padding-top: .8rem;
  border-top: 1px solid var(--line); }
h4 { font-size: 1rem; margin: 1.1rem 0 .3rem; }
p { margin: .4rem 0; max-width: 46rem; }
.note, figcaption, .technique { color: var(--soft-text); font-size: .875rem; }
.card { margin: 1.5rem 0; padding: 1rem 1.25rem 1.25rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; }
.card > h3:first-child { margin: 0; padding: 0; border: 0; }
.negative { margin: 1rem 0; padding: .6rem 1rem; background: var(--warn-back);
  border-left: 4px solid var(--slower); border-radius: 4px; }
.negative.none { background: var(--soft); border-color: var(--line); }
.negative h3 { margin: 0; padding: 0; border: 0; }
.negative h4 { margin: .5rem 0 0; }
.negative p { margin: .3rem 0 0; color: var(--soft-text); font-size: .875rem; }
.negative ul { margin: .1rem 0 .3rem; padding-left: 1.2rem; }
.proofs { margin: .5rem 0; padding-left: 1.2rem; }
.scroll { overflow-x: auto; margin: .5rem 0; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .875rem; line-height: 1.35; }
th, td { padding: .35rem .6rem; text-align: left; vertical-align: top; }
th { background: var(--soft); font-weight: 600; vertical-align: bottom; min-width: 4.5rem; }
td { border-top: 1px solid var(--line); min-width: 3.5rem; }
th:first-child, td:first-child { position: sticky; left: 0; }
td:first-child { background: var(--card); box-shadow: 1px 0 var(--line); }
.figure { text-align: right; font-variant-numeric: tabular-nums; }
td.figure { white-space: nowrap; }
td.long { min-width: 13rem; }
td.longer { min-width: 19rem; }
td.faster { color: var(--faster-text); font-weight: 600; }
td.tie { color: var(--tie-text); font-weight: 600; }
td.slower { color: var(--slower-text); font-weight: 600; }
td.failed, .failed { color: var(--failed); font-weight: 700; }
td.skipped { color: var(--soft-text); font-style: italic; }
.plots, .pictures { display: grid; gap: 1rem 1.5rem; margin: .8rem 0; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.pictures { grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
figure { margin: 0; max-width: 33rem; }
figcaption { margin-top: .2rem; }
.plot { display: block; width: 100%; height: auto; color: var(--text); }
img { display: block; width: 100%; height: auto; border: 1px solid var(--line);
  border-radius: 4px; }
pre { max-height: 24rem; overflow: auto; padding: .6rem .8rem; background: var(--soft);
  border: 1px solid var(--line); border-radius: 6px; font-size: .8125rem; line-height: 1.35; }
details { margin: .6rem 0; }
summary { cursor: pointer; padding: .3rem 0; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: .3rem 0; padding: 0;
  list-style: none; font-size: .875rem; }
.swatch { display: inline-block; width: .8rem; height: .8rem; margin-right: .35rem;
  border-radius: 2px; vertical-align: -.05rem; }
@media (max-width: 40rem) {
  body { padding: .5rem; }
  .card { padding: .6rem .7rem 1rem; }
  .negative { padding: .5rem .7rem; }
  td:first-child { max-width: 8.5rem; min-width: 0; } }
)css";

}  // namespace clcook::tool::report
