import { describe, expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { KubeError } from '../kube/index.ts';
import { readWorkflow } from './read-workflow.ts';

const uidOf = (digit: number) => `${digit}0000000-0000-4000-8000-000000000000`;

function stored(name: string, digit: number, former: readonly number[] = []): Workflow {
  const built = aWorkflow(name).state('end', anEnd()).build();
  const notes: Record<string, string> =
    former.length === 0 ? {} : { [annotations.formerIds]: former.map(uidOf).join(',') };
  return { ...built, metadata: { ...built.metadata, namespace: 'team', uid: uidOf(digit), annotations: notes } };
}

const all = [stored('moved', 1, [2, 3]), stored('plain', 4), stored(uidOf(5), 6), stored('again', 7, [4])];
const kube = {
  get: async (_: unknown, { name }: { name: string }) => {
    const found = all.find(({ metadata }) => metadata.name === name);
    if (found === undefined)
      throw new KubeError(
        404,
        { reason: 'NotFound', message: `workflows "${name}" not found` },
        { verb: 'get', resource: 'x' },
      );
    return found as never;
  },
  listAll: async () => ({ metadata: {}, items: all as never[] }),
};

describe('a workflow as the server has it', () => {
  it.each<[string, string, string | undefined]>([
    ['its name', 'moved', 'moved'],
    ['its uid', uidOf(1), 'moved'],
    ['a uid that it had in another scope', uidOf(2), 'moved'],
    ['the last of those', uidOf(3), 'moved'],
    ['a uid that another one had before', uidOf(4), 'plain'],
    ['a uid that is the name of another one', uidOf(5), undefined],
    ['a name that nothing has', 'absent', undefined],
    ['a uid that nothing has', uidOf(9), undefined],
  ])('is found by %s', async (_title, nameOrUid, want) => {
    expect((await readWorkflow(kube, 'team', nameOrUid))?.metadata.name).toBe(want);
  });
});
