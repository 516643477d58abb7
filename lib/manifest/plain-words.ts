import { type Document, isPair, isScalar, isSeq, type Scalar, visit } from 'yaml';
import { type Problem, warningAt } from '../../crds/problem.ts';

/** Plain words that YAML 1.1 takes for booleans and YAML 1.2 for texts; `true` and `false` are booleans in both. */
const booleansOfOld = new Set(
  ['y', 'yes', 'on', 'n', 'no', 'off'].flatMap((word) => [
    word,
    word.toUpperCase(),
    word.slice(0, 1).toUpperCase() + word.slice(1),
  ]),
);

/** A warning, and where the word begins. */
interface PlainWord {
  readonly problem: Problem;
  readonly offset: number;
}

/** Warnings of one document that are given. */
const most = 100;

/** Words that kubectl, which reads YAML 1.1, changes into booleans: as a value, and as the name of a field. */
export function plainWords(document: Document): readonly PlainWord[] {
  const found: PlainWord[] = [];
  visit(document, {
    Scalar(_key, word, path) {
      const { value, type, range } = word;
      if (type !== 'PLAIN' || typeof value !== 'string' || !booleansOfOld.has(value)) return undefined;
      const at = placeOf(path, word);
      const message = `kubectl reads the plain word ${value} as a boolean; write "${value}" in quotes`;
      found.push({ problem: warningAt(at, 'plain_word', message), offset: range?.[0] ?? 0 });
      return found.length < most ? undefined : visit.BREAK;
    },
  });
  return found;
}

/** The fields and indexes that lead to a word. A name of a field has the place of the field. */
function placeOf(path: readonly unknown[], word: Scalar): (string | number)[] {
  return path.flatMap((node, index): (string | number)[] => {
    if (isPair(node)) return isScalar(node.key) ? [String(node.key.value)] : [];
    return isSeq(node) ? [node.items.indexOf(path[index + 1] ?? word)] : [];
  });
}
