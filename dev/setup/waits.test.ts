import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const waits = join(import.meta.dirname, 'waits.sh');
const objects = join(import.meta.dirname, '..', 'cluster', 'objects.sh');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-waits-'));
});

afterEach(() => rm(folder, { recursive: true }));

interface End {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs words of a shell in the folder; `onNote` is called with each piece of what it writes to standard error. */
async function shell(words: string, onNote: (text: string) => void = () => undefined): Promise<End> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `source "$0"; ${words}`, waits, objects], {
    cwd: folder,
    env: { ...process.env, NOTE_SECONDS: '1', CLUSTER_NAME: 'second' },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => {
    out += String(piece);
  });
  child.stderr.on('data', (piece) => {
    err += String(piece);
    onNote(String(piece));
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

describe('a wait of the development scripts', () => {
  it('says what it waits for until that is there', async () => {
    const end = await shell('wait_until 600 "the file" test -f there; echo go on', (text) => {
      if (text.includes('still waiting')) void writeFile(join(folder, 'there'), '');
    });
    expect(end).toMatchObject({ code: 0, out: 'go on\n' });
    expect(end.err).toMatch(/^still waiting for the file \(\d+ s so far\) …\n/);
  });

  it('ends with the state of what it waited for, and where the logs are', async () => {
    const end = await shell(
      'state() { echo "2 of 3 are there"; }; STATE=state wait_until 0 "three files" false; echo no',
    );
    expect(end).toEqual({
      code: 1,
      out: '',
      err:
        'gave up waiting for three files after 0 s\n2 of 3 are there\n' +
        'For the logs of the cluster: CLUSTER_NAME=second dev/cluster/logs\n',
    });
  });

  it('passes on output and status of a command, and leaves no process that holds the output open', async () => {
    const end = await shell('with_notes "an answer" sh -c "echo answer; exit 3" || echo "status $?"');
    expect(end).toEqual({ code: 0, out: 'answer\nstatus 3\n', err: '' });
  });
});

describe('a wait for an object', () => {
  /** `kubectl` answers with a phase, or with the row of the object. */
  const kubectl =
    'say() { echo "$*" >&2; }; fail() { say "$*"; exit 1; }; source "$1"; ' +
    'kubectl() { case $* in *range*) echo "  Succeeded=False ToolFailed: no disk";; *jsonpath*) echo failed;; *) echo the row;; esac; };';

  it('ends at once, with its conditions, where it has ended otherwise', async () => {
    expect(await shell(`${kubectl} wait_for_phase tenant-demo waiting wfx/one`)).toEqual({
      code: 1,
      out: '',
      err: "the row\n  Succeeded=False ToolFailed: no disk\nwfx/one in tenant-demo is 'failed' instead of 'waiting'\n",
    });
  });
});
