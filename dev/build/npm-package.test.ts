import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerJson, loopback } from '../../test/builders/loopback.ts';

const run = promisify(execFile);
const project = resolve(import.meta.dirname, '../..');

const program = `
import { createWindlassClient, WindlassApiError } from 'windlass/client';

const client = createWindlassClient({ server: process.argv[2], token: 't' });
const { status } = await client.readHealth();
const refused = await client.readWorkflow({ workflow: 'none' }).catch((error) => error);
console.log(status, refused instanceof WindlassApiError, refused.error);
`;

/** Types that a user of TypeScript relies on; one that is lost in the package would be \`any\` and compile too. */
const typed = `
import { createWindlassClient, type ExecutionEvent } from 'windlass/client';

const client = createWindlassClient({ server: 'https://windlass.example.com' });
const { execution_id } = await client.startExecution({ body: { workflow: 'hello', input: { name: 'Ada' } } });
export const id: string = execution_id;
for await (const { data } of client.streamExecution({ execution_id })) {
  const event: ExecutionEvent = data;
  if ('workflow_execution_failed' in event) console.log(event.workflow_execution_failed.error.toUpperCase());
}
// @ts-expect-error there is no such scope
await client.registerWorkflow({ body: '', scope: 'everywhere' });
// @ts-expect-error the workflow is missing
await client.startExecution({ body: {} });
`;

describe('the npm package', () => {
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windlass-package-'));
    await run(process.execPath, [join(project, 'dev/build/npm-package.ts'), join(folder, 'built')]);
    const { stdout } = await run('npm', ['pack', '--silent', join(folder, 'built')], { cwd: folder });
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    await run('npm', ['install', '--offline', '--silent', join(folder, stdout.trim())], { cwd: folder });
  }, 120_000);

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('needs no other package', async () => {
    const { dependencies } = JSON.parse(await readFile(join(folder, 'built/package.json'), 'utf8')) as {
      dependencies?: object;
    };
    expect(dependencies).toBeUndefined();
  });

  it('brings a client that a plain Node program can use', async () => {
    await using server = await loopback(
      answerJson(200, { status: 'ok' }),
      answerJson(404, { error: 'Workflow not found' }),
    );
    await writeFile(join(folder, 'program.js'), program);
    const { stdout } = await run(process.execPath, ['program.js', server.url], { cwd: folder });
    expect(stdout).toBe('ok true Workflow not found\n');
  });

  it.each(['nodenext', 'bundler'])('brings types that resolve the way of %s', async (resolution) => {
    await writeFile(join(folder, 'typed.ts'), typed);
    const module = resolution === 'bundler' ? 'esnext' : resolution;
    const words = ['--noEmit', '--strict', '--target', 'es2024', '--module', module, '--moduleResolution', resolution];
    const types = ['--types', 'node', '--typeRoots', join(project, 'node_modules/@types')];
    const compiled = run(join(project, 'node_modules/.bin/tsc'), [...words, ...types, 'typed.ts'], { cwd: folder });
    expect(
      await compiled.then(
        ({ stdout }) => stdout,
        (error: unknown) => error,
      ),
    ).toBe('');
  });

  it('brings the command line, under both its names', async () => {
    const bin = join(folder, 'node_modules/.bin');
    expect((await run(join(bin, 'windlass'), ['version', '--client'])).stdout).toMatch(/^windlass \d/);
    expect((await run(join(bin, 'kubectl-windlass'), ['--help'])).stdout).toMatch(/^Usage: kubectl windlass /);
  });
});
