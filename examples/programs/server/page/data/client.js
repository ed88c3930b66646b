// The side of the drawing thread of what `worker.js` fetches.

/** An error of a request. `status` is that of HTTP, or 0 if the server could not be reached. */
export class RequestError extends Error {
  constructor({ name, message, status }) {
    super(status === 0 && name !== 'SyntaxError' ? `the server cannot be reached (${message})` : message);
    this.name = name;
    this.status = status;
  }
}

/** Returns the address of a module as what a browser with trusted types starts as a thread. */
function scriptUrl(path) {
  const url = new URL(path, import.meta.url).href;
  const policy = globalThis.trustedTypes?.createPolicy('lttv-worker', { createScriptURL: () => url });
  return policy ? policy.createScriptURL('') : url;
}

/** A client that sends requests from a thread of its own. */
export class Client {
  #worker = new Worker(scriptUrl('./worker.js'), { type: 'module' });
  #waiting = new Map();
  #next = 1;
  #token;

  /** @param {?string} token the secret that the server wants, or null */
  constructor(token = null) {
    this.#token = token;
    this.#worker.addEventListener('message', ({ data: { id, value, error } }) => {
      const waiting = this.#waiting.get(id);
      if (!waiting) return;
      this.#waiting.delete(id);
      if (error) waiting.reject(new RequestError(error));
      else waiting.resolve(value);
    });
  }

  /**
   * Sends a request `{method, path, body, pack, origin}` and returns its answer. When the signal
   * is aborted, the request is cancelled at the server, too.
   */
  ask(request, signal) {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#next;
    this.#next += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, request: { ...request, token: this.#token } });
      signal?.addEventListener('abort', () => {
        if (!this.#waiting.delete(id)) return;
        this.#worker.postMessage({ abort: id });
        reject(signal.reason);
      }, { once: true });
    });
  }
}
