import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signPayload } from '../../../lib/envelope/sign-envelope.ts';
import { busybox } from '../../builders/workflow-builder.ts';
import { bundleProgram } from '../cli/program.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { type GatewayStage, openGatewayStage, type SigningSession } from './stage.ts';

/** The SDK's own client before the installed gateway: its requests are signed on their way. */
describe.runIf(isNativeCluster())('the installed tool gateway as an MCP server', () => {
  let stage: GatewayStage;
  let session: SigningSession;
  let main: string;
  let folder: string;

  beforeAll(async () => {
    [stage, main, folder] = await Promise.all([
      openGatewayStage('mcp'),
      bundleProgram('mcp-cli'),
      mkdtemp(join(tmpdir(), 'windlass-mcp-')),
    ]);
    await stage.desk.register(await stage.client(['svc:admin']));
    const cli = {
      name: 'text.say',
      description: 'Says a text.',
      input_schema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
      image: busybox,
      command: ['echo', '{{input.text}}'],
    };
    await (await stage.client()).registerCliTool({ body: cli });
    session = await stage.session();
    await stage.warmUp();
  });
  afterAll(async () => {
    await stage?.strike();
    await rm(folder, { recursive: true, force: true });
  });

  async function overHttp(): Promise<Client> {
    const { executionId, token, key } = session;
    const [{ url }] = await stage.replicas();
    const client = new Client({ name: 'desk', version: '1' });
    const signing: typeof fetch = (to, init = {}) => {
      if (typeof init.body !== 'string') return fetch(to, init);
      const { timestamp, signature } = signPayload(key, { payload: JSON.parse(init.body), token, now: Date.now() });
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      headers.set('seal-execution-id', executionId);
      headers.set('seal-timestamp', String(timestamp));
      headers.set('seal-signature', signature);
      return fetch(to, { ...init, headers });
    };
    await client.connect(new StreamableHTTPClientTransport(new URL('/v1/mcp', url), { fetch: signing }));
    return client;
  }

  async function overStandardInput(): Promise<Client> {
    const { executionId, token, key } = session;
    const [{ url }] = await stage.replicas();
    const file = join(folder, 'session.json');
    const signer = {
      gateway: url,
      execution_id: executionId,
      expires_at: new Date(Date.now() + 600_000).toISOString(),
      security_token: token,
      private_key: String(key.export({ type: 'pkcs8', format: 'pem' })),
    };
    await writeFile(file, JSON.stringify(signer), { mode: 0o600 });
    const client = new Client({ name: 'desk', version: '1' });
    const args = [main, 'gateway', 'mcp', '--sign', file];
    await client.connect(new StdioClientTransport({ command: execPath, args, env: { HOME: folder } }));
    return client;
  }

  it.each([
    ['over POST /v1/mcp', overHttp],
    ['over windlass gateway mcp', overStandardInput],
  ])('AMB-196 lists a tool of each source and calls it %s', async (_title, open) => {
    const client = await open();
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['orders.place', 'text.say', 'svc.tools.list']));
    const order = { customer: 'ada', item: 'tea', quantity: 2 };
    expect(await client.callTool({ name: 'orders.place', arguments: order })).toMatchObject({
      isError: false,
      structuredContent: { result: { customer: 'ada', status: 'confirmed' } },
    });
    expect(await client.callTool({ name: 'text.say', arguments: { text: 'tea' } })).toMatchObject({
      isError: false,
      structuredContent: { stdout: 'tea\n', exit_code: 0 },
    });
    expect(await client.callTool({ name: 'svc.tools.list', arguments: {} })).toMatchObject({ isError: false });
    await expect(client.callTool({ name: 'orders.place', arguments: {} })).rejects.toThrow('required field');
    await client.close();
  });

  it('marks the events of such calls', async () => {
    const events = (await stage.events()).filter(({ data }) => data['via'] === 'mcp');
    const sources = events.filter(({ type }) => type === 'ToolInvocationCompleted').map(({ data }) => data['source']);
    expect(new Set(sources)).toEqual(new Set(['workflow', 'cli', 'builtin']));
  });
});
