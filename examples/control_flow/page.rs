//! The page around a picture, with a script that zooms it.

/// Returns a self-contained page with the picture.
pub(crate) fn around(picture: &str) -> String {
    format!("{HEAD}{picture}{TAIL}")
}

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>States of each process</title>
<style>
  body { margin: 0; background: #000; color: #ddd; font: 13px sans-serif }
  p { margin: 8px 10px }
  .chart { cursor: grab }
</style>
<p>The wheel zooms, dragging moves, a double click shows everything; pointing at a state shows
its details.</p>
"#;

/// The script: zooming changes the visible part of the chart, and the labels of the axis.
const TAIL: &str = r#"<script>
const chart = document.querySelector(".chart"), axis = document.querySelector(".axis");
const [, , full, height] = chart.getAttribute("viewBox").split(" ").map(Number);
const begin = Number(axis.dataset.begin), width = Number(axis.dataset.width);
let left = 0, shown = full;
function show() {
  shown = Math.min(Math.max(shown, full * 10 / width), full);
  left = Math.min(Math.max(left, 0), full - shown);
  chart.setAttribute("viewBox", `${left} 0 ${shown} ${height}`);
  const texts = axis.querySelectorAll("text");
  texts.forEach((text, mark) => {
    const part = (left + shown * mark / (texts.length - 1)) / full;
    text.textContent = ((begin + width * part) / 1e9).toFixed(shown < full / 1000 ? 9 : 6) + " s";
  });
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
