import { describe, expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { heapBytes } from '../heap-bytes.ts';
import { isWholeWorkflow, listedWorkflow } from './listed-workflow.ts';

/** A context of many empty objects: each byte of it takes thirty bytes of heap. */
const large = { a: Array.from({ length: 50_000 }, () => ({})) };

function stored(fields: Partial<Workflow['metadata']> = {}, spec: Partial<Workflow['spec']> = {}): Workflow {
  const built = aWorkflow('w').state('end', anEnd()).build();
  return {
    ...built,
    metadata: { ...built.metadata, namespace: 'tenant-a', uid: 'u', resourceVersion: '7', ...fields },
    spec: { ...built.spec, ...spec },
    status: { conditions: [], versions: [] },
  };
}

describe('the workflow that a cache lists', () => {
  it('is whole where it is small', () => {
    const workflow = stored();
    expect(listedWorkflow(workflow)).toBe(workflow);
    expect(isWholeWorkflow(workflow)).toBe(true);
  });

  it('keeps of a large definition what a list shows, in a thousandth of the heap', () => {
    const workflow = stored(
      { labels: { team: 'web' }, annotations: { [annotations.given]: '{"labels":{"a b":"c"}}' } },
      { context: large, description: 'builds' },
    );
    const listed = listedWorkflow(workflow);
    expect(listed).toMatchObject({
      metadata: workflow.metadata,
      spec: { version: workflow.spec.version, initial_state: 'end', states: {}, description: 'builds' },
      status: { conditions: [] },
    });
    expect(listed.isCut).toBeUndefined();
    expect(isWholeWorkflow(listed)).toBe(false);
    expect(heapBytes(listed, 1e9) * 1_000).toBeLessThan(heapBytes(workflow, 1e9));
  });

  it.each([
    ['labels', { labels: Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`l${index}`, 'x'])) }, {}],
    ['annotations', { annotations: { [annotations.given]: 'x'.repeat(32_000) } }, {}],
    ['a description', {}, { description: 'x'.repeat(4_100) }],
  ])('says that %s of any size were left out', (_what, fields, spec) => {
    const listed = listedWorkflow(stored(fields, { context: large, ...spec }));
    expect(listed.isCut).toBe(true);
    expect(heapBytes(listed, 1e9)).toBeLessThan(8 * 1024);
  });
});
