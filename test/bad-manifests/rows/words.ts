import { byRule } from '../row.ts';

export const byCel = byRule('cel');
export const byPolicy = byRule('policy');
export const byController = byRule('controller');

export const s = 'spec.states';
export const removed = undefined;
export const long = (length: number): string => 'x'.repeat(length);
export const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
export const noop = { kind: 'System', command: 'finalize', transitions: [] };
export const volumeText = 'the volume is neither the declared workspace nor one of storage.shared_volumes';
export const rule = (state: string, index = 0): string => `${s}.${state}.transitions.${index}`;
export const at = (state: string, index = 0): string => `${s}.${state}.transitions[${index}]`;

/** Lists and maps by turns, so many levels of them. */
export const nested = (levels: number): unknown =>
  levels === 0 ? 'x' : levels % 2 === 0 ? [nested(levels - 1)] : { a: nested(levels - 1) };
