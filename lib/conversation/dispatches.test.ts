import { expect, it } from 'vitest';
import { conversationLimits } from './limits.ts';
import { emptyState, fold } from './state.ts';

const at = '2026-01-01T00:00:00.000Z';
const kept = conversationLimits.dispatchesKept;

function begin(state: ReturnType<typeof emptyState>, number: number): void {
  const call_id = `signed_${number}`;
  fold(state, { kind: 'signed_call', at, call_id, tool: 'fs.read', arguments: {} });
  fold(state, { kind: 'dispatched', at, call_id, dispatch_id: `d${number}`, pod_uid: 'pod-1' });
}

function end(state: ReturnType<typeof emptyState>, number: number): void {
  const ended = { call_id: `signed_${number}`, dispatch_id: `d${number}`, result_hash: `hash-${number}` };
  fold(state, { kind: 'signed_ended', at, tool: 'fs.read', content: '', is_error: false, ...ended });
}

it('AMB-038 signed calls that have ended leave the hashes of the last results, and those are counted', () => {
  const state = emptyState();
  begin(state, 0);
  const ofOne = state.bytes;
  expect(ofOne).toBeGreaterThan(0);
  for (let number = 1; number <= 10 * kept; number += 1) {
    begin(state, number);
    end(state, number);
  }
  expect(state.dispatches.size).toBe(kept);
  expect(state.bytes).toBe(kept * ofOne);
  // That of the first one is under way, however many have ended since.
  expect(state.dispatches.has('d0')).toBe(true);
  expect(state.dispatches.has(`d${9 * kept + 1}`)).toBe(false);
  expect(state.dispatches.get(`d${9 * kept + 2}`)).toBe(`hash-${9 * kept + 2}`);
  end(state, 0);
  expect(state.dispatches.get('d0')).toBe('hash-0');
});
