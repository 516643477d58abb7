import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, 'stages.sh');
const run = promisify(execFile);
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-stages-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** PASSED and FAILED of a stage whose command ended with `status` and left this report. */
async function count(kind: string, status: number, report: string): Promise<string> {
  await writeFile(join(folder, 'stage.log'), report);
  await writeFile(join(folder, 'stage.log.json'), report);
  const words = 'set -euo pipefail; source "$0"; count_of "$@"';
  const { stdout } = await run('bash', ['-c', words, script, kind, join(folder, 'stage.log'), String(status)]);
  return stdout.trim();
}

describe.each(['vitest', 'go', 'schemathesis'])('a stage of %s', (kind) => {
  it.each([0, 1, 124, 137])('with an empty report has failed, whatever its status: %i', async (status) => {
    expect(await count(kind, status, '')).toBe('0 1');
  });

  it('with a report that was cut off has failed', async () => {
    expect(await count(kind, 137, '{"numPassedTests": 3, ')).toBe('0 1');
  });
});

describe('a stage of vitest', () => {
  const report = (failed: number): string =>
    JSON.stringify({ numPassedTests: 3, numFailedTests: failed, testResults: [] });

  it.each([
    [0, 0, '3 0'],
    [1, 0, '3 1'],
    [1, 2, '3 2'],
  ])('that ended with %i and %i failed tests counts as %s', async (status, failed, want) => {
    expect(await count('vitest', status, report(failed))).toBe(want);
  });
});
