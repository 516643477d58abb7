import { limits } from '../../../crds/limits.ts';
import type { Tool } from '../tool.ts';

/** A row of the specification: everything of a tool but what runs it (spec 3 §10). */
export type ToolRow = Omit<Tool, 'run'>;

type Schema = Readonly<Record<string, unknown>>;

export const text = (description: string): Schema => ({ type: 'string', description });
export const pathText = (description: string): Schema => ({ ...text(description), maxLength: limits.toolPathLength });
/** Words that rows of a list are searched for. */
export const words = (description: string): Schema => ({ ...text(description), maxLength: limits.searchLength });
export const choice = (values: readonly string[], description: string): Schema => ({
  type: 'string',
  enum: values,
  description,
});
/** Any JSON value. */
export const anything = (description: string): Schema => ({ description });
export const flag = (description: string, fallback: boolean): Schema => ({
  type: 'boolean',
  default: fallback,
  description,
});
export const whole = (description: string, bounds: Schema = {}): Schema => ({
  type: 'integer',
  ...bounds,
  description,
});

/** Marks of a row: `judged` is skip_judge false, `repeatable` is idempotent, `fleet` is fleet_capable. */
type Mark = 'judged' | 'repeatable' | 'fleet';

interface RowText {
  readonly name: string;
  readonly description: string;
  /** In the order of the specification's table. */
  readonly required?: Readonly<Record<string, Schema>>;
  readonly optional?: Readonly<Record<string, Schema>>;
  readonly marks?: readonly Mark[];
}

/** Makes a row; arguments that it does not name are accepted and ignored. */
export function row({ name, description, required = {}, optional = {}, marks = [] }: RowText): ToolRow {
  return {
    name,
    description,
    input_schema: { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) },
    skip_judge: !marks.includes('judged'),
    idempotent: marks.includes('repeatable'),
    fleet_capable: marks.includes('fleet'),
  };
}
