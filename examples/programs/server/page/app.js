// The page as a whole: what all views share, and which view is where.

import { Frames } from './draw/frames.js';
import { Theme, readSetting, writeSetting } from './draw/theme.js';
import { followKeys } from './input/keys.js';
import { Shared } from './model/shared.js';
import { NOTATIONS, formatTime } from './model/time.js';
import { lineWords } from './model/words.js';
import { Activity } from './data/activity.js';
import { Facts } from './data/facts.js';
import { pathOf } from './data/protocol.js';
import { Axis } from './view/axis.js';
import { Faults, GoTo, Help } from './view/dialogs.js';
import { Chooser } from './view/chooser.js';
import { Disks } from './view/disks.js';
import { Divider } from './view/divider.js';
import { Events } from './view/events.js';
import { FilterBar } from './view/filter_bar.js';
import { Histogram } from './view/histogram.js';
import { Inspector } from './view/inspector.js';
import { Latencies } from './view/latencies.js';
import { Overview } from './view/overview.js';
import { RangePanel } from './view/range_panel.js';
import { Statistics } from './view/statistics.js';
import { Status } from './view/status.js';
import { TimeGraph } from './view/time_graph.js';
import { Tip } from './view/tip.js';
import { TopBar } from './view/top_bar.js';
import { Usage } from './view/usage.js';
import { ViewBar } from './view/view_bar.js';
import { el } from './view/dom.js';

/** The application. It emits `notation`, `signs`, `states` and `looks`. */
export class App extends EventTarget {
  #row = null;

  constructor() {
    super();
    this.shared = new Shared();
    this.frames = new Frames();
    this.theme = new Theme();
    this.experiment = null;
    this.notation = NOTATIONS.includes(readSetting('lttv-notation')) ? readSetting('lttv-notation') : NOTATIONS[0];
    const contrast = matchMedia('(prefers-contrast: more), (forced-colors: active)');
    const signs = readSetting('lttv-signs');
    this.hasSigns = signs === null ? contrast.matches : signs === 'true';
    /** The time under the pointer, or null. */
    this.pointerTime = null;
    this.shared.axisBase = 0n;
    this.shared.on(['span'], () => this.#baseAxis());

    this.tip = new Tip(this);
    this.faults = new Faults();
    this.chooser = new Chooser(this);
    this.topBar = new TopBar(this);
    this.filterBar = new FilterBar(this);
    this.overview = new Overview(this);
    this.axis = new Axis(this);
    this.histogram = new Histogram(this);
    this.activity = new Activity(this);
    this.facts = new Facts(this);
    this.threads = new TimeGraph(this, {
      id: 'threads', key: '2', title: 'Control flow', hasArrows: true, isOfThreads: true,
      activity: 'threads', isByProcess: true, orders: ['time', 'name', 'start'],
    });
    this.resources = new TimeGraph(this, {
      id: 'resources', key: '3', title: 'Resources', activity: 'resources', orders: ['tree', 'time', 'name'],
      isKept: ({ labels }) => labels[0].startsWith('CPU '),
      meaning: 'CPUs: a colour for each thread. Thick: active. Thin: idle. Heights in a column: shares.',
    });
    this.criticalPath = new TimeGraph(this, {
      id: 'path', key: '7', title: 'Critical path', hasArrows: true, isOfThreads: true, isShownAtFirst: false, of: pathOf,
    });
    this.flameChart = new TimeGraph(this, { id: 'flames', key: '8', title: 'Flame chart', isByLabel: true });
    this.usage = new Usage(this);
    this.disks = new Disks(this);
    this.latencies = new Latencies(this);
    this.events = new Events(this);
    this.statistics = new Statistics(this);
    this.status = new Status(this);
    this.inspector = new Inspector(this);
    this.rangePanel = new RangePanel(this);
    this.help = new Help();
    this.goTo = new GoTo(this);
    this.divider = new Divider();
    this.views = [this.histogram, this.threads, this.resources, this.usage, this.events, this.statistics,
      this.criticalPath, this.flameChart, this.latencies, this.disks];
    this.viewBar = new ViewBar(this.views);
    followKeys(this);
  }

  /** Puts all views into the document. */
  mount(body) {
    const main = el('main', {}, this.divider.element, this.overview.element, this.axis.element,
      this.histogram.element, this.threads.element, this.criticalPath.element, this.resources.element,
      this.flameChart.element, this.usage.element, this.disks.element, this.latencies.element,
      el('div', { class: 'pair' }, this.events.element, this.statistics.element));
    body.replaceChildren(this.topBar.element, this.filterBar.element, this.viewBar.element, el('div', { class: 'work' }, main, this.inspector.element, this.rangePanel.element), this.status.element,
      this.tip.element, this.help.element, this.faults.element, this.goTo.element, this.chooser.element);
  }

  /** Returns the number of columns of a chart. */
  get columns() {
    return Math.max(Math.round(this.axis.chart.surface.width), 1);
  }

  /** The marks of the axis are round in the notation: offsets from the start, or times. */
  #baseAxis() {
    this.shared.axisBase = this.notation === 'start' ? this.shared.span.from : 0n;
  }

