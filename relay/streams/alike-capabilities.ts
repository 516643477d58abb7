import { LRUCache } from 'lru-cache';
import type { EdgeHostCapabilities } from '../../crds/schema/edge-host.ts';

/** Hosts of a fleet are of a few kinds. */
const kindsMost = 256;
/** Longer ones are left as they are, as JSON in characters: all of these together take half a megabyte. */
const lengthMost = 2_048;

/** The first of several capabilities that say the same, so that ten thousand streams of one fleet keep a few objects. */
export function createAlikeCapabilities(): (capabilities: EdgeHostCapabilities) => EdgeHostCapabilities {
  const known = new LRUCache<string, EdgeHostCapabilities>({ max: kindsMost });
  return (capabilities) => {
    const text = JSON.stringify(capabilities);
    if (text.length > lengthMost) return capabilities;
    const alike = known.get(text);
    if (alike !== undefined) return alike;
    known.set(text, capabilities);
    return capabilities;
  };
}
