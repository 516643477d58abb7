import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../cli/exit-codes.ts';
import { writeYaml } from '../../lib/manifest/index.ts';
import { anEnd, aQuestion, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { bundleProgram, type Result, type Running, startProgram } from './cli/program.ts';
import { failing, greeting, sleeping, slow } from './cli/workflows.ts';
import { kubeconfigPath } from './harness/cluster.ts';
import { waitUntilWaiting } from './harness/executions.ts';
import { workflowExecutions, workflows } from './harness/kinds.ts';
import { type UsedControllers, useControllers } from './harness/used-controllers.ts';

let main: string;
let used: UsedControllers;
let folder: string;

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}, input?: string): Running =>
  startProgram(main, ['-n', used.namespace, ...args], { ...process.env, KUBECONFIG: kubeconfigPath(), ...env }, input);
const windlass = (...args: readonly string[]): Promise<Result> => start(args).result;
const windlassWith = (input: string, ...args: readonly string[]): Promise<Result> => start(args, {}, input).result;

/** Starts a workflow and gives the name of the execution. */
async function runNamed(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await windlass('run', ...args, '-o', 'name');
  expect(stderr).toBe('');
  return stdout.trim().replace('workflowexecution.windlass.dev/', '');
}

const gate = aWorkflow('gate')
  .with({ output_template: { said: '{{human.feedback}}' } })
  .state('review', aQuestion('Ship it?', { yes: 'ship', no: 'drop' }))
  .state('ship', anEnd())
  .state('drop', anEnd())
  .build();

beforeAll(async () => {
  main = await bundleProgram('cli');
  used = await useControllers('cli');
  folder = await mkdtemp(join(tmpdir(), 'windlass-cli-'));
  const text = [greeting, gate, failing, slow, sleeping].map((workflow) => writeYaml(workflow)).join('---\n');
  const { code, stderr } = await windlassWith(text, 'workflow', 'register', '-', '--wait');
  if (code !== exitCodes.ok) throw new Error(`the workflows of the test were not registered: ${stderr}`);
});

afterAll(async () => {
  await used?.release();
  await rm(folder, { recursive: true, force: true });
});

describe('windlass workflow', () => {
  const versioned = (version: string, description: string) =>
    writeYaml(aWorkflow('cli-versions').with({ version, description }).state('end', anEnd()).build());
  const register = (text: string, ...more: string[]) =>
    windlassWith(text, 'workflow', 'register', '-', '--wait', ...more);

  it('WF-API-11 registers a version once: same content is no change, other content is refused unless forced', async () => {
    expect((await register(versioned('1.0.0', 'first'))).stdout).toContain('created');
    expect((await register(versioned('1.0.0', 'first'))).stdout).toContain('unchanged');
    expect(await register(versioned('1.0.0', 'second'))).toMatchObject({
      code: exitCodes.conflict,
      stderr: expect.stringContaining('exists with other content'),
    });
    expect((await register(versioned('1.1.0', 'third'))).stdout).toContain('updated');
    expect(await register(versioned('1.0.0', 'second'))).toMatchObject({ code: exitCodes.conflict });
    expect((await register(versioned('1.0.0', 'second'), '--force')).stdout).toContain('updated');
    const { stdout } = await windlass('workflow', 'versions', 'cli-versions', '-o', 'name');
    expect(stdout.trim().split('\n').toSorted()).toEqual(['1.0.0', '1.1.0']);
    const third = await windlass('workflow', 'get', 'cli-versions', '--version', '1.1.0', '-o', 'json');
    expect(JSON.parse(third.stdout)).toMatchObject({ spec: { version: '1.1.0', description: 'third' } });
  });

  it('WF-MAN-01 writes nothing when one of several workflows has a problem, and says where', async () => {
    const good = writeYaml(aWorkflow('cli-good').state('end', anEnd()).build());
    const bad = writeYaml(aWorkflow('cli-bad').state('end', anEnd()).build()).replace(
      'initial_state: end',
      'initial_state: gone',
    );
    const { code, stdout, stderr } = await register(`${good}---\n${bad}`);
    expect({ code, stdout }).toEqual({ code: exitCodes.failed, stdout: '' });
    expect(stderr).toMatch(/^<stdin>:\d+:3 spec\.initial_state: /m);
    const { items } = await used.kube.listAll(workflows, { namespace: used.namespace });
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('cli-good');
  });

  it('AMB-060 converts to the manifest and back without loss, and registers either form as the same', async () => {
    const resource = writeYaml(greeting);
    const manifest = await windlassWith(resource, 'convert', '-');
    expect(manifest.stdout).toMatch(/^metadata:\n {2}name: hello\n {2}version: 1\.0\.0$/m);
    expect((await windlassWith(manifest.stdout, 'convert', '-')).stdout).toBe(resource);
    expect((await register(manifest.stdout)).stdout).toContain('unchanged');
  });

  it('WF-API-12 lists global workflows beside those of the namespace', async () => {
    const text = writeYaml(aWorkflow('cli-global').state('end', anEnd()).build());
    expect(await register(text, '--scope', 'global')).toMatchObject({ code: exitCodes.ok });
    const listed = await windlass('workflow', 'list');
    expect(listed.stdout).toMatch(/^cli-global +1\.0\.0 +global/m);
    expect(listed.stdout).toMatch(/^hello +1\.0\.0 +tenant/m);
    expect(await windlass('run', 'cli-global', '--wait')).toMatchObject({ code: exitCodes.ok });
    await used.kube.delete(workflows, { namespace: 'windlass-global', name: 'cli-global' });
  });
});

