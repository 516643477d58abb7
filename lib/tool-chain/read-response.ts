import { secretPlaces, withoutSecrets } from '../credentials/index.ts';
import { jsonCost, rawNumberCost } from '../http/json-cost.ts';
import { isTooDeep } from '../nesting.ts';
import { countJson, parseExactJson } from './exact-json.ts';
import type { Extracted } from './extract.ts';
import { readingCosts, responseLimits } from './limits.ts';
import { isSearch, parseExtractor } from './parse-extractor.ts';
import type { ReadInTurn } from './reading-turns.ts';
import { StepFailure } from './step-failure.ts';

/** The JSON of a response, and what is found in it. */
interface ParsedResponse {
  readonly value: unknown;
  /** Bytes of heap that the value takes, at most. */
  readonly cost: number;
  /** A search waits for its turn. @throws StepFailure where there is none in time, or the search would take too long. */
  extract(expression: string, run: (expression: string, body: unknown) => Extracted): Promise<Extracted>;
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
  /** Waits for so many bytes of heap, before the values are made. A rejection ends the reading. */
  readonly hold?: (bytes: number) => Promise<void>;
}

/** A status that has no body by definition succeeds with null, as a method does that asks for none. */
const noContent: ReadonlySet<number> = new Set([204, 205]);

/** Bytes that are read at once; they take less than a millisecond. */
const smallBytes = 64 * 1024;

/**
 * A large response waits for a turn, in which its values are counted, and for one in which they are made. It waits for one
 * more where secrets are taken out of it. Between the turns nothing of its text is in the heap.
 * @throws StepFailure for another status than 2xx, for a body that is no JSON or too much of it, and where there is no turn
 * in time.
 */
export async function readResponse(response: Response, { inTurn, signal, hold }: Reader): Promise<ParsedResponse> {
  const { status, secrets = [] } = response;
  if (status < 200 || status > 299) throw new StepFailure(`the upstream answered with status ${status}`);
  const bytes = response.body.length;
  const cost = bytes / readingCosts.bytesPerMicrosecond;
  const turn = async <T>(task: () => T | Promise<T>): Promise<T> =>
    bytes <= smallBytes ? await task() : await inTurn({ cost, signal }, task);
  const body = secrets.length === 0 ? response.body : await turn(() => clean(response.body, secrets));
  const { values, isExact, heap, text } = await turn(() => countsOf({ ...response, body }));
  await hold?.(heap);
  const value = await turn(() => (isEmpty(response, body) ? null : parsed(text ?? textOf(body), isExact)));
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
      return await inTurn({ cost: values * readingCosts.searchedValue, signal }, () => run(expression, value));
    },
  };
}

async function clean(body: Buffer, secrets: readonly string[]): Promise<Buffer> {
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
