// The secret of a server that wants one: given in the address, kept while the tab is open.

const KEY = 'lttv-token';

/** Returns the secret, or null. It is taken out of the address, so that links do not tell it. */
export function takeToken() {
  const values = new URLSearchParams(location.search);
  const given = values.get('token');
  try {
    if (given === null) return sessionStorage.getItem(KEY);
    sessionStorage.setItem(KEY, given);
  } catch {
    // Without storage the address keeps it.
    return given;
  }
  values.delete('token');
  const rest = values.toString();
  history.replaceState(null, '', `${location.pathname}${rest ? `?${rest}` : ''}${location.hash}`);
  return given;
}
