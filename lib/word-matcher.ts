/** Characters of Latin-1, whose classes are in a list; those of others are looked up. */
const latin = 256;

/** Matches a text; true where it holds each word. */
type WordMatcher = (text: string) => boolean;

/**
 * Tells whether texts hold each word of a query, whatever their letters' case; no words are in every text. The words are one
 * automaton (Aho and Corasick): the work for a text grows with its length alone, not with the words or their number.
 */
export function createWordMatcher(query: string): WordMatcher {
  const words = new Set(query.toLowerCase().split(/\s+/).filter(Boolean));
  if (words.size === 0) return () => true;
  const { classOf, classes } = classesOf(words);
  const { table, wordAt, below } = automatonOf(words, classOf, classes);
  return (text) => {
    const found = new Set<number>();
    const known = text.toLowerCase();
    for (let index = 0, state = 0; index < known.length; index += 1) {
      state = table[state * classes + classOf(known.charCodeAt(index))] ?? 0;
      // Words that end within a word that was found before were found with it.
      for (let end = wordAt[state] ?? 0; end !== 0 && !found.has(end); end = below[end] ?? 0) found.add(end);
      if (found.size === words.size) return true;
    }
    return false;
  };
}

/** Characters of the words have a number each, all others have 0. */
function classesOf(words: Iterable<string>) {
  const low = new Uint16Array(latin);
  const high = new Map<number, number>();
  let classes = 1;
  const classOf = (code: number): number => (code < latin ? low[code] : high.get(code)) ?? 0;
  for (const word of words) {
    for (let index = 0; index < word.length; index += 1) {
      const code = word.charCodeAt(index);
      if (classOf(code) !== 0) continue;
      if (code < latin) low[code] = classes;
      else high.set(code, classes);
      classes += 1;
    }
  }
  return { classOf, classes };
}

interface Automaton {
  /** The next state, by state and class. */
  readonly table: Uint16Array;
  /** By state the longest word that ends there, as its own state; 0 for none. */
  readonly wordAt: Uint16Array;
  /** By the state of a word the next shorter one that it ends with. */
  readonly below: Uint16Array;
}

function automatonOf(words: Iterable<string>, classOf: (code: number) => number, classes: number): Automaton {
  const room = 1 + [...words].reduce((sum, { length }) => sum + length, 0);
  const table = new Uint16Array(room * classes);
  const wordAt = new Uint16Array(room);
  let states = 1;
  for (const word of words) {
    let state = 0;
    for (let index = 0; index < word.length; index += 1) {
      const place = state * classes + classOf(word.charCodeAt(index));
      state = table[place] || (table[place] = states++);
    }
    wordAt[state] = state;
  }
  return { table, wordAt, below: fallBack(table, wordAt, classes) };
}

const entry = (list: Uint16Array, index: number): number => list[index] ?? 0;

/** Where no word continues with a character, the longest end of what was read that begins a word does. */
function fallBack(table: Uint16Array, wordAt: Uint16Array, classes: number): Uint16Array {
  const below = new Uint16Array(wordAt.length);
  const backOf = new Uint16Array(wordAt.length);
  const states = [0];
  for (const state of states) {
    for (let sign = 1; sign < classes; sign += 1) {
      const place = state * classes + sign;
      const next = entry(table, place);
      const other = state === 0 ? 0 : entry(table, entry(backOf, state) * classes + sign);
      if (next === 0) {
        table[place] = other;
        continue;
      }
      states.push(next);
      backOf[next] = other;
      const shorter = entry(wordAt, other);
      if (wordAt[next] === 0) wordAt[next] = shorter;
      else below[next] = shorter;
    }
  }
  return below;
}