describe('windlass run', () => {
  it('AMB-088 runs to the end and prints the final output as JSON', async () => {
    const { code, stdout } = await windlass('run', 'hello', '--input', 'name=Ada', '--wait');
    expect({ code, output: JSON.parse(stdout) as unknown }).toEqual({ code: 0, output: { greeting: 'Hello, Ada!' } });
  });

  it('WF-API-09 refuses input that does not fit with every path, and creates nothing', async () => {
    const before = (await used.kube.listAll(workflowExecutions, { namespace: used.namespace })).items.length;
    const { code, stderr } = await windlass('run', 'hello', '--input', 'nme=Ada');
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain('input.nme: ');
    expect(stderr).toContain('input.name: ');
    const after = (await used.kube.listAll(workflowExecutions, { namespace: used.namespace })).items.length;
    expect(after).toBe(before);
  });

  it('takes input from a file, laid over by pairs, and seeds intent and Blackboard', async () => {
    const file = join(folder, 'input.yaml');
    await writeFile(file, 'name: Grace\n');
    const name = await runNamed(
      'hello',
      '--input-file',
      file,
      '--input',
      'name=Joan',
      '--intent',
      'greet',
      '--blackboard',
      'n=3',
    );
    const { spec } = await used.kube.get(workflowExecutions, { namespace: used.namespace, name });
    expect(spec).toMatchObject({ input: { name: 'Joan' }, intent: 'greet', blackboard: { n: 3 } });
  });

  it('--watch appends plain lines in a pipe; a failed execution ends with its own exit code', async () => {
    const { code, stdout, stderr } = await windlass('run', 'failing', '--watch');
    expect(code).toBe(exitCodes.failed);
    expect(stdout).toMatch(/break \(ContainerRun\) started\n.*break failed after [\d.]+s, exit 3/);
    expect(stdout).not.toContain('\u001b');
    expect(stderr).toContain('windlass logs failing-');
  });

  it('names what is not there', async () => {
    expect(await windlass('run', 'cli-nothing')).toMatchObject({ code: exitCodes.not_found });
    expect(await windlass('run', 'hello', '--version', '9.9.9')).toMatchObject({
      code: exitCodes.not_found,
      stderr: expect.stringContaining('It has: 1.0.0.'),
    });
  });
});

