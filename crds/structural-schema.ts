import type { SourceSchema } from './source-schema.ts';

/** The subset of OpenAPI v3 that the API server accepts as a structural schema. */
export interface StructuralSchema
  extends Omit<SourceSchema, 'default' | 'anyOf' | 'discriminator' | 'additionalProperties' | 'properties' | 'items'> {
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
}
