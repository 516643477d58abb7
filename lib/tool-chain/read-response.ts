import { setImmediate } from 'node:timers/promises';
import { isTooDeep } from '../nesting.ts';
import { parseExactJson } from './exact-json.ts';
import type { Extracted } from './extract.ts';
import { responseLimits } from './limits.ts';
import { isSearch, parseExtractor } from './parse-extractor.ts';
import { StepFailure } from './step-failure.ts';

/** The JSON of a response, and what is found in it. */
export interface ParsedResponse {
  readonly value: unknown;
  /** Evaluates in a turn of the event loop of its own. @throws StepFailure where a search would take too long. */
  extract(expression: string, run: (expression: string, body: unknown) => Extracted): Promise<Extracted>;
}

/** A status that has no body by definition succeeds with null. */
const noContent: ReadonlySet<number> = new Set([204, 205]);

/** @throws StepFailure for another status than 2xx, and for a body that is no JSON or too much of it. */
export function readResponse({ status, body }: { readonly status: number; readonly body: Buffer }): ParsedResponse {
  if (status < 200 || status > 299) throw new StepFailure(`the upstream answered with status ${status}`);
  const text = textOf(body);
  const values = text === '' ? 1 : countValues(text);
  if (values > responseLimits.values) {
    throw new StepFailure(`the response holds more than ${responseLimits.values} values; ask for less`);
  }
  const value = noContent.has(status) && text === '' ? null : parsed(text);
  return {
    value,
    extract: async (expression, run) => {
      const isWide = isSearch(parseExtractor(expression));
      if (isWide && values > responseLimits.searched) {
        throw new StepFailure(
          `the response holds more than ${responseLimits.searched} values, too many to search with *, .. or a filter`,
        );
      }
      if (isWide) await setImmediate();
      return run(expression, value);
    },
  };
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new StepFailure('the response is not UTF-8 text');
  }
}

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    throw new StepFailure('the response is not JSON');
  }
  if (isTooDeep(value, responseLimits.depth)) {
    throw new StepFailure(`the response is nested deeper than ${responseLimits.depth} levels`);
  }
  return value;
}

/** Values of a JSON text, counted before anything is made of them. */
function countValues(text: string): number {
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // `[`, `{` and `,`; a string is passed over.
    if (code === 0x5b || code === 0x7b || code === 0x2c) values += 1;
    else if (code === 0x22) index = endOfString(text, index);
  }
  return values;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) break;
    if (code === 0x5c) index += 1;
  }
  return index;
}
