import { isJsonObject } from '../json-object.ts';
import { isTooDeep } from '../nesting.ts';

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
