import type { TSchema } from 'typebox';
import type { CelRule } from './schema/parts.ts';

/** The JSON Schema keywords that the schemas of this folder use. */
export interface SourceSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: string | number | boolean;
  /** On a field with a type: null counts as a value. */
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SourceSchema>>;
  readonly additionalProperties?: false | SourceSchema;
  readonly items?: SourceSchema;
  /** Variants of a union, distinguished by `discriminator`. */
  readonly anyOf?: readonly SourceSchema[];
  readonly discriminator?: { readonly propertyName: string };
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

/** TypeBox schemas are plain JSON Schema at run time; this is the one place that says so to the compiler. */
export const sourceOf = (schema: TSchema): SourceSchema => schema as SourceSchema;
