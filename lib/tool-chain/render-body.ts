import { isRawNumber, rawText } from './exact-json.ts';
import { TemplateBudgetExceeded } from '../template/template-error.ts';
import { prices } from '../work/limits.ts';
import { Work } from '../work/work.ts';
import type { BodyExpression, BodyNode } from './body-syntax.ts';
import { parseBody } from './parse-body.ts';

/** Values that a `body_template` may read: `{{input.x}}`, `{{state.input.x}}` and `{{state.STEP.VARIABLE}}`. */
export interface BodyContext {
  readonly input: unknown;
  readonly state: Readonly<Record<string, unknown>>;
}

/**
 * Renders as Handlebars does with `noEscape` and its default helpers: a missing value prints as nothing (requirements
 * AMB-129), and nothing is escaped (AMB-020). Only own members of values are read.
 * @throws TemplateError, TemplateBudgetExceeded for more than `mostBytes` of UTF-8, WorkBudgetExceeded.
 */
export function renderBody(source: string, context: BodyContext, mostBytes: number, work = new Work()): string {
  const { nodes, cost } = parseBody(source);
  work.spend(cost);
  const rendering = new BodyRendering(work, mostBytes);
  rendering.body(nodes, { contexts: [context], data: { root: context }, names: undefined });
  return rendering.text;
}

/** Facts of loops by name, and those of the loop around. */
interface Data {
  readonly root: unknown;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly parent?: Data;
}

/** Block parameters that are in force, the innermost first. */
interface Names {
  readonly params: readonly string[];
  readonly values: readonly unknown[];
  readonly outer: Names | undefined;
}

interface Frame {
  /** The innermost context first. */
  readonly contexts: readonly unknown[];
  readonly data: Data;
  readonly names: Names | undefined;
}

type Block = Exclude<BodyNode, { kind: 'text' } | { kind: 'value' }>;

class BodyRendering {
  readonly #work: Work;
  readonly #mostBytes: number;
  readonly #pieces: string[] = [];
  #bytes = 0;

  constructor(work: Work, mostBytes: number) {
    this.#work = work;
    this.#mostBytes = mostBytes;
  }

  get text(): string {
    return this.#pieces.join('');
  }

  body(nodes: readonly BodyNode[], frame: Frame): void {
    for (const node of nodes) {
      this.#work.spend(prices.step);
      if (node.kind === 'text') this.#emit(node.text);
      else if (node.kind === 'value') this.#emit(this.#textOf(this.#evaluate(node.value, frame)));
      else this.#block(node, frame);
    }
  }

  #block(node: Block, frame: Frame): void {
    const subject = this.#evaluate(node.subject, frame);
    if (node.kind === 'each') return this.#each(node, subject, frame);
    if (node.kind === 'with') {
      if (isEmpty(subject)) return this.body(node.otherwise, frame);
      return this.body(node.body, this.#enter(node, frame, { item: subject, data: frame.data }));
    }
    const includesZero = node.includeZero !== undefined && Boolean(this.#evaluate(node.includeZero, frame));
    const isTrue = !isEmpty(subject) && (includesZero || Boolean(subject));
    this.body(isTrue === (node.kind === 'if') ? node.body : node.otherwise, frame);
  }

  #each(node: Block, subject: unknown, frame: Frame): void {
    const items = typeof subject === 'object' && subject !== null && !isRawNumber(subject) ? subject : [];
    const keys: readonly (string | number)[] = Array.isArray(items) ? [...items.keys()] : Object.keys(items);
    // Paid before the first pass: a loop that is too long does not begin.
    this.#work.spend(keys.length * (prices.step + prices.jsonKey));
    if (keys.length === 0) return this.body(node.otherwise, frame);
    for (const [index, key] of keys.entries()) {
      const item = (items as Readonly<Record<string | number, unknown>>)[key];
      const facts = { key, index, first: index === 0, last: index === keys.length - 1 };
      const data = { root: frame.data.root, facts, parent: frame.data };
      this.body(node.body, this.#enter(node, frame, { item, data, key }));
    }
  }

  /** Handlebars counts a context once, however many blocks lead to it. */
  #enter(node: Block, frame: Frame, pass: { item: unknown; data: Data; key?: string | number }): Frame {
    const { item, data, key } = pass;
    this.#work.spend(frame.contexts.length * prices.segment + node.params.length * prices.step);
    const contexts = item === frame.contexts[0] ? frame.contexts : [item, ...frame.contexts];
    if (node.params.length === 0) return { contexts, data, names: frame.names };
    return { contexts, data, names: { params: node.params, values: [item, key], outer: frame.names } };
  }

