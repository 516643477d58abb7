import { prices } from '../work/limits.ts';
import { Work } from '../work/work.ts';
import { evaluateExpression, type Frame, outermost } from './evaluate.ts';
import type { LoadedValues, NeedsValues } from './large-value.ts';
import { templateLimits } from './limits.ts';
import { prepareTemplate } from './parse.ts';
import { Missing, Reader } from './reader.ts';
import type { TemplateScope } from './scope.ts';
import type { TemplateExpression, TemplateNode } from './template.ts';
import { TemplateBudgetExceeded } from './template-error.ts';
import { textOf } from './text-of.ts';

/** A rendered text, and the paths that had no value, each once. */
interface RenderedText {
  readonly kind: 'rendered';
  readonly text: string;
  readonly missing: readonly string[];
}

const nothingLoaded: LoadedValues = new Map();

/**
 * Renders a template once: text that comes out of data is never looked at again. A missing key prints a placeholder and
 * fails nothing (WF-TPL-31). When the template uses stored values that `loaded` lacks, it says which; load them, add
 * them to those of the last round and render again. Templates that are rendered in one go share one `work`, so that many
 * small ones cannot take what a large one may not.
 * @throws TemplateError when the template is not valid, TemplateBudgetExceeded when the text is too long,
 * WorkBudgetExceeded when it takes too much work, NestedTooDeep.
 */
export function render(
  source: string,
  scope: TemplateScope,
  loaded = nothingLoaded,
  work = new Work(),
): RenderedText | NeedsValues {
  const prepared = prepareTemplate(source);
  work.spend(prepared.cost);
  const { nodes } = prepared.template;
  const reader = new Reader(scope, loaded, work);
  const rendering = new Rendering(scope, reader);
  rendering.body(nodes);
  return reader.needs ?? { kind: 'rendered', text: rendering.text, missing: [...rendering.missing] };
}

/** Renders checked nodes with a reader of the caller's; a missing key prints as nothing where `placeholders` is false. */
export class Rendering {
  readonly missing = new Set<string>();
  readonly #reader: Reader;
  readonly #frames: Frame[];
  readonly #placeholders: boolean;
  readonly #pieces: string[] = [];
  #length = 0;

  constructor(scope: TemplateScope, reader: Reader, placeholders = scope.placeholders) {
    this.#reader = reader;
    this.#frames = [outermost(scope.root)];
    this.#placeholders = placeholders;
  }

  get text(): string {
    return this.#pieces.join('');
  }

  body(nodes: readonly TemplateNode[]): void {
    for (const node of nodes) this.#node(node);
  }

  #node(node: TemplateNode): void {
    this.#reader.work.spend(prices.step);
    if (node.kind === 'text') return this.#emit(node.text);
    if (node.kind === 'value') return this.#print(this.#evaluate(node.value));
    const subject = this.#evaluate(node.subject);
    if (node.kind === 'each') return this.#each(node, subject);
    return this.body(isTrue(subject) ? node.body : node.otherwise);
  }

  #each(node: Extract<TemplateNode, { kind: 'if' | 'each' }>, subject: unknown): void {
    const items = itemsOf(this.#reader.readable(subject));
    const keys = Array.isArray(items) ? undefined : Object.keys(items);
    const count = keys?.length ?? (items as readonly unknown[]).length;
    // Paid before the first pass: a loop that is too long does not begin.
    this.#reader.work.spend(count * (keys === undefined ? prices.step : prices.step + prices.jsonKey));
    if (count === 0) return this.body(node.otherwise);
    for (let index = 0; index < count; index++) {
      const key = keys?.[index] ?? index;
      const item = (items as Readonly<Record<string | number, unknown>>)[key];
      this.#frames.push({ item, key, index, first: index === 0, last: index === count - 1 });
      this.body(node.body);
      this.#frames.pop();
    }
  }

  #evaluate(expression: TemplateExpression): unknown {
    return evaluateExpression(expression, this.#reader, this.#frames);
  }

  #print(value: unknown): void {
    if (value instanceof Missing) {
      this.missing.add(value.path);
      if (!this.#placeholders) return;
    }
    this.#emit(textOf(value, this.#reader));
  }

  #emit(text: string): void {
    this.#reader.work.spend(text.length * prices.character);
    this.#length += text.length;
    if (this.#length > templateLimits.renderedLength) {
      throw new TemplateBudgetExceeded(`the rendered text is longer than ${templateLimits.renderedLength} characters`);
    }
    this.#pieces.push(text);
  }
}

/** A list or an object; nothing else can be looped over. */
function itemsOf(value: unknown): object {
  return typeof value === 'object' && value !== null && !(value instanceof Missing) ? value : [];
}

/** As Handlebars sees it: an empty list is false, an empty object is true; a missing value is false. */
function isTrue(value: unknown): boolean {
  if (value instanceof Missing) return false;
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
