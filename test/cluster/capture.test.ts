import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { type Captured, createCapture } from '../../lib/capture/capture.ts';
import type { StreamName } from '../../lib/capture/captured-streams.ts';
import { outputText } from '../../lib/capture/output-text.ts';
import { parseTerminationMessage } from '../../lib/capture/parse-trailer.ts';
import { type Container, type ContainerStateTerminated, type Pod, pods } from '../../lib/kube/index.ts';
import { decodeLog } from '../support/decode-log.ts';
import { type Cluster, connect } from './harness/cluster.ts';
import { makeTestNamespace, type TestNamespace } from './harness/test-namespace.ts';
import { waitForObject } from './harness/wait.ts';

/** The runner in real containers under Pod Security `restricted`, its output read back through the log API. */
const toolsImage = 'windlass.local/test-tools:dev';
const noShellImage = 'windlass.local/no-shell:dev';
const runnerImage = 'windlass.local/runner:dev';
const full = limits.outputStreamBytes;

let cluster: Cluster;
let namespace: TestNamespace;
let imageVolumes: boolean;

beforeAll(async () => {
  cluster = await connect();
  imageVolumes = (await cluster.kube.serverVersion()).minor >= 35;
  namespace = await makeTestNamespace(cluster.kube, 'capture');
});

afterAll(async () => {
  await namespace?.remove();
  await cluster?.kube.close();
});

interface Step {
  readonly command: readonly string[];
  readonly image?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Copies the runner by an init container, as on servers without image volumes. */
  readonly copied?: boolean;
  /** Keeps a deleted pod readable. */
  readonly held?: boolean;
}

interface Ended extends Captured {
  readonly log: Uint8Array;
  /** The kubelet's status of the container. */
  readonly status: ContainerStateTerminated;
}

/** The kubelet turns `$$` into `$` and fills `$(NAME)` in. */
const literal = (text: string): string => text.replaceAll('$', '$$$$');

const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

function podOf(step: Step): Pod {
  const mount = { name: 'runner', mountPath: '/windlass' };
  const copied = step.copied ?? !imageVolumes;
  const container: Container = {
    name: 'step',
    image: step.image ?? toolsImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['/windlass/runner', 'run', '--workdir=/work', ...(step.flags ?? []), '--', ...step.command.map(literal)],
    env: Object.entries(step.env ?? {}).map(([name, value]) => ({ name, value: literal(value) })),
    volumeMounts: [
      { ...mount, readOnly: true },
      { name: 'work', mountPath: '/work' },
    ],
    securityContext: security,
  };
  const copy: Container = {
    name: 'copy-runner',
    image: runnerImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['/runner', 'copy', '/windlass'],
    volumeMounts: [mount],
    securityContext: { ...security, readOnlyRootFilesystem: true },
  };
  return {
    metadata: {
      name: `step-${randomBytes(5).toString('hex')}`,
      namespace: namespace.name,
      ...(step.held ? { finalizers: ['windlass.dev/test'] } : {}),
    },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 30,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_532,
        runAsGroup: 65_532,
        fsGroup: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [container],
      ...(copied ? { initContainers: [copy] } : {}),
      volumes: [
        { name: 'work', emptyDir: {} },
        copied
          ? { name: 'runner', emptyDir: {} }
          : { name: 'runner', image: { reference: runnerImage, pullPolicy: 'IfNotPresent' } },
      ],
    },
  };
}

const stateOf = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state;

async function begin(step: Step): Promise<Pod> {
  return cluster.kube.create(pods, podOf(step));
}

const ref = (pod: Pod) => ({ namespace: namespace.name, name: pod.metadata.name ?? '' });

async function statusOf(pod: Pod): Promise<ContainerStateTerminated> {
  const done = (seen: Pod): boolean => stateOf(seen)?.terminated !== undefined;
  const seen = await waitForObject(cluster.kube, { resource: pods, ...ref(pod) }, done, { timeoutMs: 150_000 });
  return stateOf(seen)?.terminated ?? { exitCode: -1 };
}

