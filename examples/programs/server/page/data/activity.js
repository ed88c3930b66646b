// For how long threads and resources are active in the window.

import { WindowLoader } from './window_loader.js';

/** The activity of rows in the window. It emits `change`. */
export class Activity extends EventTarget {
  /** The time of each active thread and resource, in ns, by the ids of entries; null before an answer. */
  threads = null;
  resources = null;
  #isOffered = false;

  /** @param {object} app what all views share */
  constructor(app) {
    super();
    this.loader = new WindowLoader(app.shared, {
      report: (error) => error && app.say(error.message),
      isWanted: () => this.#isOffered,
      fetch: async (window, signal) => {
        const answer = await app.experiment.activity(window, signal);
        return { ...answer, status: answer.isComplete ? 'COMPLETED' : 'RUNNING' };
      },
      accept: ({ threads, resources }) => {
        const times = (of) => new Map(Object.entries(of).map(([id, time]) => [Number(id), Number(time)]));
        this.threads = times(threads);
        this.resources = times(resources);
        this.dispatchEvent(new Event('change'));
      },
    });
  }

  /** Begins to load: there is a kernel trace. */
  start() {
    this.#isOffered = true;
    this.loader.load();
  }
}
