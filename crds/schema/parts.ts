import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

/** A closed set of strings, emitted as `enum`: the API server refuses any other value. */
export const oneOf = <const T extends string>(values: readonly T[], options: object = {}): TUnsafe<T> =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options });

/** A map with free keys. `maxProperties` bounds the cost of admission rules. */
export const mapOf = <T extends TSchema>(value: T, options: object = {}): TUnsafe<Record<string, Static<T>>> =>
  Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value, ...options });

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A field that holds any JSON value. */
export const anyJson = (options: object = {}): TUnsafe<Json> =>
  Type.Unsafe<Json>({ 'x-kubernetes-preserve-unknown-fields': true, ...options });

/**
 * Written as a whole. For any other map the API server keeps each name and its writers in managedFields. That is as
 * much again as a value of many small fields, and seconds of work at each write of its object.
 */
export const atomic = { 'x-kubernetes-map-type': 'atomic' } as const;

/** A field that holds any JSON object. */
export const anyObject = (options: object = {}): TUnsafe<Record<string, Json>> =>
  Type.Unsafe<Record<string, Json>>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    ...atomic,
    ...options,
  });

/** A field that holds a JSON Schema of an object (spec 1 §2.6: `type: object` is required). */
export const anySchema = (options: object = {}): TUnsafe<Record<string, Json>> =>
  Type.Unsafe<Record<string, Json>>({
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string', enum: ['object'], description: 'Always object.' } },
    'x-kubernetes-preserve-unknown-fields': true,
    ...atomic,
    ...options,
  });

/** One integer and `s`, `m` or `h`, above zero (requirements AMB-071). */
export const durationPattern = '^[1-9][0-9]{0,8}(s|m|h)$';
/**
 * A duration of seven days at most, as an execution of an agent may take (ADR 0127): for so long its conversation and the
 * session of its pod are kept.
 */
export const weekPattern =
  '^(([1-9][0-9]{0,4}|[1-5][0-9]{5}|60[0-3][0-9]{3}|604[0-7][0-9]{2}|604800)s|([1-9][0-9]{0,3}|100[0-7][0-9]|10080)m|([1-9][0-9]?|1[0-5][0-9]|16[0-8])h)$';
/** Like a duration, and `0s` as well. */
export const backoffPattern = '^(0s|[1-9][0-9]{0,8}(s|m|h))$';

/** SemVer 2.0.0. */
export const semanticVersionPattern =
  '^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$';
/** An amount of memory: a quantity of Kubernetes without a minus (requirements AMB-192); a rule refuses zero. */
export const memoryPattern =
  '^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]{1,2})?$';
/** The name of a Workflow or an Agent in its manifest; a uid matches as well. */
/** `NAME` or `NAME/KEY` of a pull secret; kubelets read one key of each of the two types (requirements AMB-180). */
export const pullSecretPattern = '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(/\\.docker(configjson|cfg))?$';
export const manifestNamePattern = '^[a-z0-9][a-z0-9-]{0,62}$';

/** The API server takes any number of digits of a second. */
const timestampLength = 64;

/** A point in time, RFC 3339 in UTC. */
export const timestamp = (options: object = {}) =>
  Type.String({ format: 'date-time', maxLength: timestampLength, ...options });

/** A Kubernetes CEL rule; `message` names the rule, `fieldPath` the field where it is not the schema's own. */
export interface CelRule {
  rule: string;
  message: string;
  messageExpression?: string;
  fieldPath?: string;
  reason?: 'FieldValueForbidden' | 'FieldValueRequired';
}

/** Options that attach CEL rules to a schema. */
export const cel = (...rules: CelRule[]): { 'x-kubernetes-validations': CelRule[] } => ({
  'x-kubernetes-validations': rules,
});

/**
 * A point in time that users write. The API server takes a list for any text that has a format; the rule, which reads
 * the field, makes it refuse that.
 */
export const givenTimestamp = (options: object = {}) =>
  timestamp({
    ...options,
    ...cel({
      rule: 'type(self) == google.protobuf.Timestamp',
      message: 'must be a date and time as 2026-01-31T12:00:00Z',
    }),
  });
