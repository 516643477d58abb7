import type { Json } from '../../crds/schema/parts.ts';
import { isJsonObject } from '../json-object.ts';

/** The input of an execution: a payload that is no object is under `input` (requirements AMB-175). */
export function inputOf(payload: Json): Record<string, Json> {
  return isJsonObject(payload) ? payload : { input: payload };
}
