import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { planRegistration, type RegistrationFacts } from './plan-registration.ts';

const wanted = aWorkflow('demo').with({ description: 'new' }).state('end', anEnd()).build();
const stored = (description: string, version = '1.0.0'): Workflow => {
  const workflow = aWorkflow('demo').with({ description, version }).state('end', anEnd()).build();
  const annotations = { mine: 'kept', 'windlass.dev/force': 'true' };
  return { ...workflow, metadata: { ...workflow.metadata, namespace: 'team', resourceVersion: '7', annotations } };
};
const plan = (facts: Partial<RegistrationFacts>) =>
  planRegistration(wanted, 'team', { existing: undefined, stored: undefined, force: false, ...facts });

describe('registering a workflow', () => {
  it('creates it in the namespace', () => {
    expect(plan({})).toEqual({
      kind: 'created',
      object: { ...wanted, metadata: { ...wanted.metadata, namespace: 'team' } },
    });
  });

  it('WF-API-11 the same content in another order of keys changes nothing', () => {
    const existing = { ...stored('new'), metadata: { ...stored('new').metadata, annotations: { mine: 'kept' } } };
    const turned = Object.fromEntries(Object.entries(existing.spec).toReversed()) as Workflow['spec'];
    expect(plan({ existing: { ...existing, spec: turned }, stored: turned }).kind).toBe('unchanged');
  });

  it.each([true, false])('AMB-152 the same content again changes nothing, with force %s', (force) => {
    expect(plan({ existing: stored('new'), stored: wanted.spec, force }).kind).toBe('unchanged');
    const { annotations: _, ...metadata } = stored('new').metadata;
    expect(plan({ existing: { ...stored('new'), metadata }, stored: wanted.spec, force }).kind).toBe('unchanged');
  });

  it('another label is written, though the content is the same', () => {
    const labelled = { ...wanted, metadata: { ...wanted.metadata, labels: { team: 'web' } } };
    const facts = { existing: stored('new'), stored: wanted.spec, force: false };
    expect(planRegistration(labelled, 'team', facts)).toMatchObject({
      kind: 'updated',
      object: { metadata: { labels: { team: 'web' }, annotations: { mine: 'kept', 'windlass.dev/force': 'true' } } },
    });
  });

  it('AMB-178 labels that an earlier manifest had and Kubernetes refuses go with it', () => {
    const { metadata } = stored('new');
    const annotations = { mine: 'kept', 'windlass.dev/given-metadata': '{"labels":{"a b":"c"}}' };
    const existing = { ...stored('new'), metadata: { ...metadata, annotations } };
    expect(plan({ existing, stored: wanted.spec }).object.metadata.annotations).toEqual({ mine: 'kept' });
  });

  it.each<[title: string, facts: Partial<RegistrationFacts>]>([
    ['the version that is current', { existing: stored('old'), stored: stored('old').spec }],
    ['a version that is stored', { existing: stored('newest', '2.0.0'), stored: stored('old').spec }],
  ])('WF-API-11 other content under %s is refused, and with force replaces it', (_title, facts) => {
    expect(() => plan(facts)).toThrow(
      expect.objectContaining({
        code: 'conflict',
        reason: 'VersionExists',
        message: expect.stringMatching(/exists with other content: spec\.description$/),
      }),
    );
    expect(plan({ ...facts, force: true })).toMatchObject({
      kind: 'updated',
      object: { metadata: { annotations: { 'windlass.dev/force': 'true' } }, spec: { description: 'new' } },
    });
  });

  it.each<[title: string, facts: Partial<RegistrationFacts>]>([
    ['a version that is not stored', { existing: stored('old', '0.9.0') }],
    ['a stored version with the content that it has', { existing: stored('newest', '2.0.0'), stored: wanted.spec }],
  ])('%s is written over what is current, and what others put on the object stays', (_title, facts) => {
    expect(plan(facts)).toMatchObject({
      kind: 'updated',
      object: { metadata: { resourceVersion: '7', annotations: { mine: 'kept' } }, spec: wanted.spec },
    });
  });

  it('WF-API-11 the force of an earlier time does not outlive it', () => {
    const { object } = plan({ existing: stored('old', '0.9.0') });
    expect(object.metadata.annotations).toEqual({ mine: 'kept' });
  });
});
