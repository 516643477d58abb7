import { builtins } from './builtins.ts';
import type { LoadedValues, NeedsValues } from './large-value.ts';
import { prices } from './limits.ts';
import { parseTemplate } from './parse.ts';
import { Missing, Reader } from './reader.ts';
import type { Scope } from './scope.ts';
import type { PathExpression, TemplateExpression, TemplateNode } from './template.ts';
import { textOf } from './text-of.ts';
import { Work } from './work.ts';

/** A rendered text, and the paths that printed as placeholders, each once. */
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
 * @throws TemplateError when the template is not valid, TemplateBudgetExceeded when it takes too much work.
 */
export function render(
  source: string,
  scope: Scope,
  loaded = nothingLoaded,
  work = new Work(),
): RenderedText | NeedsValues {
  const { nodes } = parseTemplate(source);
  const rendering = new Rendering(scope, new Reader(scope, loaded, work));
  rendering.body(nodes);
  return rendering.result();
}

/** One pass of an `each`; the outermost frame is the scope itself. */
interface Frame {
  readonly item: unknown;
  readonly key: string | number | undefined;
  readonly index: number | undefined;
  readonly first: boolean;
  readonly last: boolean;
}

class Rendering {
  readonly #reader: Reader;
  readonly #frames: Frame[];
  readonly #missing = new Set<string>();
  readonly #pieces: string[] = [];

  constructor(scope: Scope, reader: Reader) {
    this.#reader = reader;
    this.#frames = [{ item: scope.root, key: undefined, index: undefined, first: true, last: true }];
  }

  result(): RenderedText | NeedsValues {
    return this.#reader.needs ?? { kind: 'rendered', text: this.#pieces.join(''), missing: [...this.#missing] };
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
    this.#reader.work.spend(count * prices.step);
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
    this.#reader.work.spend(prices.step);
    if (expression.kind === 'literal') return expression.value;
    if (expression.kind === 'path') return this.#path(expression);
    const args = expression.args.map((argument) => this.#evaluate(argument));
    return builtins[expression.helper](args, this.#reader);
  }

  #path({ frame, of, parts, written }: PathExpression): unknown {
    if (frame === 0) return this.#reader.fromRoot(parts, written);
    return this.#reader.follow(this.#frames[frame]?.[of], parts, new Missing(written, undefined));
  }

  #print(value: unknown): void {
    if (value instanceof Missing) this.#missing.add(value.path);
    this.#emit(textOf(value, this.#reader));
  }

  #emit(text: string): void {
    this.#reader.work.emit(text.length);
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
