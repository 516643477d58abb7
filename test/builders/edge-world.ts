import { createHash, generateKeyPairSync } from 'node:crypto';
import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import { createEdgeRoutes, type EdgeRoutesDeps } from '../../api/routes/edge/index.ts';
import { aborted } from '../../lib/aborted.ts';
import type { AuditEntry } from '../../lib/bus/index.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { AppError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { createFleetCapable } from '../../lib/tools/fleet-capable.ts';

interface Thing {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly generation?: number;
  };
}

/** The API server's answer where a `test` of a JSON patch does not hold. */
export const failedTest = () =>
  new KubeError(
    422,
    { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
    { verb: 'patch', resource: 'things' },
  );

/** The API server as far as the routes of edge hosts use it: objects by kind and name, with guards of patches. */
function objectsOf(first: readonly Thing[]) {
  const begun = (one: Thing): Thing => ({ ...one, metadata: { generation: 1, ...one.metadata } });
  const kept = new Map(first.map((one) => [`${one.kind} ${one.metadata.namespace}/${one.metadata.name}`, begun(one)]));
  const missing = (resource: string) => new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource });
  const keyOf = ({ kind }: { kind: string }, ref: { namespace: string; name: string }) =>
    `${kind} ${ref.namespace}/${ref.name}`;
  return {
    all: () => [...kept.values()],
    kube: {
      get: async (resource: { kind: string }, ref: { namespace: string; name: string }) => {
        const found = kept.get(keyOf(resource, ref));
        if (found === undefined) throw missing(resource.kind);
        return found;
      },
      create: async (resource: { kind: string }, object: Thing) => {
        const uid = `00000009-0000-4000-8000-${createHash('md5').update(object.metadata.name).digest('hex').slice(0, 12)}`;
        const ids = { uid, generation: 1, creationTimestamp: '2026-02-01T00:00:00Z' };
        const made = { ...object, metadata: { ...object.metadata, ...ids } };
        kept.set(`${resource.kind} ${object.metadata.namespace}/${object.metadata.name}`, made);
        return made;
      },
      jsonPatch: async (
        resource: { kind: string },
        ref: { namespace: string; name: string },
        operations: readonly { op: string; path: string; value: unknown }[],
      ) => {
        const found = kept.get(keyOf(resource, ref));
        if (found === undefined) throw missing(resource.kind);
        const { metadata } = found;
        const facts = new Map(Object.entries(metadata).map(([name, value]) => [`/metadata/${name}`, value]));
        if (operations.some(({ op, path, value }) => op === 'test' && facts.get(path) !== value)) throw failedTest();
        const added = operations.filter(({ op }) => op !== 'test');
        const spec = added.reduce<unknown>(
          (known, { path, value }) =>
            path === '/spec' ? value : { ...(known as object), [path.slice('/spec/'.length)]: value },
          (found as Thing & { spec: unknown }).spec,
        );
        const generation = (metadata.generation ?? 1) + 1;
        const changed = { ...found, metadata: { ...metadata, generation }, spec } as Thing;
        kept.set(keyOf(resource, ref), changed);
        return changed;
      },
      delete: async (resource: { kind: string }, ref: { namespace: string; name: string }) =>
        kept.delete(keyOf(resource, ref)),
    },
  };
}

/** Caches of one kind over the same objects. */
function tenantObjects(kind: string, all: () => readonly Thing[]) {
  const of = (tenant: string) =>
    all().filter((one) => one.kind === kind && one.metadata.namespace === `tenant-${tenant}`);
  const locate = async (tenant: string, nameOrUid: string) =>
    of(tenant).find(({ metadata }) => metadata.name === nameOrUid || metadata.uid === nameOrUid);
  return {
    list: of,
    locate,
    find: locate,
    whole: async (object: Thing) => all().find(({ metadata }) => metadata.uid === object.metadata.uid),
    remember: () => undefined,
    forgotten: async () => undefined,
  };
}

/** Runs as a watch brings them that is never behind. */
const newsOf = (all: () => readonly Thing[]) => ({
  current: (uid: string) => all().find(({ metadata }) => metadata.uid === uid),
  changed: (_uid: string, signal: AbortSignal) => aborted(signal),
});

/** A bus without a tool gateway. */
const noGateway = () => Promise.reject(new AppError('unavailable', 'no gateway', { reason: 'NoResponders' }));

const sent = async (): Promise<void> => undefined;

export const everyEdgeScope = [
  'svc.edge.enroll',
  'svc.edge.hosts.read',
  'svc.edge.hosts.write',
  'svc.edge.groups.write',
  'svc.edge.fleet.read',
  'svc.edge.fleet.manage',
];

/** The routes of edge hosts over these objects; `call` answers the value, or what was refused. */
export function edgeWorld(objects: readonly (EdgeHost | EdgeGroup | Thing)[] = [], more: Partial<EdgeRoutesDeps> = {}) {
  const { kube, all } = objectsOf(objects);
  const audited: AuditEntry[] = [];
  const keys = generateKeyPairSync('ed25519');
  let count = 0;
  const known = new Set(['acme', 'other', 'blue', 'red']);
  const deps = {
    kube,
    clock: { now: () => Date.parse('2026-01-02T00:00:00.500Z'), steadyMs: () => 0, sleep: async () => undefined },
    newId: () => String((count += 1)).padStart(16, '0'),
    audit: { record: (entry: AuditEntry) => void audited.push(entry) },
    recent: { of: async () => [] },
    fleetCapable: createFleetCapable({ bus: { request: noGateway } }),
    runNews: newsOf(all),
    hostCommands: { drain: sent, pushConfig: sent, shutdown: sent },
    heartbeats: { last: async () => new Map() },
    edge: { key: keys.privateKey, endpoint: 'edge.example.com:443' },
    cluster: {
      tenants: { namespaceOf: (tenant: string) => (known.has(tenant) ? `tenant-${tenant}` : undefined) },
      edgeHosts: tenantObjects('EdgeHost', all),
      edgeGroups: tenantObjects('EdgeGroup', all),
      fleetRuns: tenantObjects('FleetRun', all),
    },
    ...more,
  } as unknown as EdgeRoutesDeps;
  const routes = createEdgeRoutes(deps);
  const ask = async (operation: string, request: object, caller: object = {}) => {
    const route = routes.find(({ contract }) => contract.operationId === operation);
    const who = { subject: 'ada', tenant: 'acme', kind: 'consumer', roles: [], scopes: everyEdgeScope, ...caller };
    const asked = { params: {}, query: { limit: 50 }, headers: {}, body: {}, reserve: async () => undefined };
    const signal = new AbortController().signal;
    if (route === undefined) throw new Error(`there is no operation ${operation}`);
    return route.handle({ ...asked, signal, ...request, caller: { ...who, until: 0 } } as never);
  };
  const call = async (operation: string, request: object = {}, caller: object = {}): Promise<unknown> => {
    try {
      const reply = await ask(operation, request, caller);
      return reply.kind === 'json' ? reply.value : reply.kind;
    } catch (error) {
      if (!(error instanceof HttpError)) return error;
      const { code, error: word = code, ...options } = error.options;
      return { error: word, code, ...options };
    }
  };
  return { ask, call, audited, all, kube, routes, publicKey: keys.publicKey };
}
