import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { limits } from '../../../crds/limits.ts';
import { invalidRequest, payloadTooLarge } from '../../../lib/http/request-errors.ts';

/** Undoes one coding, in a thread of the runtime's own. */
type Decoder = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const inflateWrapped = promisify(inflate);
const inflateBare = promisify(inflateRaw);

/** RFC 9110 §8.4.1.2: `deflate` is in the zlib format, and some senders leave its wrapping out. */
const inflateEither: Decoder = async (bytes, options) => {
  try {
    return await inflateWrapped(bytes, options);
  } catch (error) {
    if (isTooLarge(error)) throw error;
    return inflateBare(bytes, options);
  }
};

/** The codings of RFC 9110 §8.4.1 that services use, and brotli. */
const known: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: inflateEither,
  br: promisify(brotliDecompress),
};

/** Codings on top of each other that are undone. */
const codingsMax = 2;

/** How to undo a `Content-Encoding`, in order: none where there is nothing to undo, undefined where one is not known. */
export function decodersOf(encoding = ''): readonly Decoder[] | undefined {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > codingsMax || codings.some((coding) => !Object.hasOwn(known, coding))) return undefined;
  return codings.toReversed().flatMap((coding) => known[coding] ?? []);
}

/** The bytes behind the codings. Throws HttpError 413 where they are too many, 400 where they are not coded so. */
export async function decoded(bytes: Uint8Array, decoders: readonly Decoder[]): Promise<Uint8Array> {
  // Some senders name a coding of an empty body as well.
  if (bytes.byteLength === 0) return bytes;
  let result = bytes;
  for (const decode of decoders) {
    try {
      result = await decode(result, { maxOutputLength: limits.webhookBodyBytes });
    } catch (error) {
      throw isTooLarge(error)
        ? payloadTooLarge(limits.webhookBodyBytes, 'the decoded body')
        : invalidRequest('the body is not coded as Content-Encoding says');
    }
  }
  return result;
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
