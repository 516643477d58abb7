import type { Json } from '../crds/schema/parts.ts';
import { isJsonObject } from '../lib/json-object.ts';
import { CliError } from './exit-codes.ts';
import type { FilePort } from './files.ts';
import { parsePairs } from './parse-pairs.ts';

export interface InputOptions {
  readonly input?: readonly string[];
  readonly inputFile?: string;
}

/**
 * The start input: the object in the file, if any, with the pairs laid over it. Undefined when neither is given.
 * Throws a usage error when the file is no JSON or YAML object.
 */
export async function readInput(files: FilePort, options: InputOptions): Promise<Record<string, Json> | undefined> {
  if (options.inputFile === undefined && options.input === undefined) return undefined;
  const base = options.inputFile === undefined ? {} : await readObject(files, options.inputFile);
  return { ...base, ...parsePairs(options.input ?? [], '--input') };
}

async function readObject(files: FilePort, path: string): Promise<Record<string, Json>> {
  const text = await files.read(path);
  const shown = path === '-' ? '<stdin>' : path;
  const { parse } = await import('yaml');
  let value: Json;
  try {
    value = parse(text, { schema: 'core' }) as Json;
  } catch (error) {
    const [first] = String(error instanceof Error ? error.message : error).split('\n');
    throw new CliError('usage', `${shown}: ${first}`, 'The input file holds one JSON or YAML object.');
  }
  if (isJsonObject(value)) return value;
  throw new CliError('usage', `${shown} holds no object`, 'The input file holds one JSON or YAML object.');
}
