import { describe, expect, it } from 'vitest';
import type { KubeObject, Namespace } from '../../lib/kube/index.ts';
import { apiSpecModule } from './api-spec-module.ts';
import { cliToolModule } from './cli-tool-module.ts';
import { toolWorkflowModule } from './tool-workflow-module.ts';
import { claimants, inhabitants, seers } from './wakes.ts';

const tool = (namespace: string, name: string, { uid = name, registered = 'buy' } = {}) => ({
  metadata: { name, namespace, uid },
  spec: { name: registered },
});
type Tool = ReturnType<typeof tool> & KubeObject;

const all = [tool('tenant-acme', 'a'), tool('tenant-acme', 'b', { registered: 'sell' }), tool('tenant-beta', 'c')];
const cache = {
  byIndex: (_index: 'namespace', place: string) => all.filter(({ metadata }) => metadata.namespace === place) as Tool[],
  values: () => all as Tool[],
};
const change = (before: object | undefined, after: object | undefined, key = '') =>
  ({ key, before, after, own: false }) as never;

describe('a registered tool is judged again', () => {
  const gone = tool('tenant-acme', 'old');
  const shared = tool('windlass-global', 'old');
  it.each<[string, object | undefined, object | undefined, string[]]>([
    ['when an older one of its name is gone', gone, undefined, ['tenant-acme/a']],
    ['when that one has another name', gone, tool('tenant-acme', 'old', { registered: 'x' }), ['tenant-acme/a']],
    ['when that one was made anew', gone, tool('tenant-acme', 'old', { uid: 'new' }), ['tenant-acme/a']],
    ['when a shared one is gone', shared, undefined, ['tenant-acme/a', 'tenant-beta/c']],
    ['and not when that one keeps its name', gone, gone, []],
    ['and not when one of a tenant comes', undefined, gone, []],
    ['when a shared one comes', undefined, shared, ['tenant-acme/a', 'tenant-beta/c']],
    [
      'when a shared one takes its name',
      tool('windlass-global', 'old', { registered: 'x' }),
      shared,
      ['tenant-acme/a', 'tenant-beta/c'],
    ],
  ])('AMB-124 %s', (_title, before, after, want) => {
    expect(claimants(change(before, after), cache)).toEqual(want);
  });

  it('when its namespace becomes a tenant, or is none any more', () => {
    const namespace: Namespace = { metadata: { name: 'tenant-acme' } } as Namespace;
    const woken = (before?: Namespace, after?: Namespace) => inhabitants(change(before, after, 'tenant-acme'), cache);
    expect(woken(undefined, namespace)).toEqual(['tenant-acme/a', 'tenant-acme/b']);
    expect(woken(namespace)).toEqual(['tenant-acme/a', 'tenant-acme/b']);
    expect(woken(namespace, namespace)).toEqual([]);
  });

  it('all of them after a change of what they share', () => {
    expect(seers(cache, 'windlass-global')).toHaveLength(3);
    expect(seers(cache, 'tenant-beta').map(({ metadata }) => metadata.name)).toEqual(['c']);
  });

  it.each<[string, typeof apiSpecModule, string[]]>([
    ['an ApiSpec', apiSpecModule, ['apiSpecs']],
    ['a ToolWorkflow', toolWorkflowModule, ['toolWorkflows', 'cliTools']],
    ['a CliTool', cliToolModule, ['toolWorkflows', 'cliTools']],
  ])('AMB-124 as %s', async (_title, module, rivals) => {
    const { woken, tell } = await started(module);
    for (const name of rivals) tell(name, gone, undefined);
    expect(woken.filter((key) => key === 'tenant-acme/a')).toHaveLength(rivals.length);
    woken.length = 0;
    tell('tenants', undefined, { metadata: { name: 'tenant-acme' } }, 'tenant-acme');
    expect(woken).toEqual(['tenant-acme/a', 'tenant-acme/b']);
  });
});

/** A module whose informers all have the tools of this test. */
async function started(module: typeof apiSpecModule) {
  const handlers = new Map<string, (change: never) => void>();
  const woken: string[] = [];
  const informer = ({ name }: { readonly name: string }) => ({
    cache,
    onChange: (handler: (change: never) => void) => void handlers.set(name, handler),
  });
  await module.start({ informer, wake: (key: string) => woken.push(key) } as never);
  const tell = (name: string, before?: object, after?: object, key?: string): void =>
    handlers.get(name)?.(change(before, after, key));
  return { woken, tell };
}
