//! Pages around pictures.

use lttv_common::escape;

use super::ChartFormat;

/// Returns a self-contained page with a picture that can be zoomed.
pub(super) fn zoomed(picture: &str) -> String {
    format!("{HEAD}{ZOOM}{picture}{TAIL}")
}

/// Returns a self-contained page with a picture.
pub(super) fn around(picture: &str) -> String {
    format!("{HEAD}{picture}</html>\n")
}

/// Returns a page or picture with a text in place of a chart.
pub(super) fn notice(format: ChartFormat, text: &str) -> String {
    let text = escape::xml(text);
    match format {
        ChartFormat::Html => format!("{HEAD}<p>{text}</p>\n</html>\n"),
        ChartFormat::Svg => format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 60\" \
             font-family=\"DejaVu Sans, Helvetica, sans-serif\" font-size=\"14\">\n\
             <rect width=\"1200\" height=\"60\" fill=\"#000\"/>\n\
             <text x=\"12\" y=\"35\" fill=\"#ddd\">{text}</text>\n</svg>\n"
        ),
    }
}

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>LTTV</title>
<style>
  body { margin: 0; background: #000; color: #ddd; font: 13px sans-serif }
  p { margin: 8px 10px }
  .chart { cursor: grab }
</style>
"#;

const ZOOM: &str = "<p>The wheel zooms, dragging moves, a double click shows everything; pointing \
at a state shows its details.</p>\n";

/// The script: zooming changes the visible part of the chart, and the labels of the axis.
const TAIL: &str = r#"<script>
const chart = document.querySelector(".chart"), axis = document.querySelector(".axis");
const [, , full, height] = chart.getAttribute("viewBox").split(" ").map(Number);
const begin = Number(axis.dataset.begin), width = Number(axis.dataset.width);
// The names of threads keep their shape, and appear where they fit.
const names = chart.querySelector(".names");
const runs = [...chart.querySelectorAll("rect[data-name]")].map(rect => ({
  name: rect.dataset.name,
  x: rect.x.baseVal.value,
  y: rect.y.baseVal.value + rect.height.baseVal.value / 2,
  width: rect.width.baseVal.value,
}));
let left = 0, shown = full;
function label() {
  const scale = shown / full, texts = [];
  for (const { name, x, y, width } of runs) {
    if (width < (7 * name.length + 4) * scale || x > left + shown || x + width < left) continue;
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.setAttribute("transform", `translate(${Math.max(x, left) + 3 * scale} ${y + 4}) scale(${scale} 1)`);
    text.textContent = name;
    texts.push(text);
  }
  names.replaceChildren(...texts);
}
function show() {
  shown = Math.min(Math.max(shown, full * 10 / width), full);
  left = Math.min(Math.max(left, 0), full - shown);
  chart.setAttribute("viewBox", `${left} 0 ${shown} ${height}`);
  const texts = axis.querySelectorAll("text");
  texts.forEach((text, mark) => {
    const part = (left + shown * mark / (texts.length - 1)) / full;
    text.textContent = ((begin + width * part) / 1e9).toFixed(shown < full / 1000 ? 9 : 6) + " s";
  });
  label();
}
function part(event) {
  const whole = chart.ownerSVGElement, box = whole.getBoundingClientRect();
  const scale = box.width / whole.viewBox.baseVal.width;
  const from = box.left + chart.x.baseVal.value * scale;
  return (event.clientX - from) / (chart.width.baseVal.value * scale);
}
chart.addEventListener("wheel", event => {
  const at = part(event), factor = event.deltaY < 0 ? 0.8 : 1.25;
  left += shown * at;
  shown = Math.min(shown * factor, full);
  left -= shown * at;
  show();
  event.preventDefault();
}, { passive: false });
let dragged = null;
chart.addEventListener("pointerdown", event => { dragged = part(event) });
window.addEventListener("pointerup", () => { dragged = null });
window.addEventListener("pointermove", event => {
  if (dragged === null) return;
  left += (dragged - part(event)) * shown;
  dragged = part(event);
  show();
});
chart.addEventListener("dblclick", () => { [left, shown] = [0, full]; show() });
</script>
</html>
"#;