async function logOf(pod: Pod): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of cluster.kube.readLog(ref(pod))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Runs a step to its end; log, termination message and container status have to agree. */
async function run(step: Step): Promise<Ended> {
  const pod = await begin(step);
  const status = await statusOf(pod);
  const log = await logOf(pod);
  const captured = decodeLog(log);
  expect(parseTerminationMessage(status.message ?? '')).toEqual(captured.trailer);
  expect(status.exitCode).toBe(captured.trailer.exit_code);
  return { ...captured, log, status };
}

const sh = (script: string, rest: Partial<Step> = {}): Promise<Ended> =>
  run({ command: ['sh', '-c', script], ...rest });

/** Follows a log from the container's start; resolves at the trailer. */
async function follow(pod: Pod): Promise<Captured> {
  const running = (seen: Pod): boolean => {
    const state = stateOf(seen);
    return state?.running !== undefined || state?.terminated !== undefined;
  };
  await waitForObject(cluster.kube, { resource: pods, ...ref(pod) }, running);
  const capture = createCapture();
  for await (const chunk of cluster.kube.readLog(ref(pod), { follow: true })) {
    capture.push(chunk);
    if (capture.isComplete()) break;
  }
  return capture.finish();
}

const sameBytes = (got: Uint8Array, want: Uint8Array): boolean => Buffer.compare(got, want) === 0;

