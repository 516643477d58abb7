import { describe, expect, it } from 'vitest';
import { annotations, archiveFinalizer, globalNamespace, labels } from '../../crds/labels.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { SecurityContext } from '../../crds/schema/security-context.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { deletingOf, refuseBeingDeleted, stillHeld } from '../../api/routes/being-deleted.ts';
import { groupOf } from '../../api/routes/edge/fleet/preview.ts';
import { fits } from '../../api/routes/executions/list/page.ts';
import { presentSummary } from '../../api/routes/executions/present.ts';
import { readinessOf } from '../../api/routes/workflows/present.ts';
import { ScriptRows } from '../../api/tools/script-rows.ts';
import { isAgentThere, newerAgent } from '../../controllers/agent-execution/begin/confirm-missing.ts';
import { claimants } from '../../controllers/registered-tools/wakes.ts';
import { createSecurityOf } from '../../gateway/lane/security-of.ts';
import { createRegisteredSource } from '../../gateway/tools/registered-source.ts';
import { readSecurityContext } from '../../lib/agent/security-context.ts';
import { findApiSpec } from '../../lib/api-spec/find-api-spec.ts';
import { rowOf } from '../../lib/archive/row.ts';
import { requireSessionContext } from '../../lib/envelope/session-context.ts';
import { stateOfHost } from '../../lib/fleet/fleet-host.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { anAgent } from '../builders/agent-builder.ts';
import { createManualClock } from '../support/manual-clock.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const finalizers = ['mallory.example/keep'];
const held = { deletionTimestamp, finalizers };
const uid = '11111111-1111-4111-8111-111111111111';

/** A server with one object, in the namespace that is its own. */
const serverWith = (object: { metadata: { name?: string; namespace?: string } }) => ({
  get: async (_: unknown, { namespace, name }: { namespace?: string; name: string }) => {
    if (object.metadata.name === name && object.metadata.namespace === namespace) return object as never;
    throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
  },
  list: async () => ({ metadata: {}, items: [object] as never[] }),
});

const context = (more: object = {}, namespace = 'tenant-a'): SecurityContext => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'SecurityContext',
  metadata: { name: 'fleet', namespace, uid, ...more },
  spec: { tier: 'operator' },
});

