import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { readPublicKey } from '../../lib/envelope/index.ts';

/** Keys of the hosts that a relay has heard last. */
const keysKept = 1_024;

/**
 * Reads keys of hosts. A parsed key takes 1.2 KiB, most of it beside the heap, so that a stream keeps none. To parse it
 * takes a tenth of the time that a check of a signature takes.
 */
export function createKeyReader(): (text: string) => KeyObject {
  const keys = new LRUCache<string, KeyObject>({ max: keysKept, memoMethod: (text) => readPublicKey(text, 'keys') });
  return (text) => keys.memo(text);
}
