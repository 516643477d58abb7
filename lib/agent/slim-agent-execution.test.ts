import { describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { isCutAsk, slimAgentExecution, withMounts } from './slim-agent-execution.ts';

const whole: AgentExecution = {
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'judge', namespace: 'default', uid: 'a-1' },
  spec: {
    agent: 'reviewer',
    input: 'read this',
    intent: 'be brief',
    timeout: '5m',
    parent: { name: 'run', uid: 'w-1', state: 'panel', visit: 1, judge: 2 },
    result: { phase: 'completed', output: 'a long text', score: 0.5, iterations: 2, at: '2026-01-01T00:00:00Z' },
  },
  status: { phase: 'running' },
};

describe('the cache of agent executions', () => {
  it('keeps neither input nor intent nor the output', () => {
    const { spec } = slimAgentExecution(whole);
    expect(spec).not.toHaveProperty('input');
    expect(spec).not.toHaveProperty('intent');
    expect(spec.result).not.toHaveProperty('output');
  });

  it('keeps what decisions are made of: agent, parent, numbers of the result and status', () => {
    const { metadata, spec, status } = slimAgentExecution(whole);
    expect(metadata).toMatchObject({ name: 'judge', uid: 'a-1' });
    expect(spec).toMatchObject({ agent: 'reviewer', timeout: '5m', parent: { state: 'panel', visit: 1, judge: 2 } });
    expect(spec.result).toMatchObject({ phase: 'completed', score: 0.5, iterations: 2 });
    expect(status).toEqual({ phase: 'running' });
  });

  it.each([
    [511, 511, false],
    [512, 512, false],
    [513, 513, true],
    [32_768, 513, true],
  ])('keeps of %i characters of a call that waits %i, and knows of the cut: %s', (length, kept, isCut) => {
    const times = { asked_at: '2026-01-01T00:00:00Z', until: '2026-01-01T00:10:00Z' };
    const ask = { id: 'ask-1', tool: 'cmd.run', arguments: 'x'.repeat(length), ...times };
    const slim = slimAgentExecution({ ...whole, spec: { ...whole.spec, ask } }).spec.ask;
    expect(slim).toMatchObject({ id: 'ask-1', tool: 'cmd.run', ...times });
    expect(slim?.arguments).toHaveLength(kept);
    expect(slim && isCutAsk(slim)).toBe(isCut);
  });

  it('keeps of answers those to the present ask and to the last one, without what people said', () => {
    const answer = { response: 'approved' as const, by: 'ж'.repeat(512), at: '2026-01-01T00:00:00Z', note: 'long' };
    const signals = Array.from({ length: 50 }, (_, at) => ({ ...answer, id: `ask-${at}` }));
    const times = { asked_at: '2026-01-01T00:00:00Z', until: '2026-01-01T00:10:00Z' };
    const ask = { id: 'ask-7', tool: 'cmd.run', arguments: '{}', ...times };
    const { spec } = slimAgentExecution({ ...whole, spec: { ...whole.spec, ask, signals } });
    const kept = (id: string) => ({ id, response: 'approved', by: '', at: '' });
    expect(spec.signals).toEqual([kept('ask-7'), kept('ask-49')]);
    const none = slimAgentExecution({ ...whole, spec: { ...whole.spec, signals } }).spec;
    expect(none.signals).toEqual([kept('ask-49')]);
  });

  it('holds the text that the result, the status and its condition share once', () => {
    const text = (): string => 'x'.repeat(2_048);
    const condition = { type: 'Ready', status: 'False' as const, reason: 'Failed', lastTransitionTime: 'now' };
    const result = { phase: 'failed' as const, message: text(), at: '2026-01-01T00:00:00Z' };
    const status = {
      phase: 'failed' as const,
      message: text(),
      conditions: [{ ...condition, message: text() }],
    };
    const failed = { ...whole, spec: { ...whole.spec, result }, status };
    const slim = slimAgentExecution(failed);
    expect(slim).toMatchObject({ spec: { result }, status });
  });

  it('keeps the mounts of most executions, and of many or long ones that there are some, which readers then ask for', async () => {
    const mount = { volume: 'data', mount_path: '/data', access_mode: 'read-only' as const };
    const of = (volumes: AgentExecution['spec']['volumes'] & object) => ({
      ...whole,
      spec: { ...whole.spec, volumes },
    });
    const never = async () => Promise.reject(new Error('there is nothing to read'));
    const small = of([mount, { ...mount, mount_path: '/more' }]);
    expect((await withMounts(slimAgentExecution(small), never))?.spec.volumes).toEqual(small.spec.volumes);
    expect(await withMounts(slimAgentExecution(whole), never)).toEqual(slimAgentExecution(whole));
    const large = of(Array.from({ length: 20 }, (_, at) => ({ ...mount, mount_path: `/${at}`.padEnd(1_024, 'x') })));
    const slim = slimAgentExecution(large);
    expect(slim.spec.volumes).toHaveLength(1);
    expect(await withMounts(slim, async () => large)).toBe(large);
    expect(await withMounts(slim, async () => undefined)).toBeUndefined();
  });

  it('keeps the beginning of the reason of a cancellation', () => {
    const cancel = { by: 'ada', at: '2026-01-01T00:00:00Z', reason: 'x'.repeat(1_024) };
    const of = (reason: string) =>
      slimAgentExecution({ ...whole, spec: { ...whole.spec, cancel: { ...cancel, reason } } });
    expect(of(cancel.reason).spec.cancel).toEqual({ ...cancel, reason: `${'x'.repeat(256)}…` });
    expect(of('enough').spec.cancel).toEqual({ ...cancel, reason: 'enough' });
  });

  it('leaves the object itself whole', () => {
    slimAgentExecution(whole);
    expect(whole.spec.result?.output).toBe('a long text');
  });

  it('takes an object that has neither result nor status', () => {
    const { status: _status, ...bare } = whole;
    const slim = slimAgentExecution({ ...bare, spec: { agent: 'reviewer' } });
    expect(slim.spec).toEqual({ agent: 'reviewer' });
    expect(slim).not.toHaveProperty('status');
  });
});
