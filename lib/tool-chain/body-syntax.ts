/** The names that a `body_template` may call (spec 3 §2.4). `lookup` gives a value, the others are blocks. */
export const bodyBlocks = ['if', 'unless', 'each', 'with'] as const;
export type BodyBlock = (typeof bodyBlocks)[number];

/** Names that a block gives to values: `each` has an item and its key. */
export const blockParams = 2;

/** Where a path begins: at a value, at a fact of a loop, or at a block parameter. */
export type BodyExpression =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null | undefined }
  | { readonly kind: 'lookup'; readonly subject: BodyExpression; readonly field: BodyExpression }
  | {
      readonly kind: 'path';
      /** `context` counts `../`, `data` is `@name`, `name` may be a block parameter. */
      readonly from: 'context' | 'data' | 'name';
      readonly depth: number;
      readonly parts: readonly string[];
    };

export type BodyNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: BodyExpression }
  | {
      readonly kind: BodyBlock;
      readonly subject: BodyExpression;
      readonly includeZero: BodyExpression | undefined;
      readonly params: readonly string[];
      readonly body: readonly BodyNode[];
      readonly otherwise: readonly BodyNode[];
    };
