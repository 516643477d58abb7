import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BundledFile, bundle } from './bundle.ts';

const run = promisify(execFile);
const project = resolve(import.meta.dirname, '../..');

/** A program that uses every library whose packaging could break when bundled: CommonJS, workers, code generation. */
const source = `
import { KubeConfig } from '@kubernetes/client-node';
import { Ajv } from 'ajv';
import { Command } from 'commander';
import Handlebars from 'handlebars';
import { pino } from 'pino';
import client from 'prom-client';
import { RE2JS } from 're2js';
import { parse } from 'yaml';

new client.Counter({ name: 'runs', help: 'runs' }).inc();
pino({ redact: ['token'] }).info({ token: 'secret' }, 'log line');
const answers = {
  contexts: new KubeConfig().getContexts().length,
  schema: new Ajv().compile({ type: 'string' })('text'),
  option: new Command().option('--name <name>').parse(['--name', 'x'], { from: 'user' }).opts().name,
  template: Handlebars.compile('{{a}}')({ a: 1 }),
  metrics: (await client.register.metrics()).includes('runs 1'),
  pattern: RE2JS.compile('a+').matcher('aa').matches(),
  yaml: parse('a: 1'),
};
console.log(JSON.stringify(answers));
if (process.argv[2] === 's3') {
  const { S3Client, GetObjectCommand } = await import('@aws-sdk/client-s3');
  const endpoint = 'http://127.0.0.1:1';
  const store = new S3Client({ region: 'us-east-1', endpoint, maxAttempts: 1, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  console.log(await store.send(new GetObjectCommand({ Bucket: 'b', Key: 'k' })).catch((error) => error.code));
}
if (process.argv[2] === 'models') {
  const { OpenAI, AzureOpenAI } = await import('openai');
  const { Anthropic } = await import('@anthropic-ai/sdk');
  const { Ollama } = await import('ollama');
  const settings = { apiKey: 'k', baseURL: 'http://127.0.0.1:1', maxRetries: 0, apiVersion: '1' };
  const question = { model: 'm', max_tokens: 1, messages: [] };
  console.log(await new OpenAI(settings).chat.completions.create(question).catch((error) => error.name));
  console.log(await new AzureOpenAI(settings).chat.completions.create(question).catch((error) => error.name));
  console.log(await new Anthropic(settings).messages.create(question).catch((error) => error.name));
  console.log(await new Ollama({ host: settings.baseURL }).chat(question).catch((error) => error.name));
}
`;

describe('the bundle of the image', () => {
  let folder = '';
  let files: BundledFile[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windlass-bundle-'));
    await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'one.ts'), source);
    await writeFile(join(folder, 'two.ts'), `import { parse } from 'yaml'; console.log(parse('a: 1').a);`);
    files = await bundle({ root: folder, programs: { one: 'one.ts', two: 'two.ts' }, out: join(folder, 'out') });
    // From here on the programs must run on what is in the bundle.
    await rm(join(folder, 'node_modules'));
    await writeFile(join(folder, 'out/package.json'), '{"type":"module"}');
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('runs every library the programs use, without node_modules', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'out/one.js')]);
    const [log, answers] = stdout.trim().split('\n');
    expect(JSON.parse(log ?? '')).toMatchObject({ msg: 'log line', token: '[Redacted]' });
    expect(JSON.parse(answers ?? '')).toEqual({
      contexts: 0,
      schema: true,
      option: 'x',
      template: '1',
      metrics: true,
      pattern: true,
      yaml: { a: 1 },
    });
  });

  it('loads the S3 client on demand only, from a chunk', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'out/one.js'), 's3']);
    expect(stdout).toContain('ECONNREFUSED');
    const entry = files.find((file) => file.name === 'one.js');
    const chunks = files.filter((file) => file.name.startsWith('chunks/'));
    expect(chunks.some((file) => file.bytes > 300_000)).toBe(true);
    expect(entry?.bytes).toBeLessThan(4_000_000);
  });

  it('loads the packages of providers of models on demand only, from chunks', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'out/one.js'), 'models']);
    expect(stdout.trim().split('\n').slice(2)).toEqual(['Error', 'Error', 'APIConnectionError', 'TypeError']);
    const chunks = files.filter((file) => file.name.startsWith('chunks/'));
    for (const name of ['openai', 'sdk']) {
      expect(chunks.some((file) => file.name.startsWith(`chunks/${name}`) && file.bytes > 300_000)).toBe(true);
    }
  });

  it('shares what two programs use', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'out/two.js')]);
    expect(stdout.trim()).toBe('1');
    expect(files.find((file) => file.name === 'two.js')?.bytes).toBeLessThan(10_000);
  });
});
