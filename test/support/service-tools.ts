import { createCallRooms, type RoomyCaller } from '../../api/tools/call-room.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import { createAnswerRoom } from '../../lib/tools/web/answer-room.ts';
import type { Asked } from '../../api/tools/operations.ts';
import { createServiceTools, type ServiceToolsDeps } from '../../api/tools/service-tools.ts';
import type { AuditEntry, BusEvent } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createManifestReader, type ManifestReader } from '../../lib/manifest/index.ts';
import { emptyNodeConfig } from '../../lib/node-config/index.ts';
import type { ToolAnswer, ToolArguments, ToolCaller } from '../../lib/tools/tool.ts';
import { createToolbox, type ToolRuns } from '../../lib/tools/toolbox.ts';
import { aToolCaller } from '../builders/tool-caller.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createSearches } from '../../lib/word-search.ts';

export interface OperationCall extends Asked {
  readonly operationId: string;
}

/** Service tools over operations that a test plays, with their requests and audit records. */
export interface ServiceToolsWorld {
  readonly tools: ToolRuns;
  readonly clock: ManualClock;
  readonly calls: OperationCall[];
  readonly audited: AuditEntry[];
  readonly raised: BusEvent[];
  /** Answers of the operations; default: `{ ok: true }`. */
  give: (call: OperationCall) => unknown;
  /** The phase that caches show meanwhile; default: that of the operation's answer. */
  phaseOf: (call: OperationCall) => Phase | undefined;
  /** Whose calls they are. */
  caller: ToolCaller;
  run(name: string, args?: ToolArguments, signal?: AbortSignal): Promise<ToolAnswer>;
  /** The value of an answer. */
  valueOf(name: string, args?: ToolArguments): Promise<unknown>;
}

const roomBytes = 1_048_576;

/** A caller with room of its own. */
export const aRoomyCaller = (caller = aToolCaller()): RoomyCaller => {
  const answers = createAnswerRoom({ clock: systemClock, size: roomBytes });
  return { ...caller, room: createCallRooms(systemClock, answers).open(caller, new AbortController().signal) };
};

export const agentUid = '3f2b8c1e-0000-4000-8000-000000000001';
const agentNames = new Set(['coder', 'agent-author', 'workflow-author']);

/** One for all tests of a file: each has a thread that takes seconds to start. */
export const aManifestReader = (): ManifestReader =>
  createManifestReader({
    clock: systemClock,
    workerUrl: new URL('../../lib/manifest/manifest-worker.ts', import.meta.url),
  });

export function createServiceToolsWorld(parts: Partial<ServiceToolsDeps> = {}): ServiceToolsWorld {
  const calls: OperationCall[] = [];
  const audited: AuditEntry[] = [];
  const raised: BusEvent[] = [];
  const clock = createManualClock();
  const world: ServiceToolsWorld = {
    clock,
    calls,
    audited,
    raised,
    give: () => ({ ok: true }),
    phaseOf: (call) => (world.give(call) as { readonly status?: Phase }).status,
    caller: aToolCaller(),
    tools: createServiceTools({
      clock,
      manifests: { read: absent, close: async () => undefined },
      nodeConfig: emptyNodeConfig,
      kube: { create: absent, list: absent, get: absent, jsonPatch: absent, delete: absent },
      tenants: { namespaceOf: (tenant) => (tenant === 'acme' ? 'tenant-acme' : undefined) },
      audit: { record: (entry) => void audited.push(entry) },
      operations: {
        call: async (operationId, _caller, asked) => {
          calls.push({ operationId, ...asked });
          return world.give({ operationId, ...asked });
        },
      },
      phases: {
        ofWorkflow: async (_caller, id) =>
          world.phaseOf({ operationId: 'readExecution', params: { execution_id: id } }),
        ofAgent: async (_caller, id) =>
          world.phaseOf({ operationId: 'readAgentExecution', params: { execution_id: id } }),
      },
      rooms: createCallRooms(clock, createAnswerRoom({ clock, size: roomBytes })),
      agentIdOf: async (tenant, name) => (tenant === 'acme' && agentNames.has(name) ? agentUid : undefined),
      newId: () => 'id',
      events: { raise: (event) => void raised.push(event) },
      helperImage: 'busybox',
      gitImage: 'git',
      searches: createSearches(clock),
      publicUrl: 'https://windlass.example',
      remember: () => undefined,
      offered: () =>
        createToolbox({ builtin_dispatchers: [] }, { 'svc.tools.list': { kind: 'api', run: absent } })
          .offered(aToolCaller())
          .filter(({ name }) => ['fs.read', 'fs.write', 'svc.tools.list'].includes(name)),
      registered: async () => [],
      ...parts,
    }),
    async run(name, args = {}, signal = new AbortController().signal) {
      const tool = world.tools[name];
      if (tool?.kind !== 'api') throw new Error(`${name} does not run in the API`);
      return tool.run(world.caller, args, signal);
    },
    async valueOf(name, args) {
      const { content, isError } = await world.run(name, args);
      if (isError) throw new Error(content);
      return JSON.parse(content);
    },
  };
  return world;
}

const absent = () => Promise.reject(new Error('not in this test'));
