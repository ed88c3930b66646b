// Creating elements. Texts only ever become text nodes: nothing of a trace is read as HTML.

/**
 * Returns a new element.
 * @param {string} tag
 * @param {object} attributes `text` sets the text, `on` has listeners by event, others are attributes;
 *   those that are null, undefined or false are left out
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'text') element.textContent = value;
    else if (name === 'on') for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Sets an attribute if it differs, and removes it for null. */
export function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Sets the text of an element if it differs. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Returns a button with a name for those who do not see its sign. */
export function button(sign, label, onClick, attributes = {}) {
  return el('button', { type: 'button', 'aria-label': label, title: label, text: sign, on: { click: onClick }, ...attributes });
}
