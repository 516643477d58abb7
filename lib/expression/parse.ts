import { memoize } from '../memo.ts';
import type { Template, TemplateExpression, TemplateNode } from '../template/template.ts';
import { placeOf } from '../template/template-error.ts';
import { prices } from '../work/limits.ts';
import { Work } from '../work/work.ts';
import { ExpressionError } from './expression-error.ts';
import { expressionLimits } from './limits.ts';
import { type ExpressionOperator, type Token, tokenize } from './tokenize.ts';

export type ComparisonOperator = '==' | '!=' | '<' | '>' | '<=' | '>=';

export type ExpressionNode =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'path'; readonly parts: readonly string[]; readonly written: string }
  /** A template expression; it gives a value of any type. */
  | { readonly kind: 'braces'; readonly value: TemplateExpression }
  /** A template in quotes; it gives a text. */
  | { readonly kind: 'template'; readonly nodes: readonly TemplateNode[] }
  | { readonly kind: 'not'; readonly operand: ExpressionNode }
  | { readonly kind: 'and' | 'or'; readonly left: ExpressionNode; readonly right: ExpressionNode }
  | {
      readonly kind: 'compare';
      readonly operator: ComparisonOperator;
      readonly left: ExpressionNode;
      readonly right: ExpressionNode;
    };

/** A checked expression. */
interface Expression {
  readonly root: ExpressionNode;
  /** Paths that it may read, in order of appearance. */
  readonly references: readonly (readonly string[])[];
  /** Units of work that parsing takes. */
  readonly cost: number;
}

/** Result of checking an expression when a workflow is registered. */
type ExpressionCheck =
  | { readonly ok: true; readonly references: readonly (readonly string[])[] }
  | { readonly ok: false; readonly message: string; readonly line: number; readonly column: number };

/**
 * The checked form of a `custom` expression (requirements AMB-155, AMB-172); the last ones are remembered.
 * @throws ExpressionError for anything that is not in the grammar, or above the limits.
 */
export const parseExpression: (source: string) => Expression = memoize(expressionLimits.remembered, (source) => {
  if (source.length > expressionLimits.length) {
    throw new ExpressionError(`the expression is longer than ${expressionLimits.length} characters`, 0);
  }
  const tokens = tokenize(source);
  const cost = tokens.reduce((sum, token) => sum + costOf(token), 0);
  return { ...new Parser(tokens).parse(), cost };
});

const costOf = (token: Token): number => prices.expressionToken + ('template' in token ? token.template.cost : 0);

/**
 * Checks an expression without evaluating it. Line and column count from 1.
 * @throws WorkBudgetExceeded where the work of the definition is used up.
 */
export function checkExpression(source: string, work = new Work()): ExpressionCheck {
  try {
    const { references, cost } = parseExpression(source);
    work.spend(cost);
    return { ok: true, references };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { ok: false, message: error.message, ...placeOf(source, error.offset) };
  }
}

/** How tightly an operator binds its sides; what is not in the table ends an expression. */
const bindings: Partial<Record<ExpressionOperator, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 4,
  '>': 4,
  '<=': 4,
  '>=': 4,
};
const notBinding = 5;

/** Operator precedence parser: an operand, then every operator that binds tighter than the one before. */
class Parser {
  readonly #tokens: readonly Token[];
  readonly #references: (readonly string[])[] = [];
  /** An expression in parentheses of its own. */
  readonly #grouped = new WeakSet<ExpressionNode>();
  #position = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Omit<Expression, 'cost'> {
    const root = this.#expression(0);
    const rest = this.#take();
    if (rest.kind !== 'end') throw new ExpressionError(`${nameOf(rest)} was not expected here`, rest.offset);
    return { root, references: this.#references };
  }

  #expression(binding: number): ExpressionNode {
    let left = this.#operand();
    for (let operator = this.#infix(binding); operator !== undefined; operator = this.#infix(binding)) {
      const { offset } = this.#take();
      left = this.#combine(operator, left, offset);
    }
    return left;
  }

  /** The next token when it is an operator that binds tighter than `binding`. */
  #infix(binding: number): ExpressionOperator | undefined {
    const token = this.#peek();
    if (token.kind !== 'operator') return undefined;
    return (bindings[token.operator] ?? 0) > binding ? token.operator : undefined;
  }

  #combine(operator: ExpressionOperator, left: ExpressionNode, offset: number): ExpressionNode {
    const right = this.#expression(bindings[operator] ?? 0);
    if (operator === '&&') return { kind: 'and', left, right };
    if (operator === '||') return { kind: 'or', left, right };
    const ordering = operator !== '==' && operator !== '!=';
    if (ordering && left.kind === 'compare' && !this.#grouped.has(left)) {
      throw new ExpressionError('comparisons cannot be chained; join them with &&', offset);
    }
    return { kind: 'compare', operator: operator as ComparisonOperator, left, right };
  }

  #operand(): ExpressionNode {
    const token = this.#take();
    if (token.kind === 'literal') return { kind: 'literal', value: token.value };
    if (token.kind === 'path') {
      this.#references.push(token.parts);
      return { kind: 'path', parts: token.parts, written: token.written };
    }
    if (token.kind === 'braces' || token.kind === 'template') return this.#embedded(token);
    if (token.kind === 'operator' && token.operator === '!') {
      return { kind: 'not', operand: this.#deeper(token, () => this.#expression(notBinding)) };
    }
    if (token.kind === 'operator' && token.operator === '(') return this.#deeper(token, () => this.#group(token));
    throw new ExpressionError(`${nameOf(token)} where a value was expected`, token.offset);
  }

  #embedded(token: Extract<Token, { readonly template: Template }>): ExpressionNode {
    this.#references.push(...token.template.references);
    return token.kind === 'braces'
      ? { kind: 'braces', value: token.value }
      : { kind: 'template', nodes: token.template.nodes };
  }

  #group(open: Token): ExpressionNode {
    const inner = this.#expression(0);
    const close = this.#take();
    if (close.kind !== 'operator' || close.operator !== ')') {
      throw new ExpressionError('the parenthesis is not closed', open.offset);
    }
    this.#grouped.add(inner);
    return inner;
  }

  #deeper(token: Token, parse: () => ExpressionNode): ExpressionNode {
    this.#depth++;
    if (this.#depth > expressionLimits.depth) {
      throw new ExpressionError(`more than ${expressionLimits.depth} nested parentheses and negations`, token.offset);
    }
    const node = parse();
    this.#depth--;
    return node;
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? { kind: 'end', offset: 0 };
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#position++;
    return token;
  }
}

function nameOf(token: Token): string {
  if (token.kind === 'end') return 'the expression ends';
  if (token.kind === 'operator') return `'${token.operator}'`;
  if (token.kind === 'braces') return '{{';
  return token.kind === 'literal' ? JSON.stringify(token.value) : `'${token.written}'`;
}
