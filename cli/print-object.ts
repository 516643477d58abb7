import type { KubeObject } from '../lib/kube/index.ts';
import type { OutputFormat, CommandContext } from './command-context.ts';
import { unsafeMarks } from './unsafe-marks.ts';

/** The form of an object in `-o name`: `workflow.windlass.dev/demo`, as kubectl does. */
export function resourceName({ kind, apiVersion, metadata }: KubeObject): string {
  const group = apiVersion?.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  return `${(kind ?? 'object').toLowerCase()}${group}/${metadata.name}`;
}

/** The object without the bookkeeping of field managers, which no user reads. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Prints one object where the user asked for json, yaml or name; false where the command shows its own form. */
export async function printedObject(context: CommandContext, object: KubeObject): Promise<boolean> {
  if (context.format === 'name') {
    context.terminal.out(resourceName(object));
    return true;
  }
  return printedValue(context, withoutManagedFields(object));
}

/** Prints a list as Kubernetes' `List`; false where the command shows its own form. */
export async function printedList(context: CommandContext, items: readonly KubeObject[]): Promise<boolean> {
  if (context.format === 'name') {
    for (const item of items) context.terminal.out(resourceName(item));
    return true;
  }
  return printedValue(context, { apiVersion: 'v1', kind: 'List', items: items.map(withoutManagedFields) });
}

/** Prints any value where the user asked for json or yaml; false otherwise. */
export async function printedValue({ format, terminal }: CommandContext, value: unknown): Promise<boolean> {
  if (format !== 'json' && format !== 'yaml') return false;
  terminal.out(await serialised(value, format));
  return true;
}

/** Characters that JSON and YAML leave as they are, and that a terminal obeys: C1 control characters begin escape sequences. */
const unsafe = new RegExp(String.raw`[\u007f-\u009f${unsafeMarks}]`, 'g');

/** Both formats read `\uXXXX` in double quotes, where alone such a character is written. */
const escaped = (text: string): string =>
  text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The value as text without a line end, safe for a terminal. */
export async function serialised(value: unknown, format: Extract<OutputFormat, 'json' | 'yaml'>): Promise<string> {
  if (format === 'json') return escaped(JSON.stringify(value, null, 2));
  const { writeQuotedYaml } = await import('../lib/manifest/write-yaml.ts');
  return escaped(writeQuotedYaml(value, unsafe).trimEnd());
}
