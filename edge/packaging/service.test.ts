import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { edgeExitCodes } from '../program.ts';

const file = join(import.meta.dirname, 'windlass-edge.service');
const analyzer = '/usr/bin/systemd-analyze';

// The analyzer is part of systemd, which containers lack.
it.skipIf(!existsSync(analyzer))('the unit of systemd is valid', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unit-'));
  try {
    const copy = join(folder, 'windlass-edge.service');
    // A program that is not installed would be a finding.
    await writeFile(copy, (await readFile(file, 'utf8')).replace('/usr/bin/windlass-edge', process.execPath));
    const { stdout, stderr } = await promisify(execFile)(analyzer, ['verify', '--man=no', copy]);
    // Findings of other units of the machine name those.
    expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('windlass-edge'))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('the unit of systemd does not start a daemon again that no restart helps', async () => {
  const { usage, revoked } = edgeExitCodes;
  expect(await readFile(file, 'utf8')).toContain(`RestartPreventExitStatus=${usage} ${revoked}\n`);
});
