import { describe, expect, it } from 'vitest';
import { presentAsk, presentListed } from '../../api/routes/human-approvals/present.ts';
import { volumeIndexes, volumesOfClaim } from '../../controllers/volume/informers.ts';
import { annotations, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { type AgentExecution, AgentExecutionSpec } from '../../crds/schema/agent-execution.ts';
import { type SecurityContext, securityContextRules, SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import { CurrentState } from '../../crds/schema/workflow-execution-status.ts';
import { type Signal, type WorkflowExecution, WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import { slimAgentExecution } from '../../lib/agent/slim-agent-execution.ts';
import { approvalId } from '../../lib/decision/approval-id.ts';
import { listedExecution } from '../../lib/execution/listed-execution.ts';
import { slimExecution } from '../../lib/execution/slim-execution.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import { createCache, stripStrangers } from '../../lib/informer/index.ts';
import { executionMarks } from '../../lib/informer/slim-metadata.ts';
import { cachedTable } from '../../lib/memory-budget/index.ts';
import { after, anExecution } from '../builders/execution-builder.ts';
import { fullest } from './support/fullest.ts';
import { keptBytes } from './support/kept-bytes.ts';

/**
 * The attacker may create objects in one namespace, as many as its quota takes, each with as much in its fields as the
 * kind permits. Every replica keeps a version of all of them, and lists show them to colleagues.
 */
const kibibyte = 1_024;
const mebibyte = 1_024 * kibibyte;

describe('issue 10 B1: 1,000 executions that wait, each with an input of 64 KiB of {}', () => {
  const input = { list: Array.from({ length: (64 * kibibyte) / 3 }, () => ({})) };
  const waiting = anExecution()
    .with({ input, intent: 'x'.repeat(kibibyte) })
    .now({ state: 'ask', kind: 'Human', prompt: 'x'.repeat(8_192), entered_at: after(0) })
    .build();

  it.each([
    ['a controller', 8, slimExecution],
    ['a replica of the API', 8, listedExecution],
  ])('take %s %i MiB at most', (_who, most, slim) => {
    expect(keptBytes(1_000, waiting, slim)).toBeLessThan(most * mebibyte);
  });
});

/** Characters of which one is wide, so that V8 keeps two bytes for each. */
const wide = (length: number): string => 'ā'.padEnd(length, 'x');
const name = 'x'.repeat(limits.objectNameLength);
const uid = '00000000-0000-4000-8000-00000000000a';
/** RFC 3339 takes any number of digits of a second; the kinds take so many characters. */
const instant = `2026-01-02T03:04:05.${'0'.repeat(43)}Z`;

/** As much as a writer can leave on an execution; caches keep three owners and our own marks. */
const fullMetadata = {
  generation: 1,
  creationTimestamp: after(0),
  labels: Object.fromEntries(Object.values(labels).map((key) => [key, 'x'.repeat(63)])),
  annotations: Object.fromEntries(
    Object.values(annotations).map((key) => [key, wide(executionMarks.annotations.get(key) ?? 1_024)]),
  ),
  ownerReferences: Array.from({ length: 20 }, () => ({
    apiVersion: 'windlass.dev/v1',
    kind: wide(64),
    name,
    uid,
  })),
};

/** The last answers match no rule, which the message says; a full list takes none any more. */
const answer: Signal = {
  id: 'x'.repeat(127),
  state: wide(limits.nameLength),
  visit: 1,
  response: wide(512),
  feedback: wide(512),
  by: wide(512),
  at: instant,
  via: wide(63),
  note: wide(512),
};

function fullExecution(): WorkflowExecution {
  const { parent: _parent, intent: _intent, ...spec } = fullest(WorkflowExecutionSpec, undefined) as Spec;
  const { steps: _steps, retried: _retried, ...current } = fullest(CurrentState, undefined) as CurrentState;
  const message = wide(1_024);
  const condition = { status: 'False' as const, reason: 'x'.repeat(64), lastTransitionTime: after(0) };
  const status: WorkflowExecution['status'] = {
    observedGeneration: 1,
    phase: 'waiting',
    reason: 'x'.repeat(64),
    message,
    conditions: ['Succeeded', 'Finished'].map((type) => ({ ...condition, type, message })),
    workflow: { name, namespace: 'tenant-a', uid, version: 'x'.repeat(128), revision: name },
    state: wide(limits.nameLength),
    started_at: after(0),
    transitions: 1,
    successors: Array.from({ length: limits.successors }, () => ({ name, uid })),
    current: {
      ...current,
      kind: 'Human',
      state: wide(limits.nameLength),
      visit: 1,
      prompt: wide(8_192),
      signals_refused: 16,
    },
  };
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'WorkflowExecution',
    metadata: { name, namespace: 'tenant-a', uid, ...fullMetadata },
    spec: { ...spec, signals: Array.from({ length: 16 }, () => answer) },
    status,
  };
}

type Spec = WorkflowExecution['spec'];
type AgentSpec = AgentExecution['spec'];

describe('executions that ask, each with a wide prompt, wide texts and marks, 20 successors and 16 answers', () => {
  it.each([
    ['controllers', slimExecution],
    ['gateway', slimExecution],
    ['api', listedExecution],
  ] as const)('take of the %s what the table of caches says, at most', (process, slim) => {
    const most = cachedTable.WorkflowExecution.kibibytes[process] * kibibyte;
    expect(keptBytes(500, fullExecution(), slim)).toBeLessThan(500 * most);
  });
});

const metadata = { name: 'run', namespace: 'tenant-a', uid: '00000000-0000-4000-8000-00000000000a' };
const asking: AgentExecution = {
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata,
  spec: {
    agent: 'keeper',
    input: 'x'.repeat(64 * kibibyte),
    intent: 'x'.repeat(kibibyte),
    ask: {
      id: approvalId('a', { state: 'call_1_0', visit: 1 }),
      tool: 'cmd.run',
      arguments: JSON.stringify({ command: '\u{1f600}'.repeat(limits.askArgumentsLength / 2 - 10) }),
      asked_at: after(0),
      until: after(600),
    },
  },
  status: { phase: 'waiting' },
};

describe('1,000 executions of agents that wait for a person, each with the largest arguments and a long input', () => {
  it('take a replica 8 MiB at most', () => {
    expect(keptBytes(1_000, asking, slimAgentExecution)).toBeLessThan(8 * mebibyte);
  });
});

describe('1,000 executions of agents with every field of their specification at its limit', () => {
  it('take a replica 5 MiB at most, without what Windlass alone may begin', () => {
    // The API server refuses an answer without an ask, and takes asks, waits, results and parents of our accounts alone.
    const {
      signals: _signals,
      ask: _ask,
      result: _result,
      parent: _parent,
      wait: _wait,
      ...spec
    } = fullest(AgentExecutionSpec, undefined) as AgentExecution['spec'];
    expect(spec.volumes).toHaveLength(limits.volumes);
    expect(keptBytes(1_000, { ...asking, spec }, slimAgentExecution)).toBeLessThan(5 * mebibyte);
  });
});

describe('executions of agents with full marks, the longest texts and a message of the controllers', () => {
  it('take what the table of caches says, at most', () => {
    const {
      result: _result,
      parent: _parent,
      signals: _signals,
      ...spec
    } = fullest(AgentExecutionSpec, '') as AgentSpec;
    const message = wide(2_048);
    const condition = { status: 'False' as const, reason: 'x'.repeat(64), lastTransitionTime: after(0) };
    const full: AgentExecution = {
      ...asking,
      metadata: { ...metadata, ...fullMetadata },
      spec: { ...spec, intent: '' },
      status: {
        phase: 'waiting',
        reason: 'x'.repeat(64),
        message,
        conditions: [{ ...condition, type: 'Ready', message }],
        agent: { name, namespace: 'tenant-a', uid, version: 'x'.repeat(128), revision: name },
        pod: { name, uid, attempt: 1 },
        started_at: after(0),
        deadline: after(0),
      },
    };
    const most = cachedTable.AgentExecution.kibibytes.api * kibibyte;
    expect(keptBytes(500, full, slimAgentExecution)).toBeLessThan(500 * most);
  });
});

describe('the SecurityContexts that the quota of one tenant takes, which a gateway keeps whole', () => {
  const contextsOfTenant = 200;
  const rule = securityContextRules.map(({ rule: text }) => text).find((text) => text.includes('self.tools')) ?? '';
  const { tools: _tools, ...fields } = fullest(SecurityContextSpec, undefined) as SecurityContext['spec'];
  const free = Object.entries(fields).filter(([field]) => !rule.includes(`self.${field}`));

  it('have no field of much text that the rule of the API server leaves out', () => {
    expect(rule.endsWith(` <= ${limits.contextTextsLength}`)).toBe(true);
    expect(free.map(([field]) => field)).not.toContain('subcommand_allowlist');
    expect(heapBytes(Object.fromEntries(free), mebibyte)).toBeLessThan(64 * kibibyte);
  });

  it.each([
    ['the longest texts', 126, 1],
    ['the most texts', 1, 100],
  ])('take what the table of caches says at most, with %s that the rule permits', (_title, length, arguments_) => {
    const charge = length + limits.contextTextCharge;
    const count = Math.floor(limits.contextTextsLength / charge / (arguments_ + 1));
    const texts = Array.from({ length: arguments_ }, (_, at) => `ā${at}`.padEnd(length, 'x').slice(0, length));
    const commands = Array.from({ length: count }, (_, at) => [`ā${at}`.padEnd(length, 'x').slice(0, length), texts]);
    const spec = { ...Object.fromEntries(free), subcommand_allowlist: Object.fromEntries(commands) };
    const context = { apiVersion: 'windlass.dev/v1', kind: 'SecurityContext', metadata, spec } as SecurityContext;
    const most = cachedTable.SecurityContext.kibibytes.gateway * kibibyte;
    expect(keptBytes(contextsOfTenant, context, stripStrangers)).toBeLessThan(contextsOfTenant * most);
  });
});

describe('issue 10 B3: a page of 200 requests of people with full prompts', () => {
  it('holds the beginnings alone, of states and of tool calls', () => {
    const current = {
      state: 'ask',
      kind: 'Human' as const,
      visit: 1,
      entered_at: after(0),
      prompt: 'あ'.repeat(4 * mebibyte),
      prompt_ref: { path: '', ref: 'a'.repeat(64), bytes: 12 * mebibyte, encoding: 'text' as const },
    };
    const execution = listedExecution(anExecution().now(current).build());
    const pending = { id: 'a', execution, current: execution.status?.current ?? current };
    const rows = Array.from({ length: 100 }, () => [
      presentListed(pending),
      presentAsk(slimAgentExecution(asking), slimAgentExecution(asking).spec.ask ?? never()),
    ]).flat();
    expect(rows.every(({ prompt_truncated }) => prompt_truncated === true)).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(rows))).toBeLessThan(4 * mebibyte);
  });
});

const never = (): never => {
  throw new Error('it asks for nothing');
};

describe('issue 10 A8: a claim that changes among 500 volumes', () => {
  it('looks at the volumes that name it, and at no other', () => {
    const cache = createCache<Volume, 'claim'>({ indexes: volumeIndexes });
    for (let index = 0; index < 500; index++) {
      const names = { namespace: 'tenant-a', name: `v${index}`, uid: `u${index}`, resourceVersion: '7' };
      const spec = { storage_class: 'persistent', claim_name: index < 2 ? 'data' : `c${index}` };
      cache.apply({ type: 'ADDED', object: { metadata: names, spec } as unknown as Volume });
    }
    const looked: string[] = [];
    const watched = {
      byIndex(index: 'claim', value: string) {
        const found = cache.byIndex(index, value);
        looked.push(...found.map(({ metadata: { name } }) => name ?? ''));
        return found;
      },
    };
    expect(volumesOfClaim('tenant-a/data', watched)).toEqual(['tenant-a/data', 'tenant-a/v0', 'tenant-a/v1']);
    expect(looked).toEqual(['v0', 'v1']);
  });
});
