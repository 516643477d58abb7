import { describe, expect, it } from 'vitest';
import { annotations, labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { userObjectName } from '../manifest/object-name.ts';
import { registeredAt, revisionOf, revisionSelector, specOf } from './revision.ts';

const built = aWorkflow('demo').with({ version: '1.0.0+build.7' }).state('end', anEnd()).build();
const workflow = (fields: Partial<Workflow['metadata']> = {}): Workflow => ({
  ...built,
  metadata: { name: 'demo', namespace: 'team', uid: 'u1', generation: 4, ...fields },
});

describe('a revision', () => {
  it('holds the content, and is found by the workflow and by a version that is no label', () => {
    const revision = revisionOf(workflow());
    expect(specOf(revision)).toEqual(built.spec);
    expect(revision.revision).toBe(4);
    expect(revision.metadata).toMatchObject({
      namespace: 'team',
      annotations: { [annotations.version]: '1.0.0+build.7' },
    });
    const own = Object.entries(revision.metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`);
    for (const pair of revisionSelector(workflow(), '1.0.0+build.7').split(',')) expect(own).toContain(pair);
    for (const pair of own) expect(pair.split('=')[1]).toMatch(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
  });

  it('has the same name for the same content of the same workflow, and another for any other', () => {
    const name = (one: Workflow): string | undefined => revisionOf(one).metadata.name;
    expect(name(workflow({ generation: 9 }))).toBe(name(workflow()));
    expect(name(workflow({ uid: 'u2' }))).not.toBe(name(workflow()));
    expect(name({ ...workflow(), spec: { ...built.spec, description: 'x' } })).not.toBe(name(workflow()));
  });

  it('says whose it is where the workflow is of user scope', () => {
    expect(revisionOf(workflow()).metadata.labels).not.toHaveProperty([labels.user]);
    const marks = { labels: { [labels.user]: 'ada' }, annotations: { [annotations.name]: 'demo' } };
    const own = revisionOf(workflow({ name: userObjectName('ada', 'demo'), ...marks }));
    expect(own.metadata.labels?.[labels.user]).toBe('ada');
  });

  it('was registered when it was made, or when its workflow says that moved', () => {
    const metadata = { creationTimestamp: '2026-01-02T00:00:00Z' };
    expect(registeredAt({ metadata })).toBe('2026-01-02T00:00:00Z');
    const notes = { [annotations.registeredAt]: '2026-01-01T00:00:00Z' };
    expect(registeredAt({ metadata: { ...metadata, annotations: notes } })).toBe('2026-01-01T00:00:00Z');
  });
});
