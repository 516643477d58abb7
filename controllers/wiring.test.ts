import { describe, expect, it } from 'vitest';
import { createWaiting } from './wiring.ts';

describe('executions that wait', () => {
  const waitingFor = (names: Readonly<Record<string, readonly string[]>>) => {
    const waiting = createWaiting();
    for (const [name, keys] of Object.entries(names)) for (const key of keys) waiting.add(key, name);
    return waiting;
  };

  it('for a workflow of their own namespace are left alone by one of the same name elsewhere', () => {
    const waiting = waitingFor({ build: ['a/1', 'b/1', 'a/2'] });
    expect(waiting.take(['build'], 'c')).toEqual([]);
    expect(waiting.take(['build'], 'a')).toEqual(['a/1', 'a/2']);
    expect(waiting.take(['build'], 'a')).toEqual([]);
    expect(waiting.take(['build'], 'b')).toEqual(['b/1']);
  });

  it('are all taken by what every namespace sees, whichever of its names they wait for', () => {
    const waiting = waitingFor({ build: ['a/1', 'b/1'], uid: ['c/1'], other: ['a/2'] });
    expect(waiting.take(['build', 'uid', 'former'])).toEqual(['a/1', 'b/1', 'c/1']);
    expect(waiting.take(['build', 'uid'])).toEqual([]);
    expect(waiting.take(['other'])).toEqual(['a/2']);
  });

  it('are forgotten when they are gone', () => {
    const waiting = waitingFor({ build: ['a/1', 'a/2'], volume: ['a/1'] });
    waiting.forget('a/1');
    waiting.forget('a/3');
    expect(waiting.take(['build', 'volume'])).toEqual(['a/2']);
  });
});
