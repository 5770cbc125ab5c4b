// Packed states: every cell at fixed bits of a fixed number of 32-bit words, none across a word border.

const WORD_BITS = 32;

/** Places of all cells: each goes to the first word that has room for it. */
export function layout(model) {
  const free = [];
  const places = model.cells.map(([family]) => {
    const { low, high, name } = model.families[family];
    const width = bitLength(high - low);
    if (width > 31) throw new Error(`variable ${name} ranges over ${low}…${high}, which takes more than 31 bits`);
    let word = free.findIndex((bits) => bits >= width);
    if (word < 0) word = free.push(WORD_BITS) - 1;
    const shift = WORD_BITS - free[word];
    free[word] -= width;
    return { word, shift, mask: (2 ** width - 1) | 0, low };
  });
  return { places, words: Math.max(1, free.length) };
}

/** Pack a state, one integer for each cell, into `words` from `base` on. */
export function pack({ places, words }, state, into = new Uint32Array(words), base = 0) {
  into.fill(0, base, base + words);
  places.forEach(({ word, shift, low }, cell) => {
    into[base + word] |= (state[cell] - low) << shift;
  });
  return into;
}

function bitLength(number) {
  let bits = 0;
  while (2 ** bits <= number) bits += 1;
  return bits;
}
