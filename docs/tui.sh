#!/usr/bin/env bash
# Draws docs/tui.svg: lttv-tui with the bundled kernel trace. To be run after a
# change to the look of it.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --quiet -p lttv-tui --example screenshot > docs/tui.svg
