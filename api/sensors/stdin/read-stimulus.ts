import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import { sourcePattern } from '../../../crds/stimulus-source.ts';
import { JsonTextError, parseStrictJson } from '../../../lib/http/strict-json.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import { contentOfText } from '../../ingest/index.ts';
import type { SensedStimulus } from '../sensor.ts';

/** Why a line is no stimulus: phrases that hold nothing of the line, as it may be anything. */
type LineProblem =
  | 'it is not UTF-8'
  | 'it is not JSON that every reader reads alike'
  | 'it is not an object'
  | 'it has an unknown field'
  | 'source is not a valid name of a source'
  | 'content is missing'
  | 'idempotency_key is not a string of the allowed length'
  | 'headers is not a map of strings';

/** The source of a line that names none. */
const defaultSource = 'stdin';

const fields: ReadonlySet<string> = new Set(['source', 'content', 'idempotency_key', 'headers']);
const source = new RegExp(sourcePattern);
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A line `{"source"?, "content", "idempotency_key"?, "headers"?}` as a stimulus of the tenant, or what is wrong with it. */
export function readStimulus(line: Uint8Array, tenant: string): SensedStimulus | LineProblem {
  const value = parse(line);
  if (typeof value === 'string') return value;
  const problem = problemOf(value);
  if (problem !== undefined) return problem;
  const {
    source: name = defaultSource,
    content = null,
    idempotency_key: key,
    headers = {},
  } = value as Partial<StimulusLine>;
  return {
    source: { kind: 'Stdin', name },
    tenant,
    content: typeof content === 'string' ? contentOfText(content) : content,
    ...(key === undefined ? {} : { idempotencyKey: key }),
    headers,
  };
}

interface StimulusLine {
  readonly source?: string;
  readonly content: Json;
  readonly idempotency_key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

function parse(line: Uint8Array): Fields | LineProblem {
  try {
    const value = parseStrictJson(utf8.decode(line));
    return isJsonObject(value) ? value : 'it is not an object';
  } catch (error) {
    return error instanceof JsonTextError ? 'it is not JSON that every reader reads alike' : 'it is not UTF-8';
  }
}

function problemOf(value: Fields): LineProblem | undefined {
  if (Object.keys(value).some((key) => !fields.has(key))) return 'it has an unknown field';
  if (!isAbsentOr(value['source'], (text) => source.test(text))) return 'source is not a valid name of a source';
  if (value['content'] === undefined) return 'content is missing';
  if (!isAbsentOr(value['idempotency_key'], isKey)) return 'idempotency_key is not a string of the allowed length';
  return isHeaders(value['headers']) ? undefined : 'headers is not a map of strings';
}

const isAbsentOr = (value: unknown, check: (text: string) => boolean): boolean =>
  value === undefined || (typeof value === 'string' && check(value));

/** Counted as the validators count: in code points. */
const isKey = (text: string): boolean => text !== '' && Array.from(text).length <= limits.idempotencyKeyLength;

const isHeaders = (value: unknown): boolean =>
  value === undefined || (isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'));
