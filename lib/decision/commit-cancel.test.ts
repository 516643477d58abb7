import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { after, anExecution } from '../../test/builders/execution-builder.ts';
import { KubeError } from '../kube/index.ts';
import { commitCancel } from './commit-cancel.ts';

const first = { by: 'ann', at: after(2) };
const wanted = { by: 'kim', at: after(3) };
const running = () => anExecution().now({ state: 'a', kind: 'System' });

/** Writes to an execution that the server has as `latest`, which is read after a first attempt. */
async function cancelOn(known: WorkflowExecution, latest = known) {
  const patches: { spec: { cancel?: unknown } }[] = [];
  const kube = {
    get: async () => latest as never,
    mergePatch: async (_: unknown, __: unknown, patch: object) => {
      patches.push(patch as never);
      const isStale = known !== latest && patches.length === 1;
      if (isStale) throw new KubeError(409, { reason: 'Conflict' }, { verb: 'patch', resource: 'x' });
      return { ...latest, spec: { ...latest.spec, ...patches.at(-1)?.spec } } as never;
    },
  };
  const execution = await commitCancel(kube, known, wanted);
  return { cancel: execution.spec.cancel, writes: patches.length };
}

describe('a cancellation', () => {
  it('is written on an execution that runs', async () => {
    expect(await cancelOn(running().build())).toEqual({ cancel: wanted, writes: 1 });
  });

  it.each([
    ['is being cancelled', running().with({ cancel: first }).build(), first],
    ['was cancelled', anExecution().with({ cancel: first }).ended('cancelled', 2).build(), first],
    ['was cancelled with its parent', anExecution().ended('cancelled', 2).build(), undefined],
  ])('changes nothing on one that %s', async (_title, execution, cancel) => {
    expect(await cancelOn(execution)).toEqual({ cancel, writes: 0 });
  });

  it.each(['completed', 'failed'] as const)(
    'is refused on one that has %s, also where one came too late before',
    async (phase) => {
      const refusal = { reason: 'AlreadyFinished', message: `demo-1 cannot be cancelled: it has ${phase}` };
      const ended = () => anExecution().ended(phase, 2);
      await expect(cancelOn(ended().build())).rejects.toMatchObject(refusal);
      await expect(cancelOn(ended().with({ cancel: first }).build())).rejects.toMatchObject(refusal);
      await expect(cancelOn(running().build(), ended().build())).rejects.toMatchObject(refusal);
    },
  );

  it('leaves the one of a faster caller', async () => {
    const faster = running().with({ cancel: first }).build();
    expect(await cancelOn(running().build(), faster)).toMatchObject({ cancel: first });
  });
});
