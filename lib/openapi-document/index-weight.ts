import { textBytes } from '../heap-bytes.ts';
import type { OpenApiIndex, UpstreamOperation } from './operation.ts';

/** Bytes of heap for an operation without its texts: an object of three fields and its place in the map, measured. */
const operationBytes = 120;
/** Bytes of heap for a list of required parameters with one of them; a further one takes less. */
const needBytes = 48;
/** Bytes of heap for an index without operations; its title and server are bounded. */
const emptyBytes = 6_000;

/** Bytes of heap that the operations of an index take. */
interface IndexWeight {
  readonly bytes: number;
  add(id: string, operation: UpstreamOperation): void;
}

/** Counts each path and server once: operations of an index share them. */
export function createIndexWeight(): IndexWeight {
  const texts = new Set<string>();
  let bytes = emptyBytes;
  const share = (text: string): void => {
    if (texts.has(text)) return;
    texts.add(text);
    bytes += textBytes(text);
  };
  return {
    get bytes() {
      return bytes;
    },
    add(id, { path, server, needs = [] }) {
      bytes += operationBytes + textBytes(id);
      share(path);
      share(server);
      for (const need of needs) {
        bytes += needBytes;
        share(need);
      }
    },
  };
}

/** Bytes of heap that an index takes whose operations share their texts, as those of `unpackReading` do. */
export function indexBytes({ operations }: OpenApiIndex): number {
  const weight = createIndexWeight();
  for (const [id, operation] of operations) weight.add(id, operation);
  return weight.bytes;
}