describe.concurrent('capture of both streams, byte for byte', () => {
  const part = fc.tuple(
    fc.constantFrom<StreamName[]>('stdout', 'stderr'),
    fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 3000 }),
      fc
        .array(fc.constantFrom(0x00, 0x0a, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x7b, 0x61, 0xff), {
          minLength: 1,
          maxLength: 300,
        })
        .map((values) => Uint8Array.from(values)),
    ),
  );
  const samples = fc.sample(fc.array(part, { minLength: 1, maxLength: 12 }), 6);

  it.each(samples.map((parts, i) => [i, parts] as const))(
    'WF-CR-19 WF-CR-20 WF-CR-21 random bytes, interleaved, unterminated: sample %d',
    async (_i, parts) => {
      const env = Object.fromEntries(parts.map(([, bytes], i) => [`P${i}`, Buffer.from(bytes).toString('base64')]));
      const script = parts.map(([stream], i) => `echo $P${i} | base64 -d${stream === 'stderr' ? ' >&2' : ''}`);
      const ended = await sh(script.join('\n'), { env });
      for (const name of ['stdout', 'stderr'] as const) {
        const want = Buffer.concat(parts.filter(([stream]) => stream === name).map(([, bytes]) => bytes));
        expect(Buffer.from(ended[name]).toString('hex')).toBe(want.toString('hex'));
      }
    },
  );

  it('WF-CR-19 WF-CR-20 a mebibyte of random bytes has the hash that the container computed', async () => {
    const { stdout, stderr, trailer } = await sh('head -c 1048576 /dev/urandom >r; cat r; sha256sum r >&2');
    expect(outputText(stderr)).toBe(`${trailer.stdout.sha256}  r\n`);
    expect(stdout.length).toBe(full);
    expect(trailer.stdout.truncated).toBe(false);
  });

  it('WF-CR-20 WF-CR-21 a line of a mebibyte on each stream', async () => {
    const script = 'head -c 1048575 /dev/zero | tr "\\0" x >l; echo >>l; cat l; cat l >&2';
    const { stdout, stderr } = await sh(script);
    const want = Buffer.concat([Buffer.alloc(full - 1, 'x'), Buffer.from('\n')]);
    expect(sameBytes(stdout, want)).toBe(true);
    expect(sameBytes(stderr, want)).toBe(true);
  });

  const around16KiB = [16_383, 16_384, 16_385, 32_768];
  it.each(around16KiB)(
    'WF-CR-19 lines of %d bytes, where the container runtime splits, with CR at the cut',
    async (n) => {
      const script = `for c in x '\\r'; do head -c ${n - 1} /dev/zero | tr '\\0' y; printf "$c"; printf '\\n\\r\\n'; done`;
      const { stdout } = await sh(script);
      const y = 'y'.repeat(n - 1);
      expect(Buffer.from(stdout).toString()).toBe(`${y}x\n\r\n${y}\r\n\r\n`);
    },
  );

  it('WF-CR-19 whole lines of both streams, written in turn', async () => {
    const { stdout, stderr, log } = await run({
      command: ['emit', '-lines', '20000', '-width', '12', '-stream', 'both', '-seconds', '1'],
    });
    const numbers = (rest: number) =>
      Array.from({ length: 10_000 }, (_, i) => `${String(2 * i + rest).padEnd(11, '.')}\n`).join('');
    expect(outputText(stdout)).toBe(numbers(0));
    expect(outputText(stderr)).toBe(numbers(1));
    expect(log[0]).not.toBe(0x1d);
  });

  it('WF-CR-19 no output at all', async () => {
    const { stdout, stderr, log } = await run({ command: ['true'] });
    expect([stdout.length, stderr.length, log[0]]).toEqual([0, 0, 0x1d]);
  });

  const sizes: Record<string, { written: string; bytes: number; kept: number }> = {
    'AMB-079 the limit − 1': { written: '', bytes: full - 1, kept: full - 1 },
    'AMB-079 the limit': { written: '', bytes: full, kept: full },
    'AMB-079 the limit + 1': { written: '', bytes: full + 1, kept: full },
    'AMB-079 a character of two bytes that ends at the limit': { written: 'é', bytes: full - 2, kept: full },
    'AMB-079 a character of two bytes across the limit': { written: 'é', bytes: full - 1, kept: full - 1 },
    'AMB-079 a character of four bytes, three of them within the limit': {
      written: '😀',
      bytes: full - 3,
      kept: full - 3,
    },
  };
  it.each(Object.entries(sizes))('WF-CR-20 WF-CR-21 %s', async (_title, { written, bytes, kept }) => {
    const script = `head -c ${bytes} /dev/zero | tr '\\0' a >f; printf '${written}' >>f; cat f; cat f >&2`;
    const { stdout, stderr, trailer } = await sh(script);
    const whole = Buffer.concat([Buffer.alloc(bytes, 'a'), Buffer.from(written)]);
    for (const [name, got] of Object.entries({ stdout, stderr }) as [StreamName, Uint8Array][]) {
      expect(sameBytes(got, whole.subarray(0, kept))).toBe(true);
      expect(trailer[name]).toMatchObject({ bytes: kept, total_bytes: whole.length, truncated: kept < whole.length });
    }
  });

  it('WF-CR-20 AMB-079 a million lines a second for ten seconds do not stall the command', async () => {
    const { stdout, trailer } = await run({
      command: ['emit', '-lines', '10000000', '-width', '8', '-seconds', '10'],
    });
    expect(trailer).toMatchObject({ exit_code: 0, stdout: { total_bytes: 80_000_000, truncated: true } });
    expect(trailer.duration_ms).toBeLessThan(20_000);
    const want = Array.from({ length: full / 8 }, (_, i) => `${String(i).padEnd(7, '.')}\n`).join('');
    expect(outputText(stdout)).toBe(want);
  });

  it('WF-CR-20 WF-CR-21 a full log of the shortest lines outlives the rotation of logs', async () => {
    // The kubelet looks at the size of logs every ten seconds.
    const { stdout, stderr } = await sh('yes | head -n 2000000; yes | head -n 2000000 >&2; sleep 25');
    expect(sameBytes(stdout, Buffer.alloc(full, 'y\n'))).toBe(true);
    expect(sameBytes(stderr, Buffer.alloc(full, 'y\n'))).toBe(true);
  });
});

