import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../../cli/exit-codes.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { approveDevice } from '../../../dev/oidc/sign-in.ts';
import { writeYaml } from '../../../lib/manifest/index.ts';
import { anEnd, aQuestion, aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { bundleProgram, type Result, type Running, startProgram } from '../cli/program.ts';
import { failing, greeting, sleeping, slow } from '../cli/workflows.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { type ApiWorld, startApiWorld } from './harness/index.ts';

let main: string;
let world: ApiWorld;
let folder: string;

function start(args: readonly string[], env: NodeJS.ProcessEnv): Running {
  return startProgram(main, args, {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    ...env,
  });
}

/** A way to the same product: each has a tenant of its own, so that neither sees what the other does. */
interface Way {
  readonly tenant: string;
  readonly run: (...args: readonly string[]) => Promise<Result>;
}

let kubernetes: Way;
let http: Way;
let httpEnv: NodeJS.ProcessEnv;

const gate = aWorkflow('gate')
  .with({ output_template: { said: '{{human.feedback}}' } })
  .state('prepare', aScript('echo ready', { next: 'review' }))
  .state('review', aQuestion('Ship it?\nThink.', { yes: 'ship', no: 'drop' }))
  .state('ship', anEnd())
  .state('drop', anEnd())
  .build();

/** Its last step fails at every run; the first one writes something else each time. */
const twoSteps = aWorkflow('two-steps')
  .state('make', aScript('cat /proc/sys/kernel/random/uuid', { next: 'ship' }))
  .state('ship', { ...aScript('exit 3'), transitions: [{ condition: 'on_success', target: 'end' }] })
  .state('end', anEnd())
  .build();

beforeAll(async () => {
  main = await bundleProgram('cli-http');
  folder = await mkdtemp(join(tmpdir(), 'windlass-cli-http-'));
  world = await startApiWorld({ purpose: 'cli-http', replicas: 2 });
  const { tenant, otherTenant, replicas } = world;
  const token = await world.token({ user: 'anna', tenant: otherTenant });
  httpEnv = { WINDLASS_SERVER: replicas[0]?.url, WINDLASS_TOKEN: token };
  kubernetes = {
    tenant,
    run: (...args) => start(['-n', tenant, ...args], { KUBECONFIG: kubeconfigPath() }).result,
  };
  http = { tenant: otherTenant, run: (...args) => start(args, httpEnv).result };
  const texts = {
    all: [greeting, gate, slow, failing, sleeping, twoSteps],
    other: [{ ...greeting, spec: { ...greeting.spec, description: 'Other' } }],
  };
  for (const [name, list] of Object.entries(texts)) {
    await writeFile(join(folder, `${name}.yaml`), list.map((workflow) => writeYaml(workflow)).join('---\n'));
  }
});

afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

type Said = Pick<Result, 'code' | 'stdout' | 'stderr'>;

/** Parts that have to differ: place, user and time. */
function comparable({ code, stdout, stderr }: Result, { tenant }: Way): Said {
  const plain = (text: string): string =>
    text
      // Other tests come and go at global scope, between one answer and the other.
      .replaceAll(/^\S+ +\S+ +global .*\n/gm, '')
      .replaceAll(/^workflow\.windlass\.dev\/(?!(?:failing|gate|hello|sleeping|slow)$).*\n/gm, '')
      .replaceAll(new RegExp(` (-n|--namespace) ${tenant}`, 'g'), '')
      .replaceAll(`\n  namespace: ${tenant}`, '')
      .replaceAll(
        new RegExp(`in namespace ${tenant}( or windlass-global)?|in your tenant( or at global scope)?`, 'g'),
        'HERE',
      )
      .replaceAll(new RegExp(`in ${tenant}|at tenant scope`, 'g'), 'HERE')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b(\d+h)?(\d+m)?\d+(\.\d)?s\b/g, 'SPAN')
      .replaceAll(/\b(admin|anna)\b/g, 'WHO')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
      .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-SUFFIX')
      .replaceAll(/ +/g, ' ');
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

/** Both ways at once; the same is to be seen in what they say of it, which is what they said. */
async function alikeIn(view: (said: Said) => unknown, args: readonly string[]): Promise<Said> {
  const [first, second] = await Promise.all([kubernetes.run(...args), http.run(...args)]);
  const wanted = comparable(first, kubernetes);
  expect(view(comparable(second, http))).toEqual(view(wanted));
  return wanted;
}

const alike = (...args: readonly string[]): Promise<Said> => alikeIn((said) => said, args);

/** Lines of parallel steps come in the order in which their pods wrote them, which differs from run to run. */
function withStepsInAnyOrder({ stdout, ...said }: Said): unknown {
  const stepLine = /(?:left|right) \| .*\n/g;
  return { ...said, stdout: stdout.replaceAll(stepLine, ''), steps: (stdout.match(stepLine) ?? []).toSorted() };
}

const file = (name: string): string => join(folder, `${name}.yaml`);

describe('a command through Kubernetes and through the HTTP API', () => {
  it('WF-API-01 WF-API-11 registers, and says the same of it', async () => {
    expect(await alike('workflow', 'register', file('all'), '--wait')).toMatchObject({ code: exitCodes.ok });
    expect((await alike('workflow', 'register', file('all'))).stdout).toContain('hello 1.0.0 unchanged HERE');
    expect(await alike('workflow', 'register', file('other'))).toMatchObject({
      code: exitCodes.conflict,
      stderr: expect.stringContaining("version 1.0.0 of workflow 'hello' exists with other content"),
    });
    expect((await alike('workflow', 'register', file('other'), '--force')).stdout).toContain('updated');
    expect((await alike('workflow', 'register', file('all'), '--force', '-o', 'name')).code).toBe(exitCodes.ok);
  });

  it('AMB-016 shows definitions', async () => {
    expect((await alike('workflow', 'list')).stdout).toMatch(/hello 1\.0\.0 tenant True/);
    await alike('workflow', 'list', '-o', 'name');
    expect((await alike('workflow', 'get', 'hello')).stdout).toContain('description: Greets');
    expect((await alike('workflow', 'versions', 'hello', '-o', 'name')).stdout).toBe('1.0.0\n');
    expect((await alike('workflow', 'get', 'nothing')).code).toBe(exitCodes.not_found);
    expect((await alike('workflow', 'get', 'hello', '--version', '9.9.9')).code).toBe(exitCodes.not_found);
  });

  it('AMB-088 AMB-056 runs to the end, and refuses input that does not fit', async () => {
    expect(await alike('run', 'hello', '--input', 'name=Ada', '--wait')).toMatchObject({
      code: exitCodes.ok,
      stdout: '{\n "greeting": "Hello, Ada!"\n}\n',
    });
    expect((await alike('run', 'hello', '--input', 'nme=Ada')).code).toBe(exitCodes.usage);
    expect((await alike('run', 'nothing')).code).toBe(exitCodes.not_found);
    expect((await alike('run', 'failing', '--name', 'broken', '--wait')).code).toBe(exitCodes.failed);
    expect((await alike('run', 'failing', '--name', 'broken')).code).toBe(exitCodes.conflict);
    expect((await alike('get', 'broken')).stdout).toMatch(/✘ break.*exit 3/);
  });

  it('AMB-035 follows a run to its question, answers it, and follows it to its end', async () => {
    await alike('run', 'gate', '--name', 'gate-1');
    expect((await alike('wait', 'gate-1', '--for', 'waiting')).stdout).toBe('gate-1 is waiting\n');
    const [gate] = JSON.parse((await http.run('approvals', '-o', 'json')).stdout) as { execution_id: string }[];
    expect((await http.run('wait', gate?.execution_id ?? '', '--for', 'waiting')).stdout).toMatch(
      /^gate-1 is waiting\n/,
    );
    const shown = await alike('get', 'gate-1');
    expect(shown.stdout).toContain('Ship it?\n');
    expect(shown.stdout).toContain('windlass approve gate-1\n');
    expect((await alike('approvals')).stdout).toMatch(/gate-1 review SPAN Ship it\? ⏎ Think\./);
    expect((await alike('approvals', '-o', 'name')).stdout).toBe('gate-1\n');
    expect((await alike('approve', 'gate-1', '--state', 'other')).code).toBe(exitCodes.conflict);
    expect((await alike('reject', 'gate-1', '--reason', ' ')).code).toBe(exitCodes.usage);
    expect((await alike('approve', 'gate-1', '--feedback', 'nice')).stdout).toBe(
      "gate-1: 'review' answered approved as WHO\n",
    );
    const end = await alike('get', 'gate-1', '--watch');
    expect(end.stdout).toContain('"said": "nice"');
    expect((await alike('approve', 'gate-1')).code).toBe(exitCodes.conflict);
    expect((await alike('approvals')).stderr).toBe('nothing waits for a decision HERE\n');
    expect((await alike('get', 'gate-1')).stdout).toContain('approved by WHO');
  });

  it('shows what commands wrote, while they write and afterwards', async () => {
    await alike('run', 'slow', '--name', 'slow-1');
    const followed = await alikeIn(withStepsInAnyOrder, ['logs', 'slow-1', '-f']);
    expect(followed.stdout).toContain('line 1\nline 2\nline 3\nline 4\nno newline');
    expect(followed.stdout).toContain('left | from the left\n');
    expect((await alike('logs', 'slow-1', 'both', '--step', 'right')).stdout).toBe('from the right\n');
    expect((await alike('logs', 'slow-1')).stderr).toContain('==> both step left <==');
    expect((await alike('logs', 'slow-1', 'nope')).code).toBe(exitCodes.not_found);
  });

  it('cancels, once', async () => {
    await alike('run', 'sleeping', '--name', 'sleeping-1');
    await alike('wait', 'sleeping-1', '--for', 'running');
    expect((await alike('cancel', 'sleeping-1', '--reason', 'wrong branch')).stdout).toBe('sleeping-1 cancelled\n');
    expect((await alike('wait', 'sleeping-1')).code).toBe(exitCodes.cancelled);
    expect((await alike('cancel', 'sleeping-1')).stdout).toBe('sleeping-1 was already cancelled by WHO at TIME\n');
    expect((await alike('cancel', 'gate-1')).code).toBe(exitCodes.conflict);
  });

  it('lists, narrows the list, and knows what is not there', async () => {
    for (const phase of ['completed', 'failed', 'cancelled', 'waiting'])
      await alike('list', '--phase', phase, '--workflow', 'gate');
    expect((await alike('list', '--phase', 'failed', '-o', 'name')).stdout).toBe(
      'workflowexecution.windlass.dev/broken\n',
    );
    expect((await alike('list', '--workflow', 'sleeping')).stdout).toMatch(
      /sleeping-1 sleeping cancelled False sleep 0/,
    );
    expect((await alike('get', 'nothing')).code).toBe(exitCodes.not_found);
    expect((await alike('logs', 'nothing')).code).toBe(exitCodes.not_found);
  });

  it('gives scripts the same fields', async () => {
    const fields = ({ stdout }: Result): unknown => {
      const { kind, metadata, spec, status } = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
      const { phase, final_output, transitions, state } = status ?? {};
      return { kind, name: metadata?.['name'], workflow: spec?.['workflow'], phase, final_output, transitions, state };
    };
    const [first, second] = await Promise.all([
      kubernetes.run('get', 'gate-1', '-o', 'json', '--full'),
      http.run('get', 'gate-1', '-o', 'json', '--full'),
    ]);
    expect(fields(second)).toEqual(fields(first));
  });

  it('deletes a definition', async () => {
    expect((await alike('workflow', 'delete', 'failing')).stdout).toBe('workflow failing deleted\n');
    expect((await alike('workflow', 'delete', 'failing')).code).toBe(exitCodes.not_found);
  });
});

describe('windlass over HTTP', () => {
  it('WF-API-13 moves a workflow between scopes, for whom may', async () => {
    const operator = await world.token({ user: 'olga', tenant: http.tenant, roles: ['svc:operator'] });
    const run = (...args: string[]) => start(args, { ...httpEnv, WINDLASS_TOKEN: operator }).result;
    expect((await http.run('workflow', 'demote', 'sleeping', '--to', 'user')).code).toBe(exitCodes.cluster);
    expect((await run('workflow', 'demote', 'sleeping', '--to', 'user')).stdout).toBe(
      'workflow sleeping 1.0.0 is now at user scope\n',
    );
    expect((await http.run('workflow', 'get', 'sleeping')).code).toBe(exitCodes.not_found);
    expect((await run('workflow', 'promote', 'sleeping', '--to', 'tenant')).code).toBe(exitCodes.ok);
    expect((await kubernetes.run('workflow', 'promote', 'sleeping')).code).toBe(exitCodes.usage);
  });

  it('keeps watching when the replica is killed and comes back', async () => {
    await http.run('run', 'gate', '--name', 'survivor');
    const watching = start(['get', 'survivor', '--watch'], httpEnv);
    expect((await http.run('wait', 'survivor', '--for', 'waiting')).code).toBe(exitCodes.ok);
    const [replica] = world.replicas;
    await replica?.kill();
    await replica?.start();
    expect((await http.run('approve', 'survivor')).code).toBe(exitCodes.ok);
    const { code, stdout } = await watching.result;
    expect(code).toBe(exitCodes.ok);
    expect(stdout.match(/survivor completed/g)).toHaveLength(1);
    expect(stdout.match(/review waits for/g)).toHaveLength(1);
  });

  it('Ctrl-C leaves a watched execution running, and says how to come back the same way', async () => {
    const server = world.replicas[0]?.url ?? '';
    const env = { WINDLASS_TOKEN: httpEnv.WINDLASS_TOKEN };
    const watching = start(['--server', server, 'run', 'sleeping', '--name', 'left', '--watch'], env);
    watching.child.stdout?.once('data', () => watching.child.kill('SIGINT'));
    const { code, stderr } = await watching.result;
    expect(code).toBe(exitCodes.interrupted);
    expect(stderr).toContain(`windlass get left --watch --server ${server}`);
    expect((await http.run('cancel', 'left')).code).toBe(exitCodes.ok);
  });

  it('STIM-08 STIM-09 hands a stimulus to the API, which Kubernetes knows nothing of', async () => {
    expect(await http.run('stimulus', 'send', 'the page is down', '--source', 'nobody')).toMatchObject({
      code: exitCodes.not_found,
      stderr: expect.stringContaining("no StimulusRouter routes the source 'nobody'"),
    });
    expect((await kubernetes.run('stimulus', 'send', 'x')).stderr).toContain('only the API takes stimuli');
  });

  it('names commands that need rights in the cluster', async () => {
    expect(await http.run('tenant', 'list')).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining('needs rights in the cluster'),
    });
    expect(await http.run('list', '-A')).toMatchObject({ code: exitCodes.usage });
    expect(await http.run('-n', 'x', '--server', 'http://127.0.0.1:1', 'list')).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining('--server and --namespace exclude each other'),
    });
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    ['no token', { WINDLASS_TOKEN: '' }, /not logged in to .*\nLog in: windlass login/],
    [
      'a token that is none',
      { WINDLASS_TOKEN: 'nonsense' },
      /error: send a valid token, or a valid signature\nHas the token expired/,
    ],
    ['no server', { WINDLASS_SERVER: 'http://127.0.0.1:9' }, /error: http:\/\/127\.0\.0\.1:9 cannot be reached/],
  ])('with %s ends with a sentence and a hint', async (_, env, want) => {
    const { code, stderr } = await start(['list'], { ...httpEnv, ...env }).result;
    expect(code).toBe(exitCodes.cluster);
    expect(stderr).toMatch(want);
  });

  it('ORCH-AUTH-08 works for the tenant that a service account names', async () => {
    const token = await world.token({ serviceAccount: 'ci' });
    const own = { ...httpEnv, WINDLASS_TOKEN: token };
    const { stdout } = await start(['--tenant', http.tenant, 'list', '--phase', 'failed', '-o', 'name'], own).result;
    expect(stdout).toContain('broken');
    expect((await start(['list', '-o', 'name'], own).result).stdout).not.toContain('broken');
    expect((await start(['list', '-o', 'name'], { ...own, WINDLASS_TENANT: http.tenant }).result).stdout).toContain(
      'broken',
    );
  });
});

