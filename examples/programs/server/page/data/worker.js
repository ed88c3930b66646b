// The thread that talks to the server: it fetches, parses and packs answers, so that the thread
// that draws is never held up.

import { parse, stringify } from './json.js';
import { buffersOf, packArrows, packSeries, packStates } from './pack.js';

const PACKERS = { states: packStates, arrows: packArrows, series: packSeries };
const running = new Map();

/** An answer of the server that is an error. */
class ServerError extends Error {
  constructor(status, text) {
    let title = text.slice(0, 200);
    let detail = '';
    try {
      ({ title = title, detail = '' } = parse(text));
    } catch {
      // The text is shown as it is.
    }
    super(detail && detail !== title ? `${title}: ${detail}` : title || `the server answered ${status}`);
    this.status = status;
  }
}

async function ask({ method, path, body, pack, origin, token }, signal) {
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  if (token) headers.Authorization = `Bearer ${encodeURIComponent(token)}`;
  const response = await fetch(path, {
    method, headers, signal, body: body === undefined ? undefined : stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new ServerError(response.status, text);
  const answer = text === '' ? null : parse(text);
  if (!pack) return answer;
  return { status: answer.status, message: answer.statusMessage, model: PACKERS[pack](answer.model, origin) };
}

self.addEventListener('message', async ({ data }) => {
  if (data.abort !== undefined) {
    running.get(data.abort)?.abort();
    return;
  }
  const { id, request } = data;
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const value = await ask(request, controller.signal);
    self.postMessage({ id, value }, request.pack ? buffersOf(value.model) : []);
  } catch (error) {
    self.postMessage({ id, error: { name: error.name, message: error.message, status: error.status ?? 0 } });
  } finally {
    running.delete(id);
  }
});
