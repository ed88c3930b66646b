// Mouse, wheel and touch in charts: the same gestures as in the terminal, and two fingers.

import { zoomed } from '../model/window.js';
import { Scale } from '../model/scale.js';

/** A pointer that has moved less, in pixels, has clicked. */
const SLACK = 4;
/** The factor of one notch of a wheel. */
const NOTCH = 1.25;

/**
 * Follows the pointer in a chart: a click sets the current time, dragging marks a range, with the
 * right button it zooms to the range, with the middle one or one finger it moves the window, the
 * wheel and two fingers zoom.
 */
export function followPointer(canvas, app, { scale, onPoint, onHover, drag = null, wheel = null }) {
  const { shared } = app;
  const fingers = new Map();
  let gesture = null;

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return { x, y, time: scale().time(x) };
  };

  /** Returns what a pointer that goes down begins. */
  function kindOf(event) {
    if (event.pointerType === 'touch') return 'move';
    if (event.button === 1) return 'move';
    if (event.button === 2) return 'zoom';
    return 'mark';
  }

  canvas.addEventListener('pointerdown', (event) => {
    const at = place(event);
    canvas.setPointerCapture(event.pointerId);
    if (event.pointerType === 'touch') fingers.set(event.pointerId, at);
    if (event.button === 1) event.preventDefault();
    const before = gesture?.before ?? shared.window;
    if (fingers.size === 2) {
      gesture = { kind: 'pinch', before, ...pinch(), scale: scale() };
    } else {
      gesture = { kind: drag ? drag(event, at) : kindOf(event), before, start: at, scale: scale(), hasMoved: false };
    }
  });

  function pinch() {
    const [a, b] = [...fingers.values()];
    return { middle: (a.x + b.x) / 2, distance: Math.max(Math.abs(a.x - b.x), 20) };
  }

  canvas.addEventListener('pointermove', (event) => {
    const at = place(event);
    onHover(at, event);
    if (!gesture) return;
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
    if (gesture.kind === 'pinch') {
      if (fingers.size === 2) movePinch();
      return;
    }
    if (!gesture.hasMoved && Math.abs(at.x - gesture.start.x) < SLACK) return;
    gesture.hasMoved = true;
    if (gesture.kind === 'move') {
      const by = gesture.scale.duration(gesture.start.x - at.x);
      shared.show({ from: gesture.before.from + by, to: gesture.before.to + by }, { isPart: true });
    } else if (gesture.kind === 'mark' || gesture.kind === 'zoom') {
      shared.setRange(gesture.start.time, at.time);
    } else if (typeof gesture.kind === 'function') {
      gesture.kind(at, gesture);
    }
  });

  function movePinch() {
    const now = pinch();
    const factor = gesture.distance / now.distance;
    const fixed = gesture.scale.time(gesture.middle);
    const window = zoomed(gesture.before, factor, fixed, shared.span);
    const by = new Scale(window, gesture.scale.pixels).duration(gesture.middle - now.middle);
    shared.show({ from: window.from + by, to: window.to + by }, { isPart: true });
  }

  function end(event, isCancelled) {
    fingers.delete(event.pointerId);
    if (!gesture) return;
    const done = gesture;
    if (done.kind === 'pinch' && fingers.size > 0) return;
    gesture = null;
    if (!isCancelled && done.start && !done.hasMoved && event.button !== 2) {
      if (done.kind === 'mark' || done.kind === 'zoom') shared.clearRange();
      onPoint(place(event), event);
    } else if (done.kind === 'zoom' && shared.range) {
      const { range } = shared;
      shared.clearRange();
      shared.show(range);
    }
    shared.remember(done.before);
  }

  canvas.addEventListener('pointerup', (event) => end(event, false));
  canvas.addEventListener('pointercancel', (event) => end(event, true));
  canvas.addEventListener('pointerleave', () => onHover(null));
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());

  let wheeling = 0;
  canvas.addEventListener('wheel', (event) => {
    if (wheel?.(event)) return;
    event.preventDefault();
    const before = shared.window;
    const unit = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      shared.move(scale().duration(sideways * unit), { isPart: true });
    } else {
      const { time } = place(event);
      const factor = NOTCH ** Math.max(Math.min((event.deltaY * unit) / 100, 4), -4);
      shared.show(zoomed(shared.window, factor, time, shared.span), { isPart: true });
    }
    // A sequence of notches is one entry in the list of earlier windows.
    if (wheeling === 0) shared.remember(before);
    clearTimeout(wheeling);
    wheeling = setTimeout(() => { wheeling = 0; }, 400);
  }, { passive: false });
}
