import type { Json } from '../crds/schema/parts.ts';
import { inputOf } from '../lib/execution/input-of.ts';
import { isJsonObject } from '../lib/json-object.ts';
import { CliError } from './exit-codes.ts';
import type { FilePort } from './files.ts';
import { parsePairs, parseValue } from './parse-pairs.ts';

export interface InputOptions {
  readonly input?: readonly string[];
  readonly inputFile?: string;
}

/**
 * The start input: what the file holds, if one is given, with the pairs laid over it, or the one JSON value in
 * place of pairs. Without a file the pairs are laid over `under`. A value that is no object becomes `{input: value}` (requirements AMB-175). Undefined when nothing is given.
 * Throws a usage error for a file that is neither JSON nor YAML, and for a whole value beside something else.
 */
export async function readInput(
  files: FilePort,
  options: InputOptions,
  under: Record<string, Json> = {},
): Promise<Record<string, Json> | undefined> {
  const { inputFile, input = [] } = options;
  if (inputFile === undefined && options.input === undefined) return undefined;
  const [whole] = input.filter(isWholeValue);
  if (whole !== undefined) return wholeInput(whole, input.length === 1 && inputFile === undefined);
  const base = inputFile === undefined ? under : await readValue(files, inputFile);
  if (input.length === 0) return inputOf(base);
  if (isJsonObject(base)) return { ...base, ...parsePairs(input, '--input') };
  throw new CliError(
    'usage',
    `${shownPath(inputFile)} holds no object`,
    'Leave out --input, which overrides keys of one.',
  );
}

/** A pair is no JSON: its key would have to begin with a quote or a bracket. */
function isWholeValue(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // A pair, or a typing error.
    return false;
  }
}

function wholeInput(text: string, isAlone: boolean): Record<string, Json> {
  if (isAlone) return inputOf(parseValue(text));
  throw new CliError(
    'usage',
    `--input '${text}' is the whole input`,
    'Give it alone, or write each --input as KEY=VALUE.',
  );
}

const shownPath = (path = ''): string => (path === '-' ? '<stdin>' : path);

async function readValue(files: FilePort, path: string): Promise<Json> {
  const text = await files.read(path);
  const shown = shownPath(path);
  const { parse } = await import('yaml');
  let value: Json;
  try {
    value = parse(text, { schema: 'core' }) as Json;
  } catch (error) {
    const [first] = String(error instanceof Error ? error.message : error).split('\n');
    throw new CliError('usage', `${shown}: ${first}`, 'The input file holds one JSON or YAML value.');
  }
  if (text.trim() !== '') return value;
  throw new CliError('usage', `${shown} is empty`, 'The input file holds one JSON or YAML value.');
}
