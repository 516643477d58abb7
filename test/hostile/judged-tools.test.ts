import { describe, expect, it } from 'vitest';
import { cliToolModule } from '../../controllers/registered-tools/cli-tool-module.ts';
import { toolWorkflowModule } from '../../controllers/registered-tools/tool-workflow-module.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createWholeObjects } from '../../lib/informer/index.ts';

/**
 * The attacker may create registered tools in one namespace. Each holds a schema of some hundred thousand `{}`, which takes
 * 26 MiB of heap where it is read, and as much again in the answer to each write of its status.
 */
const free = Array.from({ length: 120_000 }, () => ({}));
const spec = {
  description: 'd',
  input_schema: { type: 'object', default: free },
  api_spec: 's',
  steps: [{ name: 's', operation_id: 'o', body_template: '{}', on_error: 'AbortWorkflow' }],
  image: 'a.example/b:1',
  command: ['true'],
};

interface Judged {
  readonly metadata: { readonly namespace: string; readonly name: string };
}

/** The module of a kind before a server that counts the objects that are read and written at one time. */
async function world(kind: 'ToolWorkflow' | 'CliTool') {
  const objects = Array.from({ length: 7 }, (_, at) => {
    const namespace = at < 6 ? 'tenant-a' : 'tenant-b';
    const metadata = { namespace, name: `t${at}`, uid: `u${at}`, resourceVersion: '1', generation: 1 };
    return { apiVersion: 'windlass.dev/v1', kind, metadata, spec };
  });
  const busy = { now: 0, most: 0 };
  const judged: string[] = [];
  const answer = async (name: string): Promise<unknown> => {
    busy.now += 1;
    busy.most = Math.max(busy.most, busy.now);
    await systemClock.sleep(10);
    busy.now -= 1;
    return objects.find(({ metadata }) => metadata.name === name);
  };
  const kube = {
    get: async (_: unknown, { name }: Judged['metadata']) => answer(name),
    async jsonPatchStatus(_: unknown, { name }: Judged['metadata'], patch: unknown) {
      if (JSON.stringify(patch).includes('InvalidDefinition')) judged.push(name);
      return answer(name);
    },
  };
  const kept = partlyKept[kind] as unknown as typeof partlyKept.CliTool;
  const wholes = createWholeObjects({ ...kept, kube: kube as never, clock: systemClock });
  const slims = objects.map((object) => wholes.slim(object as never));
  const ofKind = {
    cache: {
      get: (key: string) => slims.find(({ metadata: m }) => key === `${m.namespace}/${m.name}`),
      byIndex: () => [],
      remember: () => undefined,
    },
    onChange: () => undefined,
    whole: async (slim: never) => wholes.read(slim),
    use: async (slim: never, task: never) => wholes.use(slim, task),
  };
  const module = kind === 'CliTool' ? cliToolModule : toolWorkflowModule;
  const reconcile = await module.start({
    kube,
    clock: systemClock,
    tenants: { tenantOf: (namespace: string) => namespace },
    turns: { enter: async () => undefined },
    informer: () => ofKind,
  } as never);
  return { busy, judged, keys: objects.map(({ metadata: m }) => `${m.namespace}/${m.name}`), reconcile };
}

describe('large registered tools of one tenant, for which every worker of the controllers is free', () => {
  it.each(['ToolWorkflow', 'CliTool'] as const)(
    'of the kind %s are read and written one after another, and refused',
    async (kind) => {
      const { busy, judged, keys, reconcile } = await world(kind);
      await Promise.all(keys.map((key) => reconcile(key)));
      expect(judged.toSorted()).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6']);
      // One of each of the two tenants.
      expect(busy.most).toBeLessThanOrEqual(2);
    },
  );
});
