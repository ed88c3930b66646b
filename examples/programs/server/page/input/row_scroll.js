// Scrolling the rows of a chart: by its bar, by the wheel, and by one finger.

/** Calls `scrollTo` with a place in pixels when the user scrolls; `top` returns the current one. */
export function followScroll(element, bar, { top, scrollTo }) {
  bar.addEventListener('scroll', () => scrollTo(bar.scrollTop));
  // The wheel scrolls over labels; in the chart it zooms, which `followPointer` does.
  element.addEventListener('wheel', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.target === bar) return;
    event.preventDefault();
    scrollTo(top() + event.deltaY * (event.deltaMode === 1 ? 18 : 1));
  }, { passive: false });
  let last = null;
  element.addEventListener('pointerdown', (event) => {
    last = event.pointerType === 'touch' && event.isPrimary ? event.clientY : null;
  });
  element.addEventListener('pointermove', (event) => {
    if (last === null || !event.isPrimary) return;
    scrollTo(top() + last - event.clientY);
    last = event.clientY;
  });
}