describe('windlass login', () => {
  const waitFor = async (said: () => string, pattern: RegExp): Promise<string> => {
    for (let attempt = 0; attempt < 200; attempt++) {
      const found = pattern.exec(said())?.[1];
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`nothing like ${pattern.source} in: ${said()}`);
  };

  it('logs a user in by a code, for every command after it, until they log out', async () => {
    const server = world.replicas[1]?.url ?? '';
    const env = { WINDLASS_SERVER: server };
    const login = start(['login'], env);
    const link = await waitFor(login.said, /^Open (\S+)$/m);
    const code = await waitFor(login.said, /The code is (\S+),/);
    expect(code).toMatch(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/);
    await approveDevice(link, { name: 'anna', tenant: http.tenant });
    expect(await login.result).toMatchObject({ code: 0, stdout: `logged in to ${server} as anna\n` });

    const logins = join(folder, 'config/windlass/logins');
    const [kept = ''] = await readdir(logins);
    expect(((await stat(join(logins, kept))).mode & 0o777).toString(8)).toBe('600');
    expect((await start(['whoami', '-o', 'name'], env).result).stdout).toBe('anna\n');
    expect((await start(['list', '--phase', 'failed', '-o', 'name'], env).result).stdout).toContain('broken');

    // A token that has ended is renewed without a word.
    const old = JSON.parse(await readFile(join(logins, kept), 'utf8')) as { accessToken: string };
    await writeFile(join(logins, kept), JSON.stringify({ ...old, expiresAt: '2020-01-01T00:00:00Z' }));
    expect(await start(['whoami', '-o', 'name'], env).result).toMatchObject({ code: 0, stderr: '' });
    const renewed = JSON.parse(await readFile(join(logins, kept), 'utf8')) as { accessToken: string };
    expect(renewed.accessToken).not.toBe(old.accessToken);

    expect((await start(['logout'], env).result).stdout).toBe(`logged out of ${server}\n`);
    // The file that it was locked by stays: another process may be waiting for it.
    expect((await readdir(logins)).filter((name) => !name.endsWith('.lock'))).toEqual([]);
    expect((await start(['list'], env).result).code).toBe(exitCodes.cluster);
  });

  it('warns of a login that the server does not take', async () => {
    const server = world.replicas[1]?.url ?? '';
    const login = start(['login', '--server', server], {});
    await approveDevice(await waitFor(login.said, /^Open (\S+)$/m), { name: 'nobody' });
    const { code, stderr } = await login.result;
    expect(code).toBe(0);
    expect(stderr).toContain(`warning: ${server} does not take this login`);
  });

  it('ends at Ctrl-C, without a login', async () => {
    const server = world.replicas[0]?.url ?? '';
    const login = start(['login', '--server', server], {});
    await waitFor(login.said, /^Open (\S+)$/m);
    login.child.kill('SIGINT');
    expect(await login.result).toMatchObject({
      code: exitCodes.interrupted,
      stderr: expect.stringContaining('not logged in'),
    });
    expect((await start(['--server', server, 'list'], {}).result).stderr).toContain('not logged in');
  });
});

