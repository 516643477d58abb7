import { describe, expect, it } from 'vitest';
import { chosenOf } from './chosen.ts';
import type { Program } from './program.ts';

const program = (name: string, onRequest?: boolean): Program => ({
  name,
  title: name,
  unit: 's',
  bar: { of: 'ours' },
  ...(onRequest === undefined ? {} : { onRequest }),
  measureLocally: () => Promise.resolve({ ours: 1 }),
});

const programs = [program('chain'), program('argo-one', true), program('idle'), program('argo-chain', true)];

const names = (wish: Parameters<typeof chosenOf>[1]): string[] => chosenOf(programs, wish).map(({ name }) => name);

describe('the programs that a run measures', () => {
  it('are those that are not on request where nothing is asked for', () => {
    expect(names({ argo: false })).toEqual(['chain', 'idle']);
  });

  it('are those on request alone where the rows beside Argo are asked for', () => {
    expect(names({ argo: true })).toEqual(['argo-one', 'argo-chain']);
  });

  it('are those that are named, on request or not, in the order of the table', () => {
    expect(names({ only: ['argo-chain', 'chain'], argo: false })).toEqual(['chain', 'argo-chain']);
  });

  it('are the named ones beside those of Argo where both are asked for', () => {
    expect(names({ only: ['idle'], argo: true })).toEqual(['argo-one', 'idle', 'argo-chain']);
  });
});
