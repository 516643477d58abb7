import { describe, expect, it } from 'vitest';
import { labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { buildExecution, validatedVersion } from './build-execution.ts';

const workflow = { reference: 'build', object: 'build', uid: 'wu', version: '1.2.0' };

describe('buildExecution', () => {
  it('names the workflow as it was asked for, and the version that was validated', () => {
    const { metadata, spec } = buildExecution({ name: 'b-1', namespace: 'team', workflow, spec: { input: { a: 1 } } });
    expect(spec).toEqual({ input: { a: 1 }, workflow: 'build', version: '1.2.0' });
    expect(metadata.labels).toEqual({ [labels.workflow]: 'build', [labels.workflowUid]: 'wu' });
    expect(metadata).toMatchObject({ name: 'b-1', namespace: 'team' });
  });

  it('leaves the name to the API server where there is none', () => {
    expect(buildExecution({ namespace: 'team', workflow, spec: {} }).metadata).toMatchObject({
      name: '',
      generateName: 'build-',
    });
  });

  it('gives a workflow with a long name a legal label', () => {
    const object = 'w'.repeat(70);
    const { metadata } = buildExecution({ namespace: 'team', workflow: { ...workflow, object }, spec: {} });
    expect(metadata.labels?.[labels.workflow]).toHaveLength(63);
  });
});

describe('validatedVersion', () => {
  const versions = [{ version: '1.0.0', revision: 'r', registered_at: '2026-01-02T03:04:05Z' }];
  const built = aWorkflow('w').state('end', anEnd()).build();
  const aStored = (ready: 'True' | 'False'): Workflow => ({
    ...built,
    status: {
      versions,
      conditions: [{ type: 'Ready', status: ready, reason: 'r', message: '', lastTransitionTime: '' }],
    },
  });

  it.each([
    ['the newest', built, '1.0.0'],
    ['the newest where it is accepted', aStored('True'), '1.0.0'],
    ['none where its number has other content, which force may replace', aStored('False'), undefined],
  ])('is %s', (_title, given, want) => {
    expect(validatedVersion(given)).toBe(want);
  });
});
