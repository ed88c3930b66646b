// The keys, which are those of the terminal frontend where the page has what they do.

/** The sheet of keys: keys and their meanings, by places where they act. */
export const KEYS = {
  'In all views': [
    ['← → h l a d', 'move the window by a tenth of its width'],
    ['H L Shift-←→', 'move it by its width'],
    ['w s + -', 'zoom in, out around the pointer, or else the current time'],
    ['0', 'show all'],
    ['u U', 'the window before, the one after it again'],
    ['[ ] { }', 'move the current time by one column, by ten'],
    ['g', 'go to a time, or show a range FROM..TO'],
    ['. z f', 'set a mark or end the range that starts there; zoom to the range; to the range or state that is selected'],
    ['m', 'only the view with the focus, or all again'],
    ['n N', 'next, previous event of the selected thread'],
    ['/', 'edit the filter'],
    ['T', 'next notation of times'],
    ['Tab Shift-Tab', 'next, previous view'],
    ['1 … 9 i', 'show or hide a view'],
    ['! D', 'signs and patterns as well as colours; dark or light'],
    ['( )', 'narrower, wider labels'],
    ['Esc', 'close the panel at the side; remove the range; leave a field'],
    ['?', 'this sheet'],
  ],
  'In the view with the focus': [
    ['↑ ↓ k j', 'previous, next row'],
    ['PgUp PgDn Home End', 'previous, next page; first, last row'],
    ['F ; ,', 'find rows or an event; next, previous one; latencies: next, previous point'],
    ['Enter', 'charts: the state in words; events: select the thread (also P); figures: the longest duration'],
    ['Space *', 'fold or unfold a row; unfold all below it'],
    ['A', 'only rows that are active in the window; statistics and latencies of window or whole trace'],
    ['R', 'next order of rows: busiest first, by name, by start'],
    ['p', 'pin the selected row to the top, or release it'],
    ['e E', 'higher, lower rows'],
    ['M', 'arrows'],
  ],
};

/** The sheet of gestures. */
export const MOUSE = [
  ['Click', 'sets the current time, selects a row'],
  ['Drag', 'marks a range; with the right button, zooms to it'],
  ['Drag with the middle button or a finger', 'moves the window'],
  ['Wheel, two fingers', 'zooms around the pointer'],
  ['Wheel with Shift, or sideways', 'moves the window'],
  ['Wheel over labels or events', 'scrolls rows'],
  ['Drag in the overview', 'moves the window or its edges'],
];

/** Returns what a key does in all views, or null. */
function actionOf(event, app) {
  const { shared } = app;
  const width = shared.window.to - shared.window.from;
  const tenth = width / 10n > 0n ? width / 10n : 1n;
  const column = width / BigInt(app.columns) > 0n ? width / BigInt(app.columns) : 1n;
  const jump = (by) => () => shared.setTime(shared.time + by, { reveal: true });
  const move = (by) => () => shared.move(by);
  switch (event.key) {
    case 'ArrowLeft': return move(event.shiftKey ? -width : -tenth);
    case 'ArrowRight': return move(event.shiftKey ? width : tenth);
    case 'h': case 'a': return move(-tenth);
    case 'l': case 'd': return move(tenth);
    case 'H': return move(-width);
    case 'L': return move(width);
    case 'w': case '+': case '=': return () => shared.zoom(0.5, app.zoomPlace);
    case 's': case '-': return () => shared.zoom(2, app.zoomPlace);
    case '0': return () => shared.showAll();
    case 'u': return () => shared.back();
    case 'U': return () => shared.back(true);
    case '[': return jump(-column);
    case ']': return jump(column);
    case '{': return jump(-column * 10n);
    case '}': return jump(column * 10n);
    case 'g': return () => app.goTo.show();
    case '.': return () => shared.setMark();
    case 'z': return () => app.zoomToRange();
    case 'f': return () => app.fitSelection();
    case 'm': return () => app.toggleMaximised(event.target);
    case 'n': return () => app.events.findOfThread('NEXT');
    case 'N': return () => app.events.findOfThread('PREVIOUS');
    case '/': return () => app.filterBar.input.focus();
    case 'T': return () => app.nextNotation();
    case '!': return () => app.toggleSigns();
    case 'D': return () => app.theme.toggle();
    case '(': return () => app.changeLabels(-24);
    case ')': return () => app.changeLabels(24);
    case 'Escape': return () => app.leave();
    case '?': return () => app.help.show();
    default: return app.views.some(({ panel }) => panel.shortcut === event.key) ? () => app.toggleView(event.key) : null;
  }
}

/** Follows keys. Fields and dialogs keep theirs; the view with the focus comes first. */
export function followKeys(app) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const isField = target.closest('input, select, textarea, dialog[open]');
    if (isField) return;
    const isButton = target.closest('button') !== null;
    if (isButton && (event.key === 'Enter' || event.key === ' ')) return;
    const view = app.viewOf(target);
    if (!event.shiftKey || !event.key.startsWith('Arrow')) {
      if (view?.key?.(event.key)) {
        event.preventDefault();
        return;
      }
    }
    const action = actionOf(event, app);
    if (!action) return;
    event.preventDefault();
    action();
  });
}