  nextNotation() {
    this.notation = NOTATIONS[(NOTATIONS.indexOf(this.notation) + 1) % NOTATIONS.length];
    writeSetting('lttv-notation', this.notation);
    this.#baseAxis();
    this.dispatchEvent(new Event('notation'));
  }

  toggleSigns() {
    this.hasSigns = !this.hasSigns;
    writeSetting('lttv-signs', String(this.hasSigns));
    this.dispatchEvent(new Event('signs'));
  }

  zoomToRange() {
    const { range } = this.shared;
    if (!range) {
      this.say('No range is marked: drag in a chart, or press . at both ends');
      return;
    }
    this.shared.clearRange();
    this.shared.show(range);
  }

  /** The time around which keys zoom: that of the pointer, the current one if it was chosen, or that in the middle. */
  get zoomPlace() {
    const { window, time } = this.shared;
    const isSeen = this.isTimeChosen && time >= window.from && time <= window.to;
    return this.pointerTime ?? (isSeen ? time : (window.from + window.to) / 2n);
  }

  /** Whether the current time is another one than that at the start. */
  get isTimeChosen() {
    return this.shared.time !== this.shared.span.from;
  }

  /** Shows the marked range, or the state that is selected, with some time around it. */
  fitSelection() {
    const { range } = this.shared;
    const state = this.#row && this.#row.view.stateAt(this.#row.entry.id, this.shared.time);
    const [from, to] = range ? [range.from, range.to] : state ? [state.start, state.end] : [null, null];
    if (from === null) this.say('Nothing is selected: click a state, or mark a range');
    else this.shared.show({ from: from - (to - from) / 10n, to: to + (to - from) / 10n });
  }

  /** Shows only the view of an element, or all of them again. */
  toggleMaximised(element) {
    const main = this.divider.element.parentElement;
    const isMaximised = main.classList.contains('has-maximised');
    for (const view of this.views) view.element.classList.remove('is-maximised');
    const view = isMaximised ? null : this.viewOf(element) ?? this.threads;
    main.classList.toggle('has-maximised', view !== null);
    view?.element.classList.add('is-maximised');
  }

  /** Closes the panel at the side, or else removes the range. */
  leave() {
    if (this.inspector.isShown) this.inspector.hide();
    else this.shared.clearRange();
  }

  changeLabels(by) {
    this.divider.change(by);
  }

  /** Shows or hides the view of a key. */
  toggleView(key) {
    const view = this.views.find(({ panel }) => panel.shortcut === key);
    if (view?.panel.isEmpty) this.say(`${view.panel.title}: these traces have no events for this view`);
    else view?.panel.show(!view.panel.isShown);
  }

  /** Returns the view that contains an element. */
  viewOf(element) {
    return this.views.find((view) => view.element.contains(element)) ?? null;
  }

  /** Moves the focus from a field to the views. */
  focusViews() {
    this.threads.focus();
  }

  say(text) {
    this.status.say(text);
  }

  /** Tells that a row of a chart of states is selected. */
  selectRow(view, entry) {
    this.#row = { view, entry };
    this.status.show();
  }

  /** Returns the state of the selected row at the current time, in words. */
  stateInWords() {
    if (!this.#row) return '';
    const { view, entry } = this.#row;
    const time = (at) => formatTime(at, { notation: this.notation, begin: this.shared.span.from });
    const number = view.columns.tid < 0 ? '' : entry.labels[view.columns.tid];
    const name = entry.labels[view.columns.name];
    return lineWords(number ? `${name} (${number})` : name, view.stateAt(entry.id, this.shared.time), time);
  }

  /** Shows the state of a row at a time in the panel beside the views. */
  inspect(view, entry, time) {
    this.inspector.inspect(view, entry, time);
  }

  /** Asks the server for more about the state of the selected row, and tells it. */
  async describe(view) {
    if (!this.#row || this.#row.view !== view) return;
    const { entry } = this.#row;
    const time = this.shared.time;
    const state = view.stateAt(entry.id, time);
    if (!state) {
      this.say('Nothing is known of this row at the current time');
      return;
    }
    try {
      const parts = Object.entries(await view.facts(entry, time, state)).map(([key, value]) => `${key}: ${value}`);
      this.say(parts.length > 0 ? parts.join(' · ') : this.stateInWords());
    } catch (error) {
      this.say(error.message);
    }
  }
}
