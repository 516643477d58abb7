import { limits } from '../../crds/limits.ts';
import { memoize } from '../memo.ts';
import { Converter } from './convert.ts';
import { parseHandlebars } from './handlebars-syntax.ts';
import { templateLimits } from './limits.ts';
import { scan } from './scan.ts';
import type { Template } from './template.ts';
import { placeOf, TemplateError } from './template-error.ts';

/** Result of checking a template when a workflow is registered. */
type TemplateCheck =
  | { readonly ok: true; readonly references: readonly (readonly string[])[] }
  | { readonly ok: false; readonly message: string; readonly line: number; readonly column: number };

/**
 * The checked form of a template; the last ones are remembered.
 * @throws TemplateError for a syntax error, an unknown helper, anything not documented, or a size over the limits.
 */
export const parseTemplate: (source: string) => Template = memoize(templateLimits.remembered, (source) => {
  if (typeof source !== 'string') throw new TemplateError('a template must be a string', 0);
  if (source.length > limits.templateLength) {
    throw new TemplateError(`the template is longer than ${limits.templateLength} characters`, 0);
  }
  const scanned = scan(source);
  return new Converter(scanned).convert(parseHandlebars(scanned));
});

/** Checks a template without rendering it; never throws. Line and column count from 1. */
export function checkTemplate(source: string): TemplateCheck {
  try {
    return { ok: true, references: parseTemplate(source).references };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ok: false, message: error.message, ...placeOf(String(source), error.offset) };
  }
}
