import { expect, it } from 'vitest';
import { anEnd, aQuestion, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { checkChildren } from './check-children.ts';

const gated = aWorkflow('gated')
  .state('ask', aQuestion('Go?', { yes: 'end', no: 'end' }))
  .state('end', anEnd())
  .build();
const quick = aWorkflow('quick').state('end', anEnd()).build();
const known = new Map([gated, quick].map(({ metadata, spec }) => [metadata.name, spec]));

it.each([
  [{ workflow_id: 'gated' }, 1],
  [{ workflow_id: 'gated', mode: 'blocking' }, 1],
  [{ workflow_id: 'gated', timeout: '24h' }, 0],
  [{ workflow_id: 'gated', mode: 'fire_and_forget' }, 0],
  [{ workflow_id: 'quick' }, 0],
  [{ workflow_id: 'unknown' }, 0],
])('AMB-193 a Subworkflow %j has %i warnings for a gate in its child', async (fields, count) => {
  const parent = aWorkflow('parent')
    .state('child', { kind: 'Subworkflow', transitions: [], ...fields } as never)
    .build();
  const found = await checkChildren(parent.spec, async (name) => known.get(name));
  expect(found.map(({ rule, severity }) => `${severity} ${rule}`)).toEqual(
    Array.from({ length: count }, () => 'warning gate_in_child'),
  );
});
