import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { pipeline } from 'node:stream';
import type { Transform, Readable } from 'node:stream';
import { AppError } from '../../errors.ts';

/** Bytes of a body when it is unpacked (requirements AMB-141). */
export const bodyBytes = 10 * 1_024 * 1_024;

export const acceptedCodings = 'gzip, deflate, br';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A body of so many bytes is read without room for it. */
const smallBytes = 1_024 * 1_024;

interface Bounds {
  readonly most?: number;
  /** Called for a body that is larger than a mebibyte, before more of it is read. */
  readonly grow?: () => Promise<void>;
}

/**
 * The bytes of a body, unpacked.
 * @throws what `grow` throws; AppError `limit_exceeded` beyond `most` bytes, however few were sent; `invalid` for an unrequested coding.
 */
export async function unpackedBody(body: Readable, coding: string, bounds: Bounds = {}): Promise<Buffer> {
  const { most = bodyBytes, grow } = bounds;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of unpacked(body, coding.trim().toLowerCase())) {
    bytes += (chunk as Buffer).length;
    if (bytes > most) throw tooLarge(most);
    chunks.push(chunk as Buffer);
    if (bytes > smallBytes) await grow?.();
  }
  return Buffer.concat(chunks);
}

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
