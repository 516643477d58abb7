import { limits } from '../../crds/limits.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { BlobRef } from '../../crds/schema/workflow-execution-status.ts';
import { lost } from './packed.ts';

/**
 * A blob as the JSON value that it encodes.
 * @throws AppError `OutputLost` where it is no JSON, or JSON of so many parts that its objects would fill the process.
 */
export function valueOf(data: Uint8Array, { ref, encoding }: Pick<BlobRef, 'ref' | 'encoding'>): Json {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (encoding === 'text') return bytes.toString('utf8');
  if (partsOf(bytes) > limits.storedJsonParts) throw lost(ref, `it has more than ${limits.storedJsonParts} parts`);
  try {
    return JSON.parse(bytes.toString('utf8')) as Json;
  } catch (error) {
    throw lost(ref, 'it is no JSON', error);
  }
}

const quote = 0x22;
const backslash = 0x5c;
/** The bytes of `{`, `[` and `,`: each begins a part. */
const beginnings = new Set([0x7b, 0x5b, 0x2c]);

/** How many objects, lists and members a JSON text has, at most; text inside strings does not count. */
function partsOf(json: Uint8Array): number {
  let parts = 0;
  let isText = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (byte === quote) isText = !isText;
    else if (isText && byte === backslash) index += 1;
    else if (!isText && byte !== undefined && beginnings.has(byte)) parts += 1;
  }
  return parts;
}
