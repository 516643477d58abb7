import { describe, expect, it } from 'vitest';
import { volumeIndexes } from '../../controllers/volume/informers.ts';
import { slimRevision, slimWorkflow } from '../../controllers/workflow/informers.ts';
import { annotations, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import { type ApiSpec, ApiSpecSpec } from '../../crds/schema/api-spec.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import { type GitBinding, GitBindingSpec } from '../../crds/schema/git-binding.ts';
import { type StimulusRouter, StimulusRouterSpec } from '../../crds/schema/stimulus-router.ts';
import { type ToolCall, ToolCallSpec, ToolCallStatus } from '../../crds/schema/tool-call.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { type Volume, VolumeSpec } from '../../crds/schema/volume.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { workflowSourcePattern } from '../../crds/stimulus-source.ts';
import { slimAgent } from '../../lib/agent/slim-agent.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import { listedWorkflow } from '../../lib/workflow-lookup/index.ts';
import { stripStrangers } from '../../lib/informer/index.ts';
import type { ControllerRevision } from '../../lib/kube/index.ts';
import { cachedTable, type MemoryProcess } from '../../lib/memory-budget/index.ts';
import { slimToolCall } from '../../lib/tools/slim-tool-call.ts';
import { sourceKeysOf } from '../../lib/stimulus/source-claims.ts';
import { fullest } from './support/fullest.ts';
import { keptBytes } from './support/kept-bytes.ts';

/**
 * The attacker may create objects in one namespace, as many as its quota takes, each with as much in its fields as the kind
 * permits. Caches keep these kinds whole, so that the bounds of their fields are what bounds them.
 */
const apiVersion = 'windlass.dev/v1';
const metadata = { name: 'x', namespace: 'tenant-a' };

/** Bytes of heap that the table of caches has for so many of a kind. */
const room = (kind: keyof typeof cachedTable, process: MemoryProcess, count: number): number => {
  const sizes: Partial<Record<MemoryProcess, number>> = cachedTable[kind].kibibytes;
  return count * (sizes[process] ?? 0) * 1_024;
};

describe('the quota of one tenant, of kinds that caches keep whole', () => {
  it('of routers takes the API and the controllers what the table of caches says, at most', () => {
    const fields = fullest(StimulusRouterSpec, undefined) as StimulusRouter['spec'];
    const target = Object.values(fields.routes ?? {})[0] ?? '';
    expect(target).toHaveLength(limits.objectNameLength);
    const sources = Array.from({ length: limits.mapEntries }, (_, at) => `workflow:${`a${at}`.padEnd(253, 'x')}`);
    for (const source of sources) expect(source).toMatch(new RegExp(workflowSourcePattern));
    const spec = { ...fields, routes: Object.fromEntries(sources.map((source) => [source, target])) };
    const since = '2026-01-02T03:04:05.000Z';
    const claims = sources.map((_source, at) => ({ source: `a${at}`.padEnd(limits.nameLength, 'x'), since }));
    const router: StimulusRouter = { apiVersion, kind: 'StimulusRouter', metadata, spec, status: { claims } };
    expect(keptBytes(200, router, stripStrangers, { source: sourceKeysOf })).toBeLessThan(
      room('StimulusRouter', 'api', 200),
    );
  });

  it('of volumes takes the controllers what the table says, at most', () => {
    const spec = fullest(VolumeSpec, undefined) as Volume['spec'];
    const volume: Volume = { apiVersion, kind: 'Volume', metadata, spec };
    expect(keptBytes(500, volume, stripStrangers, volumeIndexes)).toBeLessThan(room('Volume', 'controllers', 500));
  });

  it('of git bindings takes the controllers what the table says, at most', () => {
    const spec = fullest(GitBindingSpec, undefined) as GitBinding['spec'];
    const binding: GitBinding = { apiVersion, kind: 'GitBinding', metadata, spec };
    expect(keptBytes(100, binding, stripStrangers)).toBeLessThan(room('GitBinding', 'controllers', 100));
  });
});

/** Characters of which one is wide, so that V8 keeps two bytes for each. */
const wide = (length: number): string => 'ā'.padEnd(length, 'x');
const uid = '00000000-0000-4000-8000-00000000000a';
const name = 'x'.repeat(253);

/** As much as a writer can leave on a definition: all of the annotations that caches keep, in one. */
const fullMetadata = {
  ...metadata,
  uid,
  generation: 1,
  creationTimestamp: '2026-01-02T03:04:05Z',
  labels: Object.fromEntries(Object.values(labels).map((key) => [key, 'x'.repeat(63)])),
  annotations: { [annotations.formerIds]: wide(8 * 1_024) },
  ownerReferences: Array.from({ length: 20 }, () => ({ apiVersion, kind: wide(64), name, uid })),
};
const condition = { status: 'False' as const, reason: 'x'.repeat(64), lastTransitionTime: '2026-01-02T03:04:05Z' };
const conditions = [{ ...condition, type: 'Ready', message: wide(1_024) }];
const versions = Array.from({ length: 500 }, (_, at) => ({
  version: `${at}`.padEnd(128, 'x'),
  revision: name,
  registered_at: '2026-01-02T03:04:05Z',
}));

/** One with a text as long as this is kept whole; the next larger one is cut. */
const lengths = [6_800, 60_000];
const aWorkflow = (length: number): Workflow =>
  ({
    apiVersion,
    kind: 'Workflow',
    metadata: length > 10_000 ? fullMetadata : metadata,
    spec: {
      version: '1.0.0',
      initial_state: 'a',
      description: wide(length > 10_000 ? 1_024 : 16),
      states: { a: { kind: 'Human', prompt: wide(length), transitions: [] } },
    },
    status: length > 10_000 ? { conditions, versions, revision: name } : { conditions: [] },
  }) as never;
const anAgent = (length: number): Agent =>
  ({
    apiVersion,
    kind: 'Agent',
    metadata: length > 10_000 ? fullMetadata : metadata,
    spec: { version: '1.0.0', description: wide(16), task: { instruction: wide(length) } },
    status: length > 10_000 ? { conditions, versions, revision: name } : { conditions: [] },
  }) as never;
const aRevision = (length: number): ControllerRevision => ({
  metadata: length > 10_000 ? fullMetadata : metadata,
  revision: 1,
  data: { version: '1.0.0', task: { instruction: wide(length) } },
});

describe('definitions of one tenant, small ones that caches keep whole and large ones with full marks', () => {
  it.each(lengths)('of %i characters take what the table of caches says, at most', (length) => {
    const [workflow, agent, revision] = [aWorkflow(length), anAgent(length), aRevision(length)];
    const kept = {
      listed: keptBytes(200, workflow, listedWorkflow),
      workflow: keptBytes(200, workflow, slimWorkflow),
      agent: keptBytes(200, agent, slimAgent),
      revision: keptBytes(200, revision, slimRevision),
    };
    expect(kept.listed).toBeLessThan(room('Workflow', 'api', 200));
    expect(kept.workflow).toBeLessThan(room('Workflow', 'controllers', 200));
    expect(kept.agent).toBeLessThan(room('Agent', 'controllers', 200));
    expect(kept.revision).toBeLessThan(room('ControllerRevision', 'controllers', 200));
  });
});

describe('tool calls of one tenant, with every field at its limit and with full marks', () => {
  it('take the API and the controllers what the table of caches says, at most', () => {
    // A part of the two texts that no cache keeps is enough: JSON in full would outweigh the caches of this test.
    const text = wide(4_096);
    const spec = { ...(fullest(ToolCallSpec, undefined) as ToolCall['spec']), arguments: text };
    const status = { ...(fullest(ToolCallStatus, undefined) as ToolCall['status']), result: { content: text } };
    const call: ToolCall = { apiVersion, kind: 'ToolCall', metadata: fullMetadata, spec, status };
    const kept = keptBytes(1_000, call, slimToolCall, { parentUid: ({ spec: { parent } }) => [parent.uid] });
    for (const process of ['api', 'controllers'] as const) expect(kept).toBeLessThan(room('ToolCall', process, 1_000));
  });
});

describe('registered tools of one tenant, large and with full marks', () => {
  const { metadata: marks, long } = { metadata: fullMetadata, long: wide(60_000) };
  const texts = {
    name: 'x'.repeat(128),
    description: wide(limits.toolDescriptionLength),
    input_schema: { type: 'object' },
  };
  const step = { name: 'x'.repeat(63), operation_id: wide(256), body_template: wide(256), on_error: 'AbortWorkflow' };

  it('take what the table of caches says, at most', () => {
    const steps = Array.from({ length: limits.toolSteps }, () => step);
    const spec = { ...texts, api_spec: name, steps } as ToolWorkflow['spec'];
    const workflow: ToolWorkflow = { apiVersion, kind: 'ToolWorkflow', metadata: marks, spec };
    const command = { ...texts, image: 'x'.repeat(1_024), command: [long], stdin: long } as CliTool['spec'];
    const tool: CliTool = { apiVersion, kind: 'CliTool', metadata: marks, spec: command };
    const kept = [
      keptBytes(200, workflow, partlyKept.ToolWorkflow.slim),
      keptBytes(200, tool, partlyKept.CliTool.slim),
    ] as const;
    expect(kept[0]).toBeLessThan(room('ToolWorkflow', 'gateway', 200));
    expect(kept[1]).toBeLessThan(room('CliTool', 'gateway', 200));
  });

  it('take, as APIs, what the table says beside their documents, at most', () => {
    const spec = fullest(ApiSpecSpec, undefined) as ApiSpec['spec'];
    const api: ApiSpec = { apiVersion, kind: 'ApiSpec', metadata: fullMetadata, spec, status: { conditions } };
    expect(keptBytes(200, api, partlyKept.ApiSpec.slim)).toBeLessThan(room('ApiSpec', 'gateway', 200));
  });
});