describe('windlass approve, reject, signal', () => {
  const waitingExecution = async (): Promise<string> => {
    const name = await runNamed('gate');
    await waitUntilWaiting(used.kube, { namespace: used.namespace, name, state: 'review' });
    return name;
  };

  it.each([
    { args: ['approve'], response: 'approved', target: 'ship', said: 'approved' },
    { args: ['approve', '--feedback', 'nice'], response: 'approved', target: 'ship', said: 'nice' },
    { args: ['reject', '--reason', 'not yet'], response: 'rejected', target: 'drop', said: 'not yet' },
    { args: ['signal', '--response', 'yes'], response: 'yes', target: 'ship', said: 'yes' },
  ])('AMB-035 $args', async ({ args: [verb = '', ...options], response, target, said }) => {
    const name = await waitingExecution();
    expect(await windlass(verb, name, ...options)).toMatchObject({ code: exitCodes.ok });
    expect(await windlass('wait', name, '--timeout', '30s')).toMatchObject({ code: exitCodes.ok });
    const { spec, status } = await used.kube.get(workflowExecutions, { namespace: used.namespace, name });
    const { username } = await used.kube.whoAmI();
    expect(spec.signals).toEqual([expect.objectContaining({ id: 'review-1', response, by: username, via: 'cli' })]);
    expect({ state: status?.state, output: status?.final_output }).toEqual({ state: target, output: { said } });
  });

  it('AMB-035 of decisions at the same time exactly one wins, and the others learn who did', async () => {
    const name = await waitingExecution();
    const results = await Promise.all([
      windlass('approve', name),
      windlass('reject', name, '--reason', 'no'),
      windlass('signal', name, '--response', 'yes'),
    ]);
    expect(results.filter(({ code }) => code === exitCodes.ok)).toHaveLength(1);
    const { username } = await used.kube.whoAmI();
    const refused = results.filter(({ code, stderr }) => code === exitCodes.conflict && stderr.includes(username));
    expect(refused).toHaveLength(2);
    const { spec } = await used.kube.get(workflowExecutions, { namespace: used.namespace, name });
    expect(spec.signals).toHaveLength(1);
  });

  it('AMB-035 an answer that is empty is refused before it is given', async () => {
    const refused = { code: exitCodes.usage, stderr: expect.stringMatching(/^error: --(response|reason) is empty/) };
    expect(await windlass('signal', 'gate-1', '--response', '')).toMatchObject(refused);
    expect(await windlass('reject', 'gate-1', '--reason', ' ')).toMatchObject(refused);
  });

  it('a decision that no state waits for is refused with phase and state', async () => {
    const name = await runNamed('hello', '--input', 'name=x');
    await windlass('wait', name);
    expect(await windlass('approve', name)).toMatchObject({
      code: exitCodes.conflict,
      stderr: expect.stringContaining("it is completed in state 'greet'"),
    });
    const waiting = await waitingExecution();
    expect(await windlass('approve', waiting, '--state', 'other')).toMatchObject({ code: exitCodes.conflict });
    await windlass('cancel', waiting);
  });
});

describe('windlass wait and cancel', () => {
  it('wait ends in a timeout, at a phase, or as the execution does; cancel is recorded', async () => {
    const name = await runNamed('sleeping');
    expect(await windlass('wait', name, '--for', 'running', '--timeout', '30s')).toMatchObject({ code: exitCodes.ok });
    expect(await windlass('wait', name, '--timeout', '200ms')).toMatchObject({ code: exitCodes.timeout });
    expect(await windlass('cancel', name, '--reason', 'enough')).toMatchObject({ code: exitCodes.ok });
    expect(await windlass('wait', name, '--timeout', '30s')).toMatchObject({ code: exitCodes.cancelled });
    expect(await windlass('wait', name, '--for', 'cancelled')).toMatchObject({ code: exitCodes.ok });
    expect(await windlass('cancel', name)).toMatchObject({ code: exitCodes.ok });
    const { spec } = await used.kube.get(workflowExecutions, { namespace: used.namespace, name });
    const { username } = await used.kube.whoAmI();
    expect(spec.cancel).toMatchObject({ by: username, reason: 'enough' });
  });

  it('Ctrl-C leaves a watched execution running and says how to come back', async () => {
    const name = await runNamed('sleeping');
    const { child, result } = start(['get', name, '--watch']);
    await once(child.stdout ?? child, 'data');
    child.kill('SIGINT');
    expect(await result).toMatchObject({
      code: exitCodes.interrupted,
      stderr: expect.stringContaining(`windlass get ${name} --watch`),
    });
    const { status, spec } = await used.kube.get(workflowExecutions, { namespace: used.namespace, name });
    expect(['pending', 'running']).toContain(status?.phase ?? 'pending');
    expect(spec.cancel).toBeUndefined();
    await windlass('cancel', name);
  });
});

describe('windlass logs', () => {
  it('follows a running execution to its end, and shows the same when the pods are gone', async () => {
    const name = await runNamed('slow');
    const followed = await windlass('logs', name, '-f');
    const lines = ['line 1', 'line 2', 'line 3', 'line 4'].map((line) => `${line}\n`).join('');
    expect(followed).toMatchObject({ code: exitCodes.ok, stdout: expect.stringContaining(`${lines}no newline`) });
    expect(followed.stdout).toContain('left | from the left\n');
    expect(followed.stdout).toContain('right | from the right\n');
    await windlass('wait', name);
    expect((await windlass('logs', name, 'count', '--stdout')).bytes).toEqual(Buffer.from(`${lines}no newline`));
    expect((await windlass('logs', name, 'both', '--step', 'left')).stdout).toBe('from the left\n');
  });

  it('keeps the streams apart, and gives a large one back byte for byte', async () => {
    const script =
      'i=0; while [ $i -lt 400 ]; do echo "line $i of a long output"; i=$((i+1)); done; printf end; echo aside >&2';
    const text = writeYaml(aWorkflow('cli-large').state('write', aScript(script)).build());
    await windlassWith(text, 'workflow', 'register', '-', '--wait');
    const name = await runNamed('cli-large');
    await windlass('wait', name);
    const expected = `${Array.from({ length: 400 }, (_, i) => `line ${i} of a long output\n`).join('')}end`;
    const { bytes, stderr } = await windlass('logs', name, 'write', '--stdout');
    expect({ text: bytes.toString(), stderr }).toEqual({ text: expected, stderr: '' });
    expect((await windlass('logs', name, '--stderr')).stdout).toBe('aside\n');
    const both = await windlass('logs', name);
    expect({ out: both.stdout, err: both.stderr }).toEqual({ out: expected, err: 'aside\n' });
  });

  it('names the logs there are when none fits', async () => {
    const name = await runNamed('hello', '--input', 'name=x');
    await windlass('wait', name);
    expect(await windlass('logs', name, 'nope')).toMatchObject({
      code: exitCodes.not_found,
      stderr: expect.stringContaining('There are: greet.'),
    });
  });
});

