// Statistics of the window, or of the whole trace, as a tree.

import { Panel } from './panel.js';
import { TreeTable } from './tree_table.js';
import { WindowLoader } from '../data/window_loader.js';
import { ThreadColumns, isSameThread } from '../model/columns.js';
import { button } from './dom.js';

/** The tree of statistics. */
export class Statistics {
  #columns = null;

  constructor(app) {
    this.app = app;
    const { shared } = app;
    this.panel = new Panel({ id: 'statistics', key: '6', title: 'Statistics', onChange: (isShown) => isShown && this.loader.load() });
    this.table = new TreeTable({ id: 'statistic', label: 'Statistics', onSelect: (entry) => this.#select(entry) });
    this.loader = new WindowLoader(shared, {
      report: (error) => this.panel.report(error),
      isWanted: () => this.output !== undefined && this.panel.isShown,
      fetch: (window, signal) => app.experiment.tree('data', this.output, window, signal),
      accept: ({ model, status }) => {
        if (model) this.#setTree(model);
        this.panel.say(status === 'RUNNING' ? 'reading…' : `of the ${this.loader.isOfWindow ? 'window' : 'whole trace'}`);
      },
    });
    this.panel.body.append(this.table.element);
    this.element = this.panel.element;
    this.scope = button('Window', 'Statistics of the window, or of the whole trace (A)', () => this.toggleScope(), { 'aria-pressed': 'true' });
    this.panel.tools.append(this.scope);
    shared.on(['thread'], () => this.#followThread());
  }

  start(output) {
    this.output = output;
    this.loader.load();
  }

  #setTree(model) {
    this.#columns = new ThreadColumns(model.headers);
    this.table.setTree(model);
    this.#followThread();
  }

  /** Returns the thread of an entry: by its column, or by the number in its name. */
  #threadOf(entry) {
    const byColumn = this.#columns?.thread(entry);
    if (byColumn) return byColumn;
    const found = /^(.*?)\s*[([]?(?:TID )?(\d+)[)\]]?$/.exec(entry.labels[0] ?? '');
    return found && found[1] !== '' && !/^(cpu|irq|softirq|trap)/i.test(found[1]) ? { tid: found[2], label: found[1] } : null;
  }

  #select(entry) {
    const thread = this.#threadOf(entry);
    if (thread) this.app.shared.selectThread(thread);
  }

  #followThread() {
    const { thread } = this.app.shared;
    if (thread) this.table.follow((entry) => isSameThread(this.#threadOf(entry) ?? undefined, thread));
  }

  toggleScope() {
    this.loader.toggleScope();
    this.scope.setAttribute('aria-pressed', String(this.loader.isOfWindow));
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    if (key !== 'A') return this.table.key(key);
    this.toggleScope();
    return true;
  }
}
