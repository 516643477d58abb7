import type { HelperName } from '../../crds/reserved-names.ts';

/** Where a path begins: frame 0 is the scope, frame n the n-th `each` around it. */
export interface PathExpression {
  readonly kind: 'path';
  readonly frame: number;
  readonly of: 'item' | 'key' | 'index' | 'first' | 'last';
  readonly parts: readonly string[];
  /** As the author wrote it, without brackets; placeholders name it. */
  readonly written: string;
}

export type TemplateExpression =
  | PathExpression
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null | undefined }
  | { readonly kind: 'call'; readonly helper: HelperName; readonly args: readonly TemplateExpression[] };

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: TemplateExpression }
  | {
      readonly kind: 'if' | 'each';
      readonly subject: TemplateExpression;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    };

/** A checked template. */
export interface Template {
  readonly nodes: readonly TemplateNode[];
  /** Paths from the scope's root that the template may read, in order of appearance, repeated as written. */
  readonly references: readonly (readonly string[])[];
  /** Those of them for which the template has no fallback: a missing value renders as a placeholder. */
  readonly bareReferences: readonly (readonly string[])[];
  /** Units of work that parsing takes. */
  readonly cost: number;
}
