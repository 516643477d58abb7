import { isJsonObject } from '../json-object.ts';
import { isTooDeep } from '../nesting.ts';
import type { ModelToolCall } from './models.ts';

/**
 * The JSON object that a model wrote as the arguments of a call. Undefined for any other text, and for an object that is nested so
 * deep that it could not be written again.
 */
export function callArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && !isTooDeep(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The call of which another one is a copy under the name that a provider takes. */
const originals = new WeakMap<ModelToolCall, ModelToolCall>();
const texts = new WeakMap<ModelToolCall, string>();

/** The same call under another name. */
export function renamedCall(call: ModelToolCall, name: string): ModelToolCall {
  const renamed = { ...call, name };
  originals.set(renamed, originals.get(call) ?? call);
  return renamed;
}

/**
 * The arguments of a call as the text of a JSON object: those that are none, or are nested too deep, are an empty one. They are parsed
 * once, however many questions hold the call, and their own text is kept.
 */
export function argumentsText(call: ModelToolCall): string {
  const original = originals.get(call) ?? call;
  const text = texts.get(original) ?? objectText(original.arguments);
  texts.set(original, text);
  return text;
}

function objectText(text: string): string {
  const value = callArguments(text);
  if (value === undefined) return '{}';
  return holdsEndless(value) ? JSON.stringify(value) : text;
}

/** Whether it has a number that no JavaScript number holds, which is written as null. A search of the text would be slower: digits may run on. */
function holdsEndless(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (Array.isArray(value)) return value.some(holdsEndless);
  return isJsonObject(value) && Object.values(value).some(holdsEndless);
}
