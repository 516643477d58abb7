import { prices } from '../work/limits.ts';
import { builtins } from './builtins.ts';
import { Missing, type Reader } from './reader.ts';
import type { TemplateExpression } from './template.ts';

/** One pass of an `each`; the outermost frame is the scope itself. */
export interface Frame {
  readonly item: unknown;
  readonly key: string | number | undefined;
  readonly index: number | undefined;
  readonly first: boolean;
  readonly last: boolean;
}

/** Outside every loop. */
export const outermost = (root: unknown): Frame => ({
  item: root,
  key: undefined,
  index: undefined,
  first: true,
  last: true,
});

/** The value of an expression between braces; a Missing where a path leads nowhere. */
export function evaluateExpression(expression: TemplateExpression, reader: Reader, frames: readonly Frame[]): unknown {
  reader.work.spend(prices.step);
  if (expression.kind === 'literal') return expression.value;
  if (expression.kind === 'call') {
    const args = expression.args.map((argument) => evaluateExpression(argument, reader, frames));
    return builtins[expression.helper](args, reader);
  }
  const { frame, of, parts, written } = expression;
  if (frame === 0) return reader.fromRoot(parts, written);
  return reader.follow(frames[frame]?.[of], parts, new Missing(written, undefined));
}