describe('running an execution again, by both ways', () => {
  const wayOf = (name: string): Way => (name === 'http' ? http : kubernetes);
  const read = async ({ run }: Way, name: string) =>
    JSON.parse((await run('get', name, '-o', 'json', '--full')).stdout) as WorkflowExecution;
  const made = ({ status }: WorkflowExecution) => JSON.stringify(status?.blackboard?.['make']?.value);

  it.each(['kubernetes', 'http'])('rerun, retry --from and delete: %s', async (name) => {
    const way = wayOf(name);
    expect((await way.run('workflow', 'register', join(folder, 'all.yaml'))).code).toBe(exitCodes.ok);
    expect((await way.run('run', 'two-steps', '--name', 'old', '--wait')).code).toBe(exitCodes.failed);
    expect((await way.run('rerun', 'old', '--name', 'anew', '--wait')).code).toBe(exitCodes.failed);
    expect((await way.run('retry', 'old', '--from', 'ship', '--name', 'later', '--wait')).code).toBe(exitCodes.failed);
    const [old, anew, later] = await Promise.all(['old', 'anew', 'later'].map((one) => read(way, one)));
    expect(later?.status?.history?.map(({ state }) => state)).toEqual(['ship']);
    expect(anew?.status?.history?.map(({ state }) => state)).toEqual(['make', 'ship']);
    expect(made(later as WorkflowExecution)).toBe(made(old as WorkflowExecution));
    expect(made(anew as WorkflowExecution)).not.toBe(made(old as WorkflowExecution));
    const unknown = await way.run('retry', 'old', '--from', 'end');
    expect([unknown.code, unknown.stderr]).toEqual([
      exitCodes.usage,
      expect.stringContaining("never entered state 'end'"),
    ]);
    const choice = await way.run('retry', 'old');
    expect([choice.code, choice.stderr]).toEqual([
      exitCodes.usage,
      expect.stringMatching(/make +success.*\n +ship +failed.*\nRun it from ship: windlass retry old --from ship/),
    ]);
    expect((await way.run('delete', 'anew', 'later')).code).toBe(exitCodes.ok);
    expect((await way.run('delete', 'old', 'no-such')).code).toBe(exitCodes.not_found);
    expect((await way.run('get', 'old')).code).toBe(exitCodes.ok);
    expect((await way.run('get', 'anew')).code).toBe(exitCodes.not_found);
  });

  it.each(['kubernetes', 'http'])('rerun with another input is judged as a start: %s', async (name) => {
    const way = wayOf(name);
    expect((await way.run('run', 'hello', '--input', 'name=Ada', '--name', 'first', '--wait')).code).toBe(exitCodes.ok);
    const wrong = await way.run('rerun', 'first', '--input', 'name=5');
    expect([wrong.code, wrong.stderr]).toEqual([exitCodes.usage, expect.stringContaining('input.name')]);
    const other = await way.run('rerun', 'first', '--input', 'name=Kim', '--name', 'second', '--wait');
    expect([other.code, other.stdout]).toEqual([exitCodes.ok, expect.stringContaining('Hello, Kim!')]);
    const second = await read(way, 'second');
    expect([second.spec.input, second.spec.origin]).toEqual([{ name: 'Kim' }, undefined]);
  });

  it('the origin names what runs it again, and the other way round', async () => {
    const { stdout } = await kubernetes.run(
      'retry',
      'old',
      '--from',
      'ship',
      '--name',
      'again',
      '--wait',
      '-o',
      'json',
    );
    const again = JSON.parse(stdout) as WorkflowExecution;
    const old = await read(kubernetes, 'old');
    expect(again.spec.origin).toEqual({ name: 'old', uid: old.metadata.uid, from: 'ship' });
    expect(old.status?.successors).toContainEqual({ name: 'again', uid: again.metadata.uid });
  });
});
