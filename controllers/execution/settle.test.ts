import { expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { type ConfigMap, KubeError } from '../../lib/kube/index.ts';
import { createConfigMapStore } from '../../lib/output-store/config-map-store.ts';
import { begin } from '../../test/builders/execution-builder.ts';
import { anEnd, anUpdate, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { World } from '../../test/builders/world.ts';
import { applied, type JsonPatch } from '../../test/support/json-patch.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createTurnGate } from '../runtime/turn-gate.ts';
import { createBlocked } from './blocked.ts';
import { createBugs } from './bugs.ts';
import type { Facts } from './engine/facts.ts';
import { type SettleDeps, settle } from './settle.ts';

const flow = aWorkflow('w')
  .state('fill', anUpdate({ big: 'x'.repeat(5_000) }, 'end'))
  .state('end', anEnd())
  .build();

/** The execution once it has settled, on a server where each ConfigMap is there already, with these bytes. */
async function settled(facts: Facts, bytes: string): Promise<WorkflowExecution> {
  let { execution } = facts;
  const kube = {
    create: async (_: unknown, { metadata: { name } }: ConfigMap) => {
      throw new KubeError(409, { reason: 'AlreadyExists' }, { verb: 'create', resource: `configmaps/${name}` });
    },
    get: async (): Promise<ConfigMap> => ({ metadata: { name: 'x' }, binaryData: { gzip: bytes } }),
    jsonPatch: async () => execution,
    jsonPatchStatus: async (_: unknown, __: unknown, patch: JsonPatch) => (execution = applied(execution, patch)),
  };
  const deps = {
    kube,
    clock: createManualClock(begin),
    store: createConfigMapStore(kube as never),
    caches: { executions: { remember: () => undefined } },
    wholes: { weight: () => 0 },
    turns: createTurnGate(),
    bugs: createBugs(),
    unstored: createBlocked(),
    onUnstored: () => undefined,
  } as unknown as SettleDeps;
  // A turn that is refused is decided again in smaller parts, each of which is written by itself.
  for (let turn = 0; turn < 5; turn += 1) execution = (await settle(deps, { ...facts, execution }, begin)).current;
  return execution;
}

it('WF-CR-19 a state whose output has the name of another ConfigMap fails, and the message names the ConfigMap', async () => {
  const world = new World(flow);
  world.decision();
  if (world.lastFacts === undefined) throw new Error('the world has decided nothing');
  const { status } = await settled(world.lastFacts, 'bGll');
  expect(status?.history?.[0]).toMatchObject({ state: 'fill', status: 'failed', reason: 'OutputNameTaken' });
  expect(JSON.stringify(status)).toMatch(
    /ConfigMap default\/output-[-0-9a-f]+-0 is there already and holds something else; delete it/,
  );
});
