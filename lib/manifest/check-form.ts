import type { Problem } from '../../crds/problem.ts';
import { checkManifest } from './check-manifest.ts';
import { checkResource } from './check-resource.ts';
import { withFormHint } from './form.ts';
import type { WorkflowForm } from './form-names.ts';

/** Everything that is wrong with a workflow in its form; paths and words are those of the form. */
export function checkForm(form: WorkflowForm, value: unknown): readonly Problem[] {
  const problems = form === 'manifest' ? checkManifest(value) : checkResource(value);
  return problems.map((problem) => withFormHint(form, problem));
}
