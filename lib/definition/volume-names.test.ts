import { describe, expect, it } from 'vitest';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import { anEnd, aScript, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { checkDefinition } from './check.ts';

/** A workflow that mounts a volume and names it in a template. */
function mounting(name: string, path = `[${name}]`): WorkflowSpec {
  const script = aScript(`echo {{workflow.storage.shared_volumes.${path}}}`, { volumes: [{ name, mount_path: '/d' }] });
  const storage = { shared_volumes: [{ name }] };
  return aWorkflow('w')
    .with({ storage })
    .state('a', { ...script, transitions: [{ condition: 'always', target: 'end' }] })
    .state('end', anEnd())
    .build().spec;
}
const problemsOf = (spec: WorkflowSpec): string[] =>
  checkDefinition(spec).map(({ path, message }) => `${path}: ${message}`);

describe('names of volumes', () => {
  const box = '\u{1f4e6}';
  it.each([
    'a',
    'Cache',
    'my cache',
    'node_modules',
    'a.b',
    '-',
    ' ',
    'äöü',
    '~1',
    '__proto__',
    'toString',
    'x'.repeat(62),
    'x'.repeat(63),
    box.repeat(63),
  ])('AMB-179 WF-STOR-05 WF-CR-10 %j is one, which steps mount and templates name', (name) =>
    expect(problemsOf(mounting(name))).toEqual([]),
  );

  const refused = 'must have 1 to 63 characters, none of them / or a control character';
  it.each(['', 'x'.repeat(64), box.repeat(64), 'a/b', '/', 'a\nb', '\u0000', '\u001f', '\u007f', '\u0080', '\u009f'])(
    'AMB-179 %j is none',
    (name) => expect(problemsOf(mounting(name, 'x'))).toContain(`spec.storage.shared_volumes[0].name: ${refused}`),
  );

  it.each(['\ud800', 'a\udc00'])(
    'AMB-179 half of a surrogate pair is none, for the API server would change it (%#)',
    (name) => {
      expect(problemsOf(mounting(name))).toEqual([
        'spec.storage.shared_volumes[0].name: must be text: half of a surrogate pair is no character',
      ]);
    },
  );
});
