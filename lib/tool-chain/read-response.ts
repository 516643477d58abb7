import { secretPlaces, withoutSecrets } from '../credentials/index.ts';
import { jsonCost, rawNumberCost } from '../http/json-cost.ts';
import { isTooDeep } from '../nesting.ts';
import { countJson, parseExactJson } from './exact-json.ts';
import type { Extracted } from './extract.ts';
import { answerLimits, readingCosts, responseLimits } from './limits.ts';
import { isSearch, parseExtractor } from './parse-extractor.ts';
import type { ReadInTurn, Spend } from './reading-turns.ts';
import { StepFailure } from './step-failure.ts';

/** The JSON of a response, and what is found in it. */
export interface ParsedResponse {
  readonly value: unknown;
  /** Bytes of heap that the value takes, at most. */
  readonly cost: number;
  /** A search waits for a turn of the event loop. @throws StepFailure where it would take too long. */
  extract(expression: string, run: (expression: string, body: unknown) => Extracted): Promise<Extracted>;
  /** The JSON of the value. */
  text(): Promise<Buffer>;
}

interface Response {
  readonly status: number;
  readonly body: Buffer;
  readonly secrets?: readonly string[];
  readonly hasBody?: boolean;
}

interface Reader {
  readonly inTurn: ReadInTurn;
  /** Ends the wait for a turn. */
  readonly signal: AbortSignal;
  /** Paths that will be looked for. */
  readonly expressions: readonly string[];
}

/** A status that has no body by definition succeeds with null, as a method does that asks for none. */
const noContent: ReadonlySet<number> = new Set([204, 205]);

/** Bytes that are read at once; they take less than a millisecond. */
const smallBytes = 64 * 1024;
/** Bytes of heap of values that are made while another response is read. They are let go at once. */
const smallCost = 256 * 1024;

/**
 * Makes the values of a response, gives them to `use`, and lets go of them: no other large response is read meanwhile. Its
 * values are counted in a turn of the event loop, and made in another one. Another one more takes secrets out of it.
 * @throws StepFailure for another status than 2xx, for a body that is no JSON or too much of it, and where it cannot be read
 * in time; what `use` throws.
 */
export async function readResponse<T>(
  response: Response,
  { inTurn, signal, expressions }: Reader,
  use: (parsed: ParsedResponse) => Promise<T>,
): Promise<T> {
  const { status, body } = response;
  if (status < 200 || status > 299) throw new StepFailure(`the upstream answered with status ${status}`);
  if (body.length > smallBytes || expressions.some((expression) => isSearch(parseExtractor(expression))))
    return await inTurn(signal, (spend) => readAll(response, spend, use));
  const cleaned = await cleanOf(response, atOnce);
  const counts = countsOf({ ...response, body: cleaned });
  if (counts.heap > smallCost) return await inTurn(signal, (spend) => readAll(response, spend, use));
  return await use(parsedOf({ ...response, body: cleaned }, counts, atOnce));
}

const atOnce: Spend = async () => undefined;

async function readAll<T>(response: Response, spend: Spend, use: (parsed: ParsedResponse) => Promise<T>): Promise<T> {
  const body = await cleanOf(response, spend);
  await spend(costOf(body));
  const cleaned = { ...response, body };
  const counts = countsOf(cleaned);
  await spend(costOf(body));
  return await use(parsedOf(cleaned, counts, spend));
}

/** Microseconds. */
const costOf = ({ length }: Buffer): number => (length <= smallBytes ? 0 : length / readingCosts.bytesPerMicrosecond);

function parsedOf(response: Response, { values, isExact, heap, text }: Counts, spend: Spend): ParsedResponse {
  const { body } = response;
  const value = isEmpty(response, body) ? null : parsed(text ?? textOf(body), isExact);
  return {
    value,
    cost: heap,
    async extract(expression, run) {
      if (!isSearch(parseExtractor(expression))) return run(expression, value);
      if (values > responseLimits.searched) {
        throw new StepFailure(
          `the response holds more than ${responseLimits.searched} values, too many to search with *, .. or a filter`,
        );
      }
      await spend(values * readingCosts.searchedValue);
      return run(expression, value);
    },
    async text() {
      await spend(costOf(body));
      return Buffer.from(JSON.stringify(value));
    },
  };
}

async function cleanOf({ body, secrets = [] }: Response, spend: Spend): Promise<Buffer> {
  if (secrets.length === 0) return body;
  await spend(costOf(body));
  const cleaned = await withoutSecrets(body, secrets);
  if (cleaned !== undefined) return cleaned;
  throw new StepFailure(`the response holds the credential of the call more than ${secretPlaces} times`);
}

interface Counts {
  readonly values: number;
  /** A number of it is kept as text. */
  readonly isExact: boolean;
  /** Bytes of heap that its values take. */
  readonly heap: number;
  /** Only where the response is small. */
  readonly text?: string;
}

const isEmpty = ({ status, hasBody = true }: Response, { length }: Buffer): boolean =>
  (noContent.has(status) || !hasBody) && length === 0;

function countsOf(response: Response): Counts {
  const { body } = response;
  if (isEmpty(response, body)) return { values: 1, isExact: false, heap: 0 };
  const text = textOf(body);
  const { values, longNumbers } = countJson(text);
  if (values > responseLimits.values) {
    throw new StepFailure(`the response holds more than ${responseLimits.values} values; ask for less`);
  }
  if (longNumbers > 0 && values > responseLimits.exact) {
    throw new StepFailure(
      `the response holds more than ${responseLimits.exact} values, and a number that JavaScript cannot keep; ` +
        'ask for less, or for the number as a string',
    );
  }
  const heap = jsonCost(text) - surplusOf(text, body, values) + longNumbers * rawNumberCost;
  if (heap > answerLimits.heapBytes) {
    throw new StepFailure(
      `the values of the response take more than ${answerLimits.heapBytes} bytes of memory; ask for fewer objects and lists`,
    );
  }
  return { values, isExact: longNumbers > 0, heap, ...(body.length <= smallBytes && { text }) };
}

/** A character of a text in ASCII alone takes one byte, and its price is two. A number may need what is too much of its digits. */
const surplusOf = (text: string, body: Buffer, values: number): number =>
  text.length === body.length ? Math.max(0, text.length - 8 * values) : 0;

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new StepFailure('the response is not UTF-8 text');
  }
}

function parsed(text: string, isExact: boolean): unknown {
  let value: unknown;
  try {
    value = isExact ? parseExactJson(text) : JSON.parse(text);
  } catch {
    throw new StepFailure('the response is not JSON');
  }
  if (isTooDeep(value, responseLimits.depth)) {
    throw new StepFailure(`the response is nested deeper than ${responseLimits.depth} levels`);
  }
  return value;
}
