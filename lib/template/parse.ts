import { limits } from '../../crds/limits.ts';
import { memoize } from '../memo.ts';
import { prices } from '../work/limits.ts';
import { Work } from '../work/work.ts';
import { Converter } from './convert.ts';
import { parseHandlebars } from './handlebars-syntax.ts';
import { templateLimits } from './limits.ts';
import { type Scanned, scan } from './scan.ts';
import type { Template } from './template.ts';
import { placeOf, TemplateError } from './template-error.ts';

/** Result of checking a template when a workflow is registered. */
export type TemplateCheck =
  | ({ readonly ok: true } & Pick<Template, 'references' | 'bareReferences'>)
  | { readonly ok: false; readonly message: string; readonly line: number; readonly column: number };

/** A template whose price is known, and which is parsed when it is paid for. */
interface PreparedTemplate {
  /** Units of work that parsing takes. */
  readonly cost: number;
  /** @throws TemplateError for a syntax error, an unknown helper, or anything not documented. */
  readonly template: Template;
}

/**
 * Looks a template over; the last ones are remembered.
 * @throws TemplateError for a size over the limits, and some slips of syntax.
 */
export const prepareTemplate: (source: string) => PreparedTemplate = memoize(
  templateLimits.remembered,
  (source) => new Prepared(source),
  // The tree of a short text may be large.
  ({ cost }) => (cost / prices.token) * templateLimits.tokenWeight,
);

/**
 * The checked form of a template.
 * @throws TemplateError for a syntax error, an unknown helper, anything not documented, or a size over the limits.
 */
export const parseTemplate = (source: string): Template => prepareTemplate(source).template;

class Prepared implements PreparedTemplate {
  readonly cost: number;
  readonly #scanned: Scanned;
  #template: Template | undefined;

  constructor(source: string) {
    if (typeof source !== 'string') throw new TemplateError('a template must be a string', 0);
    if (source.length > limits.templateLength) {
      throw new TemplateError(`the template is longer than ${limits.templateLength} characters`, 0);
    }
    this.#scanned = scan(source);
    this.cost = this.#scanned.cost;
  }

  get template(): Template {
    this.#template ??= this.#parse();
    return this.#template;
  }

  #parse(): Template {
    const { text, cost } = this.#scanned;
    // Most fields are plain texts.
    if (cost === 0)
      return { nodes: text === '' ? [] : [{ kind: 'text', text }], references: [], bareReferences: [], cost };
    return new Converter(this.#scanned).convert(parseHandlebars(this.#scanned));
  }
}

/**
 * Checks a template without rendering it. Line and column count from 1.
 * @throws WorkBudgetExceeded where the work of the definition is used up.
 */
export function checkTemplate(source: string, work = new Work()): TemplateCheck {
  try {
    const prepared = prepareTemplate(source);
    work.spend(prepared.cost);
    const { references, bareReferences } = prepared.template;
    return { ok: true, references, bareReferences };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ok: false, message: error.message, ...placeOf(String(source), error.offset) };
  }
}
