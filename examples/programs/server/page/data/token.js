// The secret of a server that wants one: given in the address, kept while the tab is open.

const KEY = 'lttv-token';

/** Returns the secret in the part of an address after `?`, or null. A plus sign stands for itself, as for the server. */
function tokenIn(search) {
  const text = search.slice(1).split('&').find((pair) => pair.startsWith('token='))?.slice('token='.length);
  if (text === undefined) return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the secret, or null. It is taken out of the address, so that links do not tell it. */
export function takeToken() {
  const values = new URLSearchParams(location.search);
  const given = tokenIn(location.search);
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
