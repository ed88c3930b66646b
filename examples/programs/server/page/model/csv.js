// Tables as text for spreadsheets.

/** Returns a value, in quotes if it needs them. An apostrophe keeps spreadsheets from evaluating texts. */
function cell(value) {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns tables `{title, headers, rows}` as CSV, with an empty line between them. */
export function toCsv(tables) {
  const lines = ({ headers, rows }) => [headers, ...rows].map((row) => row.map(cell).join(','));
  return `${tables.map((table) => lines(table).join('\n')).join('\n\n')}\n`;
}
