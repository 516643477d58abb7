import process from 'node:process';

/** Rounds of a random test of which none depends on another; with `RANDOM_ROUNDS=10` there are ten times as many. */
export const rounds = (count: number): number => Math.ceil(count * Number(process.env['RANDOM_ROUNDS'] ?? 1));
