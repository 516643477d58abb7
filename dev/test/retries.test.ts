import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, 'retries.sh');
const run = promisify(execFile);
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-retries-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** One run of a stage in which these tests passed only when they were tried again; `other` passed at once. */
async function judge(stage: string, ...retried: readonly string[]): Promise<{ code: number; said: string }> {
  const tests = ['other', ...retried].map((fullName) => ({
    fullName,
    status: 'passed',
    failureMessages: fullName === 'other' ? [] : ['it took too long'],
  }));
  await writeFile(join(folder, 'results.tsv'), `types\tpassed\t1\n${stage}\tpassed\t2\n`);
  await writeFile(join(folder, `${stage}.log.json`), JSON.stringify({ testResults: [{ assertionResults: tests }] }));
  const words =
    'set -euo pipefail; log_dir=$1 results=$1/results.tsv retry_history=$1/history.json; source "$0"; judge_retries';
  try {
    const { stdout } = await run('bash', ['-c', words, script, folder]);
    return { code: 0, said: stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, said: stdout };
  }
}

describe('a test that was tried again', () => {
  it('is named, and is no failure the first time', async () => {
    expect(await judge('api', 'a stream continues')).toEqual({
      code: 0,
      said: '↻ passed only when tried again: api: a stream continues\n',
    });
  });

  it('fails the second run of three, with the run between without it', async () => {
    await judge('api', 'slow');
    expect(await judge('api')).toEqual({ code: 0, said: '' });
    const { code, said } = await judge('api', 'slow');
    expect(code).toBe(1);
    expect(said).toContain('✗ tried again in 2 of the last runs: api: slow');
  });

  it('is forgiven after two runs without it', async () => {
    await judge('api', 'slow');
    await judge('api');
    await judge('api');
    expect(await judge('api', 'slow')).toMatchObject({ code: 0 });
  });

  it('fails no run in which it passed at once', async () => {
    await judge('api', 'slow');
    await judge('api', 'slow');
    expect(await judge('api')).toEqual({ code: 0, said: '' });
  });

  it('fails no run without its stage', async () => {
    await judge('api', 'slow');
    await judge('api', 'slow');
    expect(await judge('faults')).toEqual({ code: 0, said: '' });
  });

  it('is identified by its stage and its name', async () => {
    await judge('api', 'slow');
    expect(await judge('faults', 'slow')).toMatchObject({ code: 0 });
    expect(await judge('api', 'slow too')).toMatchObject({ code: 0 });
  });

  it('is forgotten with a history that cannot be read', async () => {
    await judge('api', 'slow');
    await writeFile(join(folder, 'history.json'), '{"api": [[');
    expect(await judge('api', 'slow')).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(folder, 'history.json'), 'utf8'))).toEqual({ api: [['slow']] });
  });
});