describe('an attacker who holds with a finalizer what an administrator has deleted', () => {
  it('SEAL-POL-01 has nothing of a SecurityContext, in a pod, in a call of the gateway or in a new session', async () => {
    const place = { namespace: 'tenant-a', field: 'spec.security.context' };
    const alive = await readSecurityContext(serverWith(context()), 'fleet', place);
    expect(alive.security).toEqual({ tier: 'operator' });
    const kept = serverWith(context(held));
    await expect(readSecurityContext(kept, 'fleet', place)).rejects.toThrow('there is no SecurityContext fleet');
    await expect(requireSessionContext(kept, 'fleet', ['tenant-a'])).rejects.toThrow('names no security context');
    const securityOf = (found: SecurityContext) =>
      createSecurityOf({
        contexts: { get: (key) => (key === 'tenant-a/fleet' ? found : undefined) },
        tenancy: { visibleTo: () => ['tenant-a', globalNamespace] },
      })('a', 'fleet');
    expect([securityOf(context()), securityOf(context(held))]).toEqual([{ tier: 'operator' }, undefined]);
  });

  it('runs no agent of it, by name or id', async () => {
    const agent = anAgent('reviewer', {}, { namespace: 'tenant-a', uid, resourceVersion: '7' });
    const kept = { ...agent, metadata: { ...agent.metadata, ...held } };
    for (const wanted of ['reviewer', uid]) {
      expect(await isAgentThere(serverWith(agent), 'tenant-a', wanted)).toBe(true);
      expect(await isAgentThere(serverWith(kept), 'tenant-a', wanted)).toBe(false);
    }
    const known = { ...agent, metadata: { ...agent.metadata, resourceVersion: '3' } };
    expect(await newerAgent(serverWith(agent), known)).toBe(agent);
    expect(await newerAgent(serverWith(kept), known)).toBeUndefined();
  });

  const spec = (name: string, more: object = {}): ApiSpec =>
    ({
      metadata: { name, namespace: 'tenant-a', uid: name === 'old' ? uid : name, ...more },
      spec: { name: 'shop', input_schema: {} },
    }) as never;

  it('AMB-124 keeps no name of an ApiSpec or a tool, and answers no call by its id', () => {
    const [alive, kept] = [spec('old', { creationTimestamp: '2025-01-01T00:00:00Z' }), spec('old', held)];
    const next = spec('new', { creationTimestamp: '2026-01-01T00:00:00Z' });
    const find = (old: ApiSpec, naming: object) => {
      const cache = {
        getByUid: () => old,
        byIndex: (_: string, place: string) => (place === 'tenant-a' ? [old, next] : []),
      };
      return findApiSpec(cache, { metadata: { namespace: 'tenant-a' }, spec: naming } as never);
    };
    expect([find(alive, { api_spec: 'shop' }), find(kept, { api_spec: 'shop' })]).toEqual([alive, next]);
    expect([find(alive, { api_spec_id: uid }), find(kept, { api_spec_id: uid })]).toEqual([alive, undefined]);
    const tools = (...objects: ApiSpec[]) => {
      const objectsOf = { byIndex: (_: string, place: string) => (place === 'tenant-a' ? objects : []) };
      const source = createRegisteredSource(
        { tenancy: { visibleTo: () => ['tenant-a'] }, objects: objectsOf, whole: async () => undefined } as never,
        { source: 'cli', callOf: () => async () => ({}) as never, notReady: () => undefined } as never,
      );
      return [[...source.list('a')].length, source.find('a', 'shop') === undefined];
    };
    expect([tools(alive), tools(kept), tools(kept, next)]).toEqual([
      [1, false],
      [0, true],
      [1, false],
    ]);
    const cache = { byIndex: () => [next], values: () => [next] };
    const change = { key: 'tenant-a/old', before: alive, after: kept, own: false };
    expect(claimants(change as never, cache as never)).toEqual(['tenant-a/new']);
  });

  it('EDGE-REST-27 has no command run on an EdgeHost of it', () => {
    const host = (more: object): EdgeHost =>
      ({ metadata: { name: 'host-a', ...more }, spec: {}, status: { status: 'Healthy' } }) as never;
    expect([stateOfHost(host({})), stateOfHost(host(held))]).toEqual(['Healthy', 'Revoked']);
  });

  it('has no fleet run for an EdgeGroup of it, and no Script', async () => {
    const group = (more: object) => ({ metadata: { name: 'g', uid, ...more }, spec: {} });
    const resolve = (found: object) =>
      groupOf({ cluster: { edgeGroups: { locate: async () => found } } } as never, 'a', { Group: uid } as never);
    expect(await resolve(group({}))).toEqual(group({}));
    await expect(resolve(group(held))).rejects.toThrow('is the id of no group of the tenant');
    const listed = async (more: object) => {
      const script = { metadata: { name: 's', namespace: 'tenant-a', uid, ...more }, spec: { name: 's', code: '1' } };
      const rows = new ScriptRows({ kube: serverWith(script), clock: createManualClock() });
      const names: string[] = [];
      for await (const { name } of rows.of('tenant-a')) names.push(name);
      return names;
    };
    expect([await listed({}), await listed(held)]).toEqual([['s'], []]);
  });

  it('starts nothing over HTTP, and views say that it is being deleted', () => {
    const metadata = { name: 'reviewer', ...held };
    expect(() => refuseBeingDeleted('agent reviewer', { metadata })).toThrow(/^agent reviewer is being deleted/);
    expect(() => refuseBeingDeleted('agent reviewer', { metadata: { name: 'reviewer', finalizers } })).not.toThrow();
    const agent = anAgent('reviewer', {}, held);
    expect(readinessOf(agent)).toMatchObject({ ready: false, reason: 'BeingDeleted' });
    expect([deletingOf({ metadata }), deletingOf({ metadata: { name: 'x' } })]).toEqual([{ deleting: true }, {}]);
    expect(stillHeld({ metadata })).toEqual({ deleting: true });
    expect(stillHeld({ metadata: { name: 'x', finalizers: [archiveFinalizer] } })).toEqual({});
  });
});

describe('an attacker who labels an execution with the workflow of another', () => {
  const execution = (metadata: object, more: object = {}): WorkflowExecution =>
    ({
      apiVersion: 'windlass.dev/v1',
      kind: 'WorkflowExecution',
      metadata: { name: 'x', uid: 'x', labels: { [labels.workflowUid]: uid }, ...metadata },
      spec: { workflow: 'mine' },
      status: { phase: 'failed', reason: 'WorkflowNotFound' },
      ...more,
    }) as never;
  const seen = (object: WorkflowExecution) => [
    presentSummary(object).workflow_id,
    presentSummary(rowOf(object)).workflow_id,
    fits(object, { limit: 1, after: undefined, workflow: uid }),
    fits(rowOf(object), { limit: 1, after: undefined, workflow: uid }),
  ];

  it('WF-API-10 is not believed where the execution never began, live or archived', () => {
    expect(seen(execution({}))).toEqual([null, null, false, false]);
  });

  it.each([
    ['started over HTTP', { annotations: { [annotations.startedBy]: 'ada' } }],
    ['made of a stimulus', { labels: { [labels.workflowUid]: uid, [labels.stimulus]: 's' } }],
    ['a child', { labels: { [labels.workflowUid]: uid, [labels.parentUid]: 'p' } }],
  ])('takes nothing from an execution that was %s: marks that admission guards prove its label', (_title, metadata) => {
    expect(seen(execution(metadata))).toEqual([uid, uid, true, true]);
  });

  it('takes nothing from one that has begun: its status names the workflow', () => {
    const workflow = { name: 'mine', namespace: 'n', uid: 'own', version: '1.0.0', revision: 'r' };
    const begun = execution({}, { status: { phase: 'running', workflow } });
    expect(seen(begun)).toEqual(['own', 'own', false, false]);
  });
});
