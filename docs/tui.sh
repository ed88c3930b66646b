#!/usr/bin/env bash
# Draws docs/tui.svg and docs/tui-live.svg: lttv-tui with the bundled kernel trace, complete and as if
# it were being recorded. To be run after a
# change to the look of it.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --quiet -p lttv-tui --example screenshot > docs/tui.svg
cargo run --quiet -p lttv-tui --example screenshot -- follow > docs/tui-live.svg
