import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '../../errors.ts';

/** Bytes of a body when it is unpacked (requirements AMB-141). */
export const bodyBytes = 10 * 1_024 * 1_024;

/** Bytes of a body up to which its room grows with it. A larger one has room for all that it may have. */
export const mediumBytes = 1_024 * 1_024;

export const acceptedCodings = 'gzip, deflate, br';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

interface Bounds {
  readonly most?: number;
  /** Bytes that the sender says there are, where they come as they are. */
  readonly length?: number;
  /** Called before so many bytes are held: the sender waits meanwhile. */
  readonly grow?: (bytes: number) => Promise<void>;
}

/**
 * The bytes of a body, unpacked.
 * @throws what `grow` throws; AppError `limit_exceeded` beyond `most` bytes, however few were sent; `invalid` for an unrequested coding.
 */
export async function unpackedBody(body: Readable, coding: string, bounds: Bounds = {}): Promise<Buffer> {
  const { most = bodyBytes, length = most, grow } = bounds;
  let [held, bytes] = [Buffer.alloc(0), 0];
  for await (const piece of unpacked(body, coding.trim().toLowerCase())) {
    // A sender of many small pieces would make an object of each of them, which takes 200 bytes.
    const chunk = piece as Buffer;
    const needed = bytes + chunk.length;
    if (needed > most) throw tooLarge(most);
    if (needed > held.length) {
      const size = sizeFor(needed, 2 * held.length, Math.min(length, most));
      await grow?.(size);
      const larger = Buffer.allocUnsafeSlow(size);
      held.copy(larger, 0, 0, bytes);
      held = larger;
    }
    held.set(chunk, bytes);
    bytes = needed;
  }
  return held.subarray(0, bytes);
}

/** A body that fits into a mebibyte asks for no more. A larger one asks once, for all that may come. */
const sizeFor = (needed: number, wanted: number, most: number): number =>
  needed > mediumBytes ? Math.max(needed, most) : Math.max(needed, Math.min(wanted, mediumBytes));

function unpacked(body: Readable, coding: string): Readable {
  if (coding === '' || coding === 'identity') return body;
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (decoder === undefined) {
    body.destroy();
    throw new AppError('invalid', `the body is packed as ${coding.slice(0, 64)}, which is not read`, {
      reason: 'NetworkError',
    });
  }
  // The reader of the result hears of an error of either.
  return pipeline(body, decoder(), () => undefined);
}

const tooLarge = (most: number): AppError =>
  new AppError('limit_exceeded', `the body has more than ${most} bytes; fetch a smaller part`, { reason: 'TooLarge' });

const binary = /^(?:image|audio|video|font)\/|^application\/(?:octet-stream|pdf|zip|gzip|x-tar|wasm|msword|vnd\.)/;

/** The text of a body by its content type. @throws AppError `invalid` where it is no text. */
export function decodedText(bytes: Uint8Array, contentType: string): string {
  if (binary.test(contentType)) {
    const type = contentType.split(';')[0]?.slice(0, 100);
    throw new AppError('invalid', `the body is ${type}, not text`, { reason: 'NotText' });
  }
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // An unknown name.
    return new TextDecoder().decode(bytes);
  }
}
