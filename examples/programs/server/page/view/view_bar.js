// Which views are shown: a button for each of them.

import { el } from './dom.js';

/** The buttons that show and hide views. */
export class ViewBar {
  constructor(views) {
    this.element = el('nav', { class: 'views', 'aria-label': 'Views' }, ...views.map(({ panel }) => buttonOf(panel)));
  }
}

function buttonOf(panel) {
  const { title, shortcut } = panel;
  const element = el('button', { type: 'button', text: title });
  const change = () => {
    element.disabled = panel.isEmpty;
    element.setAttribute('aria-pressed', String(panel.isShown && !panel.isEmpty));
    element.title = panel.isEmpty ? `${title}: these traces have no events for this view` : `Show or hide ${title} (${shortcut})`;
  };
  element.addEventListener('click', () => panel.show(!panel.isShown));
  panel.addEventListener('change', () => {
    // The heading, in which the focus may have been, is hidden with the view.
    if (!panel.isShown && panel.element.contains(document.activeElement)) element.focus();
    change();
  });
  change();
  return element;
}
