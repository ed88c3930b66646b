// Saving what is shown as a file.

import { el } from './dom.js';

/** How long a file stays available for the browser, in ms. */
const KEPT = 10_000;

/** Offers a file to the user. */
export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = el('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT);
}

/** Offers an image of SVG. */
export function downloadSvg(name, text) {
  download(`${name}.svg`, new Blob([text], { type: 'image/svg+xml' }));
}

/** Offers the image of a chart: its labels and its canvas, as they are on the screen. */
export async function downloadPng(name, { labels, canvas, theme }) {
  const ratio = canvas.width / Math.max(canvas.clientWidth, 1);
  const [left, right] = [labels.getBoundingClientRect(), canvas.getBoundingClientRect()];
  const shift = right.left - left.left;
  const image = new OffscreenCanvas(Math.round((shift + right.width) * ratio), canvas.height);
  const context = image.getContext('2d');
  context.fillStyle = theme.plot;
  context.fillRect(0, 0, image.width, image.height);
  context.drawImage(canvas, Math.round(shift * ratio), 0);
  context.scale(ratio, ratio);
  context.font = theme.font;
  context.fillStyle = theme.text;
  context.textBaseline = 'middle';
  const walker = document.createTreeWalker(labels, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const box = node.parentElement.getBoundingClientRect();
    if (box.height === 0 || box.bottom < right.top || box.top > right.bottom || getComputedStyle(node.parentElement).visibility === 'hidden') continue;
    context.save();
    context.beginPath();
    context.rect(box.left - left.left, box.top - right.top, box.width, box.height);
    context.clip();
    context.fillText(node.data, box.left - left.left, (box.top + box.bottom) / 2 - right.top);
    context.restore();
  }
  download(`${name}.png`, await image.convertToBlob({ type: 'image/png' }));
}