describe.concurrent('how a command ends', () => {
  it('WF-CR-19 the trailer is in the followed log before the kubelet reports the end', async () => {
    const pod = await begin({ command: ['sh', '-c', 'echo begun; sleep 2; echo over >&2; exit 5'] });
    const captured = await follow(pod);
    const seen = await cluster.kube.get(pods, ref(pod));
    expect(stateOf(seen)?.terminated).toBeUndefined();
    expect([outputText(captured.stdout), outputText(captured.stderr)]).toEqual(['begun\n', 'over\n']);
    expect(captured.trailer.exit_code).toBe(5);
    expect((await statusOf(pod)).exitCode).toBe(5);
    expect(decodeLog(await logOf(pod))).toEqual(captured);
  });

  it('WF-CR-06 arguments go through untouched', async () => {
    const args = ['', ' a  b ', '$HOME', '$(HOME)', '$$', '*', '\n', '--limit=0', 'é'];
    const { stdout } = await run({ command: ['printf', '%s\\0', ...args] });
    expect(outputText(stdout)).toBe(`${args.join('\0')}\0`);
  });

  it('WF-CR-07 a command that a shell runs', async () => {
    const { stdout, status } = await run({ command: ['sh', '-c', 'echo $((1+1)) | cat; exit 4'] });
    expect([outputText(stdout), status.exitCode]).toEqual(['2\n', 4]);
  });

  it('WF-CR-01 an image without a shell', async () => {
    const { stdout, status } = await run({ image: noShellImage, command: ['/emit', '-text', 'hello', '-code', '3'] });
    expect([outputText(stdout), status.exitCode]).toEqual(['hello', 3]);
  });

  it('WF-CR-07 AMB-160 a shell in an image without one is 127 and says what to do', async () => {
    const { stderr, status } = await run({ image: noShellImage, command: ['sh', '-c', 'echo'] });
    expect(status.exitCode).toBe(127);
    expect(outputText(stderr)).toMatch(/^runner: this image has no shell: .*set shell: false.*\n$/);
  });

  it('WF-CR-19 AMB-160 a missing command is 127 with a clear line of stderr', async () => {
    const { stderr, status, trailer } = await run({ command: ['no-such-command'] });
    expect([status.exitCode, trailer.reason]).toEqual([127, 'not_found']);
    expect(outputText(stderr)).toMatch(/^runner: command not found: no-such-command \(PATH is .*\)\n$/);
  });

  it('WF-CR-19 AMB-160 a file that cannot be executed is 126', async () => {
    const { stderr, status, trailer } = await run({ command: ['/etc'], image: toolsImage });
    expect([status.exitCode, trailer.reason]).toEqual([126, 'not_executable']);
    expect(outputText(stderr)).toMatch(/^runner: cannot execute \/etc: it is a directory\n$/);
  });

  it('WF-CR-15 AMB-160 a timeout stops a command that ignores SIGTERM', async () => {
    const { stdout, trailer } = await run({
      command: ['emit', '-text', 'on\n', '-ignore-term', '-sleep', '100s'],
      flags: ['--timeout=1s'],
    });
    expect(trailer).toMatchObject({ exit_code: 124, reason: 'timeout', signal: 'SIGKILL' });
    expect(trailer.duration_ms).toBeGreaterThanOrEqual(2000);
    expect(trailer.duration_ms).toBeLessThan(15_000);
    expect(outputText(stdout)).toBe('on\n');
  });

  const stopped: Record<string, { command: string[]; want: object }> = {
    'that ignores SIGTERM is killed after the grace': {
      command: ['emit', '-text', 'on\n', '-ignore-term', '-sleep', '100s'],
      want: { exit_code: 137, reason: 'terminated', signal: 'SIGKILL' },
    },
    'that heeds SIGTERM ends with its own exit code': {
      command: ['sh', '-c', 'trap "exit 9" TERM; echo on; while :; do sleep 0.1; done'],
      want: { exit_code: 9, reason: 'terminated' },
    },
  };
  it.each(Object.entries(stopped))('WF-CR-01 the command of a deleted pod %s', async (_title, { command, want }) => {
    const pod = await begin({ command, flags: ['--grace=2s'], held: true });
    try {
      const stream = cluster.kube.readLog(ref(pod), { follow: true });
      await waitForObject(
        cluster.kube,
        { resource: pods, ...ref(pod) },
        (seen) => stateOf(seen)?.running !== undefined,
      );
      const capture = createCapture();
      let deleted = false;
      for await (const chunk of stream) {
        capture.push(chunk);
        if (!deleted) await cluster.kube.delete(pods, ref(pod));
        deleted = true;
      }
      const { stdout, trailer } = capture.finish();
      expect(trailer).toMatchObject(want);
      expect(outputText(stdout)).toBe('on\n');
      expect(parseTerminationMessage((await statusOf(pod)).message ?? '')).toEqual(trailer);
    } finally {
      await cluster.kube.mergePatch(pods, ref(pod), { metadata: { finalizers: null } });
    }
  });

  it('WF-CR-01 the runner copied by an init container does the same', async () => {
    const { stdout, status } = await sh('echo copied; exit 6', { copied: true });
    expect([outputText(stdout), status.exitCode]).toEqual(['copied\n', 6]);
  });
});

