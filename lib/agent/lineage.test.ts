import { describe, expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { inheritedLineage, lineageMarks, lineageOf } from './lineage.ts';

const marked = (root?: string, depth?: string) => ({
  metadata: {
    uid: 'u-1',
    annotations: {
      ...(root === undefined ? {} : { [annotations.agentRoot]: root }),
      ...(depth === undefined ? {} : { [annotations.agentDepth]: depth }),
    },
  },
});

describe('the lineage of an execution', () => {
  it.each([
    ['without annotations begins a family', { metadata: { uid: 'u-1' } }, { root: 'u-1', depth: 0 }],
    ['without marks begins a family', marked(), { root: 'u-1', depth: 0 }],
    ['with half of the marks begins a family', marked('r'), { root: 'u-1', depth: 0 }],
    ['with both is what they say', marked('r', '2'), { root: 'r', depth: 2 }],
    ['with a depth that is no number is at the end', marked('r', '-1'), { root: 'r', depth: limits.agentDepthMax }],
    ['with a depth of no sense is at the end', marked('r', '1e9'), { root: 'r', depth: limits.agentDepthMax }],
  ])('%s', (_what, execution, want) => {
    expect(lineageOf(execution)).toEqual(want);
  });

  it('passes unchanged to the children of a workflow, and is nothing where no agent is behind it', () => {
    expect(inheritedLineage(marked('r', '2'))).toEqual(lineageMarks({ root: 'r', depth: 2 }));
    expect(inheritedLineage(marked())).toEqual({});
    expect(inheritedLineage({ metadata: {} })).toEqual({});
  });
});
