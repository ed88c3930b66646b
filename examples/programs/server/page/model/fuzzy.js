// Finding rows by a few letters of their names.

/**
 * Returns how well a text fits what is sought: 0 if the letters are not in it in this order, and more the closer
 * together they are and the earlier they begin.
 */
export function fit(text, sought) {
  const [all, wanted] = [text.toLowerCase(), sought.toLowerCase()];
  if (wanted === '') return 1;
  if (all === wanted) return 4;
  const at = all.indexOf(wanted);
  if (at >= 0) return (at === 0 ? 3 : /[^a-z0-9]/.test(all[at - 1]) ? 2.8 : 2) + wanted.length / (all.length + 1) / 2;
  let [from, first, gaps] = [0, -1, 0];
  for (const letter of wanted) {
    const next = all.indexOf(letter, from);
    if (next < 0) return 0;
    if (first < 0) first = next;
    else gaps += next - from;
    from = next + 1;
  }
  return 1 / (1 + gaps + first / 10);
}

/** Returns how well the best of several texts fits; a number only fits if it is the same or begins so. */
export function fitOf(texts, sought) {
  const isNumber = /^\d+$/.test(sought);
  return texts.reduce((best, text) => {
    const isOf = isNumber && /^\d+$/.test(text);
    const value = isOf && !text.startsWith(sought) ? 0 : fit(text, sought);
    return Math.max(best, value);
  }, 0);
}
