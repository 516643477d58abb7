import type { ToolCall, ToolCallSpec, ToolCallStatus } from '../../crds/schema/tool-call.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { slimToolCall } from '../../lib/tools/slim-tool-call.ts';
import { type JsonPatchOperation, KubeError } from '../../lib/kube/index.ts';
import { storedBytes } from '../../lib/kube/stored-bytes.ts';

const ref = { verb: 'patch', resource: 'toolcalls/status' };
/** etcd takes no larger object. */
const etcdBytes = 1_572_864;
const tooLarge = { message: 'etcdserver: request is too large' };
type Handler = (change: InformerChange<ToolCall>) => void;

/** Tool calls as every replica of the API sees them: versions, conditional writes, and a watch. No API server is behind them. */
export class SharedCalls {
  readonly objects = new Map<string, ToolCall>();
  readonly #handlers = new Set<Handler>();
  #version = 1;
  /** How often a status was written. */
  writes = 0;
  /** The API server does not answer. */
  isAway = false;
  /** The watch sends nothing any more: caches show what it sent last. */
  isStale = false;
  readonly #sent = new Map<string, ToolCall>();
  /** Takes the next claim, and its answer is lost. */
  losesAnswer = false;
  /** The write of others between a claim whose answer is lost and the next read; the watch lags behind. */
  whileLost: (call: ToolCall) => ToolCall = (call) => call;
  /** The schema has no room for an answer. */
  refusesResults = false;

  add(uid: string, spec: Partial<ToolCallSpec> = {}, namespace = 'tenant-acme'): void {
    this.put({
      apiVersion: 'windlass.dev/v1',
      kind: 'ToolCall',
      metadata: { name: uid, namespace, uid, creationTimestamp: new Date().toISOString() },
      spec: {
        tool: 'svc.tools.list',
        arguments: '{}',
        subject: 'ada',
        timeout: '300s',
        parent: { name: 'run', uid: 'wfx-1', state: 'call', visit: 1 },
        ...spec,
      },
    });
  }

  status(uid: string): ToolCallStatus | undefined {
    return this.objects.get(uid)?.status;
  }

  cancel(uid: string): void {
    const call = this.#get(uid);
    const cancel = { by: 'windlass-controllers', at: new Date().toISOString() };
    this.put({ ...call, spec: { ...call.spec, cancel } });
  }

  remove(uid: string): void {
    const before = this.#get(uid);
    this.objects.delete(uid);
    this.#tell({ key: uid, before, after: undefined, own: false });
  }

  put(call: ToolCall): ToolCall {
    const uid = call.metadata.uid ?? '';
    const before = this.objects.get(uid);
    const after = { ...call, metadata: { ...call.metadata, resourceVersion: `${(this.#version += 1)}` } };
    this.objects.set(uid, after);
    this.#tell({ key: uid, before, after, own: false });
    return after;
  }

  readonly kube = {
    get: async (_: unknown, { name }: { readonly name: string }) => this.#get(name),
    mergePatchStatus: async (_: unknown, { name }: { readonly name: string }, patch: object) => {
      const { metadata, status } = patch as Pick<ToolCall, 'metadata' | 'status'>;
      const call = this.#get(name);
      if (call.metadata.resourceVersion !== metadata.resourceVersion)
        throw new KubeError(409, { reason: 'Conflict' }, ref);
      this.writes += 1;
      const after = this.put({ ...call, status: { ...call.status, ...status } });
      if (!this.losesAnswer) return after;
      this.losesAnswer = false;
      this.objects.set(name, this.whileLost(after));
      throw new KubeError(504, { reason: 'Timeout' }, ref);
    },
    jsonPatchStatus: async (_: unknown, { name }: { readonly name: string }, patch: readonly JsonPatchOperation[]) => {
      const call = this.#get(name);
      for (const { op, path, value } of patch as readonly (JsonPatchOperation & { readonly value?: unknown })[])
        if (op === 'test' && valueAt(call, path) !== value) throw new KubeError(422, { reason: 'Invalid' }, ref);
      const status = (patch.at(-1) as { readonly value?: unknown }).value as ToolCallStatus;
      if (this.refusesResults && status.result !== undefined) throw new KubeError(422, { reason: 'Invalid' }, ref);
      if (storedBytes({ ...call, status }) > etcdBytes) throw new KubeError(500, tooLarge, ref);
      this.writes += 1;
      return this.put({ ...call, status });
    },
  };

  get informer() {
    return {
      cache: { getByUid: (uid: string) => this.#sent.get(uid), values: () => this.#sent.values() },
      onChange: (handler: Handler) => void this.#handlers.add(handler),
    };
  }

  #get(name: string): ToolCall {
    if (this.isAway) throw new KubeError(503, { reason: 'ServiceUnavailable' }, ref);
    const found = this.objects.get(name);
    if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, ref);
    return found;
  }

  /** A watch tells of a change after the write is answered. */
  #tell(change: InformerChange<ToolCall>): void {
    setImmediate(() => {
      if (this.isStale) return;
      if (change.after === undefined) this.#sent.delete(change.key);
      else this.#sent.set(change.key, slimToolCall(change.after));
      const slim = { ...change, after: change.after && slimToolCall(change.after) };
      for (const handler of this.#handlers) handler(slim);
    });
  }
}

const valueAt = (object: unknown, path: string): unknown =>
  path
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], object);
