import type { Draft } from './draft.ts';
import type { Made } from './facts.ts';

/** The text by which `Facts.asked` knows an object. */
export const madeKey = ({ of, name }: Made): string => `${of} ${name}`;

/**
 * A verdict of this decision rests on what a cache says of this object. The cache may be behind, so the decision holds once
 * the API server was asked.
 */
export function restOn(draft: Draft, made: Made): void {
  const key = madeKey(made);
  if (draft.facts.asked?.has(key) !== true) draft.unasked.set(key, made);
}