describe.concurrent('what a command cannot do', () => {
  it('WF-CR-19 orphans that write for ever neither hold the step up nor add to its output', async () => {
    const orphan = 'setsid sh -c \'trap "" TERM HUP; echo up >up; while :; do echo late; sleep 0.01; done\' &';
    const { stdout, trailer } = await sh(`${orphan} until [ -s up ]; do :; done; sleep 0.2; echo end >&2; exit 8`);
    expect(trailer).toMatchObject({ exit_code: 8, stderr: { bytes: 4 } });
    expect(outputText(stdout)).toMatch(/^(late\n)+$/);
    expect(trailer.duration_ms).toBeLessThan(10_000);
    // The output that was passed on before the end is complete and verified; nothing came after the trailer.
    expect(trailer.stdout.total_bytes).toBe(stdout.length);
  });

  it('WF-CR-19 a fork tree of orphans in sessions of their own is gone before the trailer', async () => {
    const tree = 'for i in 1 2 3 4 5; do setsid sh -c \'trap "" TERM HUP INT; sleep 300 & wait; sleep 300\' & done;';
    const { trailer } = await sh(`${tree} sleep 0.3; ls -d /proc/[0-9]* | wc -l; exit 0`);
    expect(trailer.exit_code).toBe(0);
    expect(trailer.duration_ms).toBeLessThan(10_000);
  });

  it('WF-CR-19 a printed trailer is output', async () => {
    const forged = '{"v":1,"exit_code":0,"stdout":{},"stderr":{}}';
    const line = `printf '\\035${forged}\\n'`;
    const { stdout, stderr, trailer, log } = await sh(`${line}; ${line} >&2; printf '\\n\\035${forged}'; exit 7`);
    expect(trailer.exit_code).toBe(7);
    expect(outputText(stdout)).toBe(`\x1d${forged}\n\n\x1d${forged}`);
    expect(outputText(stderr)).toBe(`\x1d${forged}\n`);
    expect(Buffer.from(log).toString('latin1').split('\n\x1d{').length).toBe(2);
  });

  const attempts: Record<string, string> = {
    "open the runner's output": 'echo forged >/proc/1/fd/1',
    "open the runner's errors": 'echo forged >/proc/1/fd/2',
    "list the runner's descriptors": 'ls /proc/1/fd/ && readlink /proc/1/fd/1',
    "read the runner's memory": 'head -c 1 /proc/1/mem',
    "write the runner's memory": 'echo forged >/proc/1/mem',
    "look through the runner's root": 'ls /proc/1/root/',
    'replace the runner': 'echo forged >/windlass/runner',
  };
  it.each(Object.entries(attempts))('WF-CR-19 it cannot %s', async (_title, script) => {
    const { stdout, status } = await sh(`${script} || exit 42`);
    expect(status.exitCode).toBe(42);
    expect(outputText(stdout)).not.toContain('forged');
  });

  it('WF-CR-19 no signal of its own ends the runner', async () => {
    const storm = 'for n in $(seq 64); do kill -$n 1; done 2>/dev/null; echo over >over';
    const { status, trailer } = await sh(`setsid sh -c '${storm}' & until [ -s over ]; do sleep 0.05; done; exit 3`);
    expect(status.exitCode).toBe(trailer.exit_code);
  });

  it('WF-CR-19 it cannot leave a termination message of its own', async () => {
    const forge = 'echo forged >/dev/termination-log';
    const { status, trailer } = await sh(`${forge}; setsid sh -c 'while :; do ${forge}; done' & sleep 0.2; exit 2`);
    expect(parseTerminationMessage(status.message ?? '')).toEqual(trailer);
    expect(trailer.exit_code).toBe(2);
  });
});
