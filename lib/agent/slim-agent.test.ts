import { describe, expect, it } from 'vitest';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { heapBytes } from '../heap-bytes.ts';
import { isWholeAgent, slimAgent } from './slim-agent.ts';

describe('the cache of agents', () => {
  it('keeps a small definition as it is', () => {
    const agent = anAgent();
    expect(slimAgent(agent)).toBe(agent);
    expect(isWholeAgent(agent)).toBe(true);
  });

  it('keeps of a large one what a start needs', () => {
    const large = anAgent('reviewer', { task: { instruction: 'x'.repeat(60_000) } });
    const slim = slimAgent({ ...large, status: { revision: 'r' } });
    expect(slim).toMatchObject({
      metadata: { name: 'reviewer' },
      spec: { version: '1.0.0', runtime: { model: 'default' } },
      status: { revision: 'r' },
    });
    expect(isWholeAgent(slim)).toBe(false);
    const judged = { ...large.spec, execution: { timeout: '1m', validation: { agent: 'strict', threshold: 0.5 } } };
    expect(slimAgent({ ...large, spec: judged }).spec.execution).toEqual({
      validation: { agent: 'strict', threshold: 0.5 },
    });
    const { runtime: _, ...spec } = large.spec;
    expect(slimAgent({ ...large, spec }).spec).not.toHaveProperty('runtime');
    expect(heapBytes(slim, 1e9)).toBeLessThan(4_096);
  });
});
