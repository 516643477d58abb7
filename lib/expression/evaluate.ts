import type { LoadedValues, NeedsValues } from '../template/large-value.ts';
import { evaluateExpression, outermost } from '../template/evaluate.ts';
import { Missing, Reader } from '../template/reader.ts';
import { Rendering } from '../template/render.ts';
import type { TemplateScope } from '../template/scope.ts';
import type { TemplateNode } from '../template/template.ts';
import { textOf } from '../template/text-of.ts';
import { prices } from '../work/limits.ts';
import { Work } from '../work/work.ts';
import { type ComparisonOperator, type ExpressionNode, parseExpression } from './parse.ts';

/** Whether the expression holds, and the paths it looked at in vain, each once. */
interface EvaluatedExpression {
  readonly kind: 'value';
  readonly value: boolean;
  readonly missing: readonly string[];
}

const nothingLoaded: LoadedValues = new Map();
const falsyTexts = new Set(['', 'false', '0']);
/** A longer text is no number that a person has written. */
const longestNumber = 64;
const numeric = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Evaluates a `custom` condition (WF-COND-25, requirements AMB-067, AMB-155 and AMB-172). The right side of `&&` and `||`
 * is looked at only where it decides. When stored values are used that `loaded` lacks, it says which. Expressions that are
 * tested in one turn share one `work`.
 * @throws ExpressionError when the expression is not valid, WorkBudgetExceeded when its values are too large, NestedTooDeep.
 */
export function evaluate(
  source: string,
  scope: TemplateScope,
  loaded = nothingLoaded,
  work = new Work(),
): EvaluatedExpression | NeedsValues {
  return work.during('custom expressions', () => {
    const { root, cost } = parseExpression(source);
    work.spend(cost);
    const reader = new Reader(scope, loaded, work);
    const evaluation = new Evaluation(scope, reader);
    const value = evaluation.holds(root);
    return reader.needs ?? { kind: 'value', value, missing: evaluation.missing };
  });
}

class Evaluation {
  readonly #scope: TemplateScope;
  readonly #reader: Reader;
  readonly #missing = new Set<string>();

  constructor(scope: TemplateScope, reader: Reader) {
    this.#scope = scope;
    this.#reader = reader;
  }

  get missing(): readonly string[] {
    return [...this.#missing];
  }

  holds(node: ExpressionNode): boolean {
    this.#reader.work.spend(prices.step);
    if (node.kind === 'not') return !this.holds(node.operand);
    if (node.kind === 'and') return this.holds(node.left) && this.holds(node.right);
    if (node.kind === 'or') return this.holds(node.left) || this.holds(node.right);
    if (node.kind === 'compare') return this.#compare(node.operator, this.#value(node.left), this.#value(node.right));
    return this.#isTruthy(this.#value(node));
  }

  #value(node: ExpressionNode): unknown {
    if (node.kind === 'literal') return node.value;
    if (node.kind === 'template') return this.#text(node.nodes);
    if (node.kind !== 'path' && node.kind !== 'braces') return this.holds(node);
    this.#reader.work.spend(prices.step);
    const value =
      node.kind === 'path'
        ? this.#reader.fromRoot(node.parts, node.written)
        : evaluateExpression(node.value, this.#reader, [outermost(this.#scope.root)]);
    if (!(value instanceof Missing)) return value ?? null;
    this.#missing.add(value.path);
    return null;
  }

  /** A template in quotes. A missing value is an empty text in it: a placeholder would be a text without an author. */
  #text(nodes: readonly TemplateNode[]): string {
    const rendering = new Rendering(this.#scope, this.#reader, false);
    rendering.body(nodes);
    for (const path of rendering.missing) this.#missing.add(path);
    return rendering.text;
  }

  #compare(operator: ComparisonOperator, left: unknown, right: unknown): boolean {
    if (operator === '==') return this.#equal(left, right);
    if (operator === '!=') return !this.#equal(left, right);
    // NaN, the value of anything that is no number, is neither above nor below nor equal.
    return orderings[operator](this.#number(left), this.#number(right));
  }

  #equal(left: unknown, right: unknown): boolean {
    if (left === null || right === null) return left === right;
    const [leftNumber, rightNumber] = [this.#number(left), this.#number(right)];
    if (!Number.isNaN(leftNumber) && !Number.isNaN(rightNumber)) return leftNumber === rightNumber;
    const [leftText, rightText] = [textOf(left, this.#reader), textOf(right, this.#reader)];
    this.#reader.work.spend(Math.min(leftText.length, rightText.length) * prices.character);
    return leftText === rightText;
  }

  /** Falsy are null, "", 0, false, "false", "0", and a list or object without entries (requirements AMB-155). */
  #isTruthy(value: unknown): boolean {
    if (typeof value === 'string') return !falsyTexts.has(value);
    if (typeof value !== 'object' || value === null) return Boolean(value);
    if (Array.isArray(value)) return value.length > 0;
    const { length } = Object.keys(value);
    this.#reader.work.spend(length * prices.segment);
    return length > 0;
  }

  /** A number, or the number that a text holds with blanks around it; NaN for anything else. */
  #number(value: unknown): number {
    if (typeof value === 'number') return value;
    if (typeof value !== 'string') return Number.NaN;
    this.#reader.work.spend(value.length * prices.character);
    const text = value.trim();
    return text.length <= longestNumber && numeric.test(text) ? Number(text) : Number.NaN;
  }
}

const orderings: Readonly<Record<Exclude<ComparisonOperator, '==' | '!='>, (left: number, right: number) => boolean>> =
  {
    '<': (left, right) => left < right,
    '>': (left, right) => left > right,
    '<=': (left, right) => left <= right,
    '>=': (left, right) => left >= right,
  };
