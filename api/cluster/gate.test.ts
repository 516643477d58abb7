import { describe, expect, it } from 'vitest';
import { createGate } from './gate.ts';

function parked() {
  const open: (() => void)[] = [];
  return { open, call: () => new Promise<void>((resolve) => open.push(resolve)) };
}

describe('a gate', () => {
  it('lets as many in as it may, the others in turn, and refuses what is beyond both', async () => {
    const gate = createGate({ atOnce: 2, waiting: 1 });
    const { open, call } = parked();
    const inside = [gate(call), gate(call)];
    const third = gate(call);
    await expect.poll(() => open.length).toBe(2);
    await expect(gate(call)).rejects.toMatchObject({ code: 'unavailable' });
    open[0]?.();
    await inside[0];
    await expect.poll(() => open.length).toBe(3);
    for (const release of open) release();
    await Promise.all([...inside, third]);
    expect(await gate(async () => 4)).toBe(4);
  });

  it('is left by a call that fails', async () => {
    const gate = createGate({ atOnce: 1, waiting: 0 });
    await expect(gate(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await gate(async () => 7)).toBe(7);
  });
});
