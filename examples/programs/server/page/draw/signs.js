// What tells states apart without colours: a letter or sign, and a pattern.

/** The signs of LTTV's states, by the names of their styles. */
const SIGNS = {
  running: 'r', user: 'U', syscall: 'S', trap: 'T', irq: 'I', softirq: 's', blocked: '.', 'wait cpu': ':',
  'wait fork': ',', exit: 'X', zombie: 'z', dead: ' ', unknown: '?', idle: '-', busy: '#', pending: '!',
  reading: 'R', writing: 'W',
};

/**
 * Patterns of 8 × 8 pixels: a byte for each line, of which a bit is set where the colour is drawn.
 */
const PATTERNS = {
  solid: [255, 255, 255, 255, 255, 255, 255, 255],
  rising: [0xee, 0xdd, 0xbb, 0x77, 0xee, 0xdd, 0xbb, 0x77],
  falling: [0x77, 0xbb, 0xdd, 0xee, 0x77, 0xbb, 0xdd, 0xee],
  bars: [0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc],
  lines: [0xff, 0x00, 0xff, 0x00, 0xff, 0x00, 0xff, 0x00],
  dots: [0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55],
  holes: [0xff, 0xbb, 0xff, 0xee, 0xff, 0xbb, 0xff, 0xee],
  sparse: [0x88, 0x00, 0x22, 0x00, 0x88, 0x00, 0x22, 0x00],
  grid: [0xff, 0x88, 0x88, 0x88, 0xff, 0x88, 0x88, 0x88],
  cross: [0x81, 0x42, 0x24, 0x18, 0x18, 0x24, 0x42, 0x81],
};

const PATTERN_OF = {
  running: 'grid', user: 'solid', busy: 'solid', syscall: 'rising', irq: 'dots', softirq: 'holes', trap: 'cross',
  'wait cpu': 'bars', blocked: 'solid', idle: 'solid', 'wait fork': 'sparse', exit: 'falling', zombie: 'lines',
  reading: 'rising', writing: 'falling', pending: 'sparse', unknown: 'sparse',
};

const OTHERS = ['falling', 'bars', 'lines', 'holes', 'dots', 'rising'];

/** Returns the sign of a state by the name of its style: a known one, or its first letter. */
export function signOf(name) {
  const plain = name.toLowerCase();
  return SIGNS[plain] ?? (name.trim()[0] ?? '?').toUpperCase();
}

/** Returns the pattern of a state by the name of its style, as 8 bytes. */
export function patternOf(name) {
  const plain = name.toLowerCase();
  if (PATTERN_OF[plain]) return PATTERNS[PATTERN_OF[plain]];
  let hash = 0;
  for (let i = 0; i < plain.length; i += 1) hash = (hash * 31 + plain.charCodeAt(i)) >>> 0;
  return PATTERNS[OTHERS[hash % OTHERS.length]];
}
