import type { Place } from '../../crds/problem.ts';
import { checkTemplate, type TemplateCheck } from '../template/parse.ts';
import type { Work } from '../work/work.ts';
import { type Templated, templateFields } from './template-fields.ts';

interface CheckedTemplate {
  readonly at: Place;
  readonly result: TemplateCheck;
}

/** The templates of one definition. */
export class CheckedTemplates {
  #checked: readonly CheckedTemplate[] | undefined;

  /**
   * Each template with what the parser says of it. The first call pays for the parsing.
   * @throws WorkBudgetExceeded
   */
  checked(definition: Templated, work: Work): readonly CheckedTemplate[] {
    this.#checked ??= templateFields(definition).map(({ at, source }) => ({ at, result: checkTemplate(source, work) }));
    return this.#checked;
  }
}
