import type { IncomingMessage } from 'node:http';
import type { BodyContract } from './contract.ts';
import { requireMediaType } from './media-type.ts';
import {
  clientGone,
  invalidField,
  invalidRequest,
  payloadTooLarge,
  tooManyBodies,
  unsupportedMediaType,
} from './request-errors.ts';
import { JsonTextError, parseJson, parseStrictJson } from './strict-json.ts';

/** The largest body of an operation that does not say otherwise. */
export const defaultMaxBytes = 1_048_576;

export interface BodySource {
  readonly message: IncomingMessage;
  /** Called before the body is read: a client may wait for `100 Continue`. */
  readonly onRead: () => void;
  /** Told of the bytes that are kept; false where they are too many, with those of other requests. */
  readonly hold: (bytes: number) => boolean;
}

/** The body as the contract describes it, except that a JSON value is not validated yet. Throws HttpError. */
export async function readBody(source: BodySource, contract: BodyContract | undefined): Promise<unknown> {
  if (contract === undefined) return refuseBody(source.message);
  requireEncoding(source.message, contract);
  const bytes = await readBytes(source, contract.maxBytes ?? defaultMaxBytes);
  if (contract.kind === 'bytes') return bytes;
  const text = decode(bytes);
  if (contract.kind === 'text') {
    // A reader of YAML would take what is called JSON and is not. What it holds is for the handler to judge.
    if (/^application\/json\b/i.test(source.message.headers['content-type'] ?? '')) parse(text, parseJson);
    return text;
  }
  if (text === '' && contract.required !== false) throw invalidRequest('the body is empty; send a JSON object');
  return text === '' ? {} : parse(text);
}

function requireEncoding(message: IncomingMessage, contract: BodyContract): void {
  const { 'content-encoding': encoding, 'content-type': type } = message.headers;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw unsupportedMediaType('compressed bodies are not read: leave out Content-Encoding');
  if (contract.kind === 'text') requireMediaType(type, contract.mediaTypes);
  if (contract.kind === 'json' && hasBody(message)) requireMediaType(type, ['application/json']);
}

/** Whether the headers announce a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function refuseBody(message: IncomingMessage): undefined {
  if (hasBody(message)) throw invalidRequest('this operation takes no body');
  return undefined;
}

async function readBytes({ message, onRead, hold }: BodySource, maxBytes: number): Promise<Buffer> {
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) throw payloadTooLarge(maxBytes);
  if (!hasBody(message)) return Buffer.alloc(0);
  onRead();
  // A client that left before somebody listened is never told of again.
  if (message.destroyed) throw clientGone();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void): void => {
      message.off('data', take).off('end', complete).off('close', abort).off('error', abort);
      // Without its own listener an error of a message that nobody reads any more would end the process.
      message.on('error', () => undefined);
      finish();
    };
    const complete = (): void =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const abort = (): void => settle(() => reject(clientGone()));
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      const isTooLarge = bytes > maxBytes;
      if (!isTooLarge && hold(chunk.length)) return void chunks.push(chunk);
      message.pause();
      settle(() => reject(isTooLarge ? payloadTooLarge(maxBytes) : tooManyBodies()));
    };
    message.on('data', take).on('end', complete).on('close', abort).on('error', abort);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidRequest('the body is not valid UTF-8');
  }
}

function parse(text: string, read = parseStrictJson): unknown {
  try {
    return read(text, ['body']);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw invalidField(error.path, error.message);
  }
}
