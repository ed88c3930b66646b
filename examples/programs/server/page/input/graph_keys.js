// The keys of a chart of states.

/** Handles a key of a chart. Returns `true` if it has a meaning there. */
export function graphKey(graph, key) {
  const steps = {
    ArrowUp: -1, ArrowDown: 1, k: -1, j: 1, PageUp: -graph.page, PageDown: graph.page, Home: -Infinity, End: Infinity,
  };
  const actions = {
    Enter: () => graph.app.describe(graph),
    ' ': () => graph.foldSelected(),
    '*': () => graph.unfoldSelected(),
    e: () => graph.changeHeight(1),
    E: () => graph.changeHeight(-1),
    M: () => graph.toggleArrows(),
    A: () => graph.toggleAll(),
    R: () => graph.nextOrder(),
    p: () => graph.pinSelected(),
    F: () => graph.focusFinder(),
    ';': () => graph.find(1),
    ',': () => graph.find(-1),
  };
  if (Object.hasOwn(steps, key)) graph.step(steps[key]);
  else if (Object.hasOwn(actions, key)) actions[key]();
  else return false;
  return true;
}