  #evaluate(expression: BodyExpression, frame: Frame): unknown {
    this.#work.spend(prices.step);
    if (expression.kind === 'literal') return expression.value;
    if (expression.kind === 'lookup') {
      const subject = this.#evaluate(expression.subject, frame);
      const field = this.#evaluate(expression.field, frame);
      return isTruthy(subject) ? memberOf(subject, keyOf(field)) : subject;
    }
    const { from, depth, parts } = expression;
    if (from === 'data') return this.#data(frame.data, depth, parts);
    if (from === 'name') return this.#named(frame, parts);
    return this.#follow(frame.contexts[depth], parts);
  }

  #data(data: Data, depth: number, parts: readonly string[]): unknown {
    const [name = ''] = parts;
    if (name === 'root') return this.#follow(data.root, parts, 1);
    let at: Data | undefined = data;
    // Each level that is there is paid for; beyond the outermost there is none.
    for (let level = 0; level < depth && at !== undefined; level++) {
      this.#work.spend(prices.segment);
      at = at.parent;
    }
    return this.#follow(memberOf(at?.facts, name), parts, 1);
  }

  #named(frame: Frame, parts: readonly string[]): unknown {
    const [name = ''] = parts;
    for (let names = frame.names; names !== undefined; names = names.outer) {
      this.#work.spend(prices.segment);
      const index = names.params.indexOf(name);
      if (index >= 0) return this.#follow(names.values[index], parts, 1);
    }
    return this.#follow(frame.contexts[0], parts);
  }

  /** The parts behind the first `skipped` ones. They are not copied: a path may have thousands, and its value none. */
  #follow(start: unknown, parts: readonly string[], skipped = 0): unknown {
    let value = start;
    for (let at = skipped; at < parts.length; at += 1) {
      this.#work.spend(prices.segment);
      if (value === null || value === undefined) return value;
      value = memberOf(value, parts[at] ?? '');
    }
    return value;
  }

  /** Texts of lists are joined by commas, and an object prints its type, as JavaScript writes them. */
  #textOf(value: unknown): string {
    if (typeof value === 'string') return value;
    this.#work.spend(prices.jsonNode);
    if (value === null || value === undefined) return '';
    if (isRawNumber(value)) return rawText(value);
    if (typeof value !== 'object') return String(value as number | boolean);
    if (!Array.isArray(value)) return '[object Object]';
    this.#work.spend(value.length * prices.jsonNode);
    const texts: string[] = [];
    for (const item of value as unknown[]) {
      const text = this.#textOf(item);
      this.#work.spend(text.length * prices.character);
      texts.push(text);
    }
    return texts.join(',');
  }

  #emit(text: string): void {
    this.#work.spend(text.length * prices.character);
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#mostBytes) {
      throw new TemplateBudgetExceeded(`the body is longer than ${this.#mostBytes} bytes; send less`);
    }
    this.#pieces.push(text);
  }
}

/** As Handlebars sees it: nothing, an empty text, false and an empty list; zero is a value. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value !== 0 && !isTruthy(value);
}

function memberOf(value: unknown, key: string): unknown {
  if (value === null || value === undefined || isRawNumber(value)) return undefined;
  if (typeof value === 'string')
    return Object.hasOwn(Object(value) as object, key) ? stringMember(value, key) : undefined;
  if (typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

const stringMember = (text: string, key: string): unknown => (key === 'length' ? text.length : text[Number(key)]);

const keyOf = (field: unknown): string =>
  typeof field === 'object' && field !== null ? '[object Object]' : String(field as string | number | boolean);

const isTruthy = (value: unknown): boolean => Boolean(value);
