// Rows of a tree: which are visible, in which order, at which depth.

/** A tree of entries `{id, parentId, labels}`, of which branches can be folded. */
export class Tree {
  #children = new Map();
  #folded = new Set();

  constructor(entries = []) {
    this.entries = new Map(entries.map((entry) => [entry.id, entry]));
    this.roots = [];
    for (const entry of entries) {
      const parent = entry.parentId ?? -1;
      if (parent === -1 || parent === entry.id || !this.entries.has(parent)) {
        this.roots.push(entry);
      } else {
        const siblings = this.#children.get(parent);
        if (siblings) siblings.push(entry);
        else this.#children.set(parent, [entry]);
      }
    }
  }

  childrenOf(id) {
    return this.#children.get(id) ?? [];
  }

  isFolded(id) {
    return this.#folded.has(id);
  }

  fold(id, isFolded = true) {
    if (isFolded) this.#folded.add(id);
    else this.#folded.delete(id);
  }

  /** Takes over the folded branches of an earlier version of the tree. */
  keepFolds(before) {
    this.#folded = new Set([...before.#folded].filter((id) => this.entries.has(id)));
  }

  /** Unfolds an entry and all below it. */
  unfoldBelow(id, depth = 0) {
    this.fold(id, false);
    if (depth < 100) for (const child of this.childrenOf(id)) this.unfoldBelow(child.id, depth + 1);
  }

  /** Returns all entries in the order of rows, also those in folded branches. */
  rowsUnfolded() {
    const folded = this.#folded;
    this.#folded = new Set();
    const entries = this.rows().map((row) => row.entry);
    this.#folded = folded;
    return entries;
  }

  /** Unfolds the parents of an entry. */
  reveal(id) {
    const seen = new Set();
    for (let at = this.entries.get(id)?.parentId; this.entries.has(at) && !seen.has(at);) {
      seen.add(at);
      this.fold(at, false);
      at = this.entries.get(at).parentId;
    }
  }

  /**
   * Returns the next entry for which a test holds, from one in a direction (1 or -1) and around the
   * end, also in folded branches; undefined if there is none.
   */
  find(from, direction, test) {
    const entries = this.rowsUnfolded();
    const start = entries.findIndex(({ id }) => id === from);
    for (let turn = 1; turn <= entries.length; turn += 1) {
      const at = (start + direction * turn) % entries.length;
      const entry = entries[(at + entries.length) % entries.length];
      if (test(entry)) return entry;
    }
    return undefined;
  }

  /** Folds all branches that are deeper than a level; -1 unfolds all. */
  foldBelow(level) {
    this.#folded.clear();
    if (level < 0) return;
    for (const { entry, depth, hasChildren } of this.rows()) {
      if (hasChildren && depth >= level) this.#folded.add(entry.id);
    }
  }

  /**
   * Returns the rows that are not in a folded branch: entry, depth, whether there are children,
   * and place among the siblings. `order` sorts siblings; entries that `keep` rejects are left out,
   * and their children take their place.
   */
  rows({ order = null, keep = null } = {}) {
    const rows = [];
    const seen = new Set();
    const stack = [];
    const push = (siblings, depth) => {
      const sorted = order ? [...siblings].sort(order) : siblings;
      for (let i = sorted.length - 1; i >= 0; i -= 1) {
        stack.push({ entry: sorted[i], depth, position: i + 1, siblings: sorted.length });
      }
    };
    push(this.roots, 0);
    while (stack.length > 0) {
      const row = stack.pop();
      if (seen.has(row.entry.id)) continue;
      seen.add(row.entry.id);
      const children = this.childrenOf(row.entry.id);
      const isKept = !keep || keep(row.entry);
      if (isKept) rows.push({ ...row, hasChildren: children.length > 0 });
      if (children.length > 0 && (!isKept || !this.#folded.has(row.entry.id))) {
        push(children, row.depth + (isKept ? 1 : 0));
      }
    }
    return rows;
  }
}
