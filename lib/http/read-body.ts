import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { parse } from 'content-type';
import type { BodyContract } from './contract.ts';
import type { ComingBody } from './in-flight.ts';
import { isTooCostly, jsonCost } from './json-cost.ts';
import {
  clientGone,
  invalidField,
  invalidRequest,
  payloadTooCostly,
  payloadTooLarge,
  tooManyBodies,
  unsupportedMediaType,
} from './request-errors.ts';
import { assertStrict, JsonTextError, parsePlacedJson } from './strict-json.ts';

/** The largest body of an operation that does not say otherwise. */
export const defaultMaxBytes = 1_048_576;

export interface BodySource {
  readonly message: IncomingMessage;
  /** Called before the body is read: a client may wait for `100 Continue`. */
  readonly onRead: () => void;
  /** Counts the body as it comes. `giveWay` is called where it has to make room for others. */
  readonly begin: (giveWay: () => void) => ComingBody;
  /** Waits for room for what a text becomes when it is parsed. @throws HttpError 503 where there is none for long. */
  readonly reserve: (bytes: number) => Promise<void>;
}

/** The body as the contract describes it, except that a JSON value is not validated yet. Throws HttpError. */
export async function readBody(source: BodySource, contract: BodyContract | undefined): Promise<unknown> {
  if (contract === undefined) return refuseBody(source.message);
  requireEncoding(source.message, contract);
  const bytes = await readBytes(source, contract.maxBytes ?? defaultMaxBytes);
  if (contract.kind === 'bytes') return bytes;
  const text = decode(bytes);
  if (contract.kind === 'text') {
    // A reader of YAML would take a false JSON body. The handler judges its content.
    if (isJson(source.message)) await parsePriced(source, text, () => undefined);
    return text;
  }
  if (text === '' && contract.required !== false) throw invalidRequest('the body is empty; send a JSON object');
  return text === '' ? {} : parsePriced(source, text, assertStrict);
}

const isJson = ({ headers }: IncomingMessage): boolean => /^application\/json\b/i.test(headers['content-type'] ?? '');

/** Longer texts are parsed in one turn of the event loop and judged in the next. */
const longText = 65_536;

/** The text of a body that may be larger than others is a part of what it takes while it is read. */
const textBytes = (text: string): number => (text.length > defaultMaxBytes ? text.length : 0);

/** Lets others have the loop between two passes over a text of megabytes. */
const betweenPasses = async (text: string): Promise<unknown> =>
  text.length > defaultMaxBytes ? setImmediate() : undefined;

/** The value of a JSON text that was found affordable before anything is made of it. Throws HttpError. */
async function parsePriced(source: BodySource, text: string, judge: typeof assertStrict): Promise<unknown> {
  await betweenPasses(text);
  const cost = jsonCost(text);
  if (isTooCostly(cost)) throw payloadTooCostly();
  await source.reserve(cost + textBytes(text));
  await betweenPasses(text);
  try {
    const value = parsePlacedJson(text, ['body']);
    if (text.length > longText) await setImmediate();
    judge(text, value, ['body']);
    return value;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw invalidField(error.path, error.message);
  }
}

/**
 * Checks that a body is of one of the given media types. The only parameter that it may have is
 * `charset=utf-8`: any other would change what the bytes mean.
 */
function requireMediaType(header: string | undefined, mediaTypes: readonly string[]): void {
  const expected = mediaTypes.join(' or ');
  if (header === undefined) throw unsupportedMediaType(`send the header Content-Type: ${expected}`);
  const { type, parameters } = parse(header);
  if (!mediaTypes.includes(type)) throw unsupportedMediaType(`the body must be ${expected}`);
  for (const [name, value] of Object.entries(parameters)) {
    if (name !== 'charset' || value.toLowerCase() !== 'utf-8')
      throw unsupportedMediaType(`the only parameter of ${type} is charset=utf-8`);
  }
}

function requireEncoding(message: IncomingMessage, contract: BodyContract): void {
  const { 'content-encoding': encoding, 'content-type': type } = message.headers;
  // Bytes are the handler's to read: their signature is over what came.
  if (contract.kind === 'bytes') return;
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

async function readBytes({ message, onRead, begin }: BodySource, maxBytes: number): Promise<Buffer> {
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) throw payloadTooLarge(maxBytes);
  if (!hasBody(message)) return Buffer.alloc(0);
  onRead();
  // A client that left before there was a listener causes no further event.
  if (message.destroyed) throw clientGone();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void): void => {
      message.off('data', take).off('end', complete).off('close', abort).off('error', abort);
      // Without its own listener an error of a message without a reader would end the process.
      message.on('error', () => undefined);
      finish();
    };
    const refuse = (error: Error): void => {
      message.pause();
      settle(() => reject(error));
    };
    const body = begin(() => refuse(tooManyBodies()));
    const complete = (): void => {
      body.complete();
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    };
    const abort = (): void => settle(() => reject(clientGone()));
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) return refuse(payloadTooLarge(maxBytes));
      if (!body.take(chunk.length)) return refuse(tooManyBodies());
      chunks.push(chunk);
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