describe('windlass get and list', () => {
  it('finds an execution by name and by uid, in every format', async () => {
    const name = await runNamed('hello', '--input', 'name=x');
    await windlass('wait', name);
    const { stdout } = await windlass('get', name, '-o', 'json', '--full');
    const object = JSON.parse(stdout) as { metadata: { uid: string; managedFields?: unknown } };
    expect(object).toMatchObject({
      status: { blackboard: { greet: { value: { output: { stdout: 'Hello, x!\n' } } } } },
    });
    expect(object.metadata.managedFields).toBeUndefined();
    expect((await windlass('get', object.metadata.uid, '-o', 'name')).stdout.trim()).toBe(
      `workflowexecution.windlass.dev/${name}`,
    );
    expect((await windlass('get', name)).stdout).toMatch(/✔ greet +ContainerRun +[\d.]+s +exit 0/);
    expect((await windlass('list', '--workflow', 'hello', '--phase', 'completed')).stdout).toContain(name);
    expect((await windlass('list', '--phase', 'waiting', '-o', 'name')).stdout).not.toContain(name);
    expect(await windlass('get', 'cli-nothing')).toMatchObject({ code: exitCodes.not_found });
  });

  it('draws in place in a terminal, and leaves the cursor visible', async () => {
    const name = await runNamed('slow');
    const command = `${process.execPath} ${main} -n ${used.namespace} get ${name} --watch`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, KUBECONFIG: kubeconfigPath(), TERM: 'xterm', COLUMNS: '100' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(exitCodes.ok);
    expect(shown).toContain('\u001b[?25l');
    expect(shown.lastIndexOf('\u001b[?25h')).toBeGreaterThan(shown.lastIndexOf('\u001b[?25l'));
    // Back over the head line and the line of the first visit.
    expect(shown).toContain('\u001b[2A');
    expect(shown).toContain('completed');
  });
});

describe('windlass without a cluster', () => {
  it.each([
    ['no server', 'https://127.0.0.1:1', /cannot be reached/],
    ['a name that does not resolve', 'https://windlass.invalid', /cannot be reached/],
  ])('%s', async (_title, server, want) => {
    const file = join(folder, 'kubeconfig');
    const context = {
      clusters: [{ name: 'c', cluster: { server } }],
      contexts: [{ name: 'x', context: { cluster: 'c' } }],
    };
    await writeFile(file, JSON.stringify({ ...context, 'current-context': 'x' }));
    const { code, stderr } = await windlass('list', '--kubeconfig', file);
    expect(code).toBe(exitCodes.cluster);
    expect(stderr).toMatch(want);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it('a kubeconfig that is not there is named', async () => {
    const { code, stderr } = await windlass('list', '--kubeconfig', join(folder, 'missing'));
    expect({ code, stderr }).toEqual({
      code: exitCodes.cluster,
      stderr: expect.stringContaining('missing cannot be read'),
    });
  });

  it('help, completion and a wrong command line need none', async () => {
    const nowhere = { KUBECONFIG: join(folder, 'missing') };
    expect(await start(['--help'], nowhere).result).toMatchObject({ code: exitCodes.ok });
    expect(await start(['completion', 'bash'], nowhere).result).toMatchObject({ code: exitCodes.ok });
    expect(await start(['__complete', '--', 'wor'], nowhere).result).toMatchObject({ stdout: 'workflow\n' });
    expect(await start(['lst'], nowhere).result).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringMatching(/^error: unknown command 'lst'\n\(Did you mean .*list.*\)\nSee windlass --help/),
    });
    expect(await start(['reject', 'x'], nowhere).result).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining("required option '--reason <text>'"),
    });
  });
});
