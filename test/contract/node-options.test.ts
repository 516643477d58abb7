import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { nodeOptionsOfChart } from '../../dev/bench/pod-environment.ts';

/** Makes many short-lived objects beside some that live longer, and tells how large the nursery has become, in MiB. */
const program = `
  import { getHeapSpaceStatistics } from 'node:v8';
  let kept = [];
  for (let i = 0; i < 500_000; i += 1) {
    kept.push({ i, list: [i] });
    if (kept.length > 100_000) kept = [];
  }
  const nursery = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  process.stdout.write(String(nursery.space_size / 2 ** 20));
`;

/** For a new process on a busy machine; nothing of the product is measured by it. */
const timeout = 300_000;

it.each([
  ['other', 4],
  ['gateway', 16],
  ['relay', 16],
] as const)(
  'the chart keeps the nursery of processes at two halves: %s, %i MiB',
  { timeout },
  async (component, half) => {
    const env = { NODE_OPTIONS: await nodeOptionsOfChart(component) };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env });
    expect(Number(stdout)).toBeLessThanOrEqual(2 * half);
  },
);
