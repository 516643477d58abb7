import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { clientFile } from './client-file.ts';
import { type Content, type OpenApiDocument, operationsOf } from './operation.ts';

const run = promisify(execFile);
const project = resolve(import.meta.dirname, '../../..');

const json = (schema: object): Content => ({ 'application/json': { schema } });
const responses = (content: Content) => ({ '200': { description: 'done', content } });

/** One operation of each form that the API has. */
const document = {
  paths: {
    '/health': { get: { operationId: 'health', responses: responses(json({ type: 'object' })) } },
    '/v1/things': {
      get: {
        operationId: 'listThings',
        security: [{ bearer: [] }],
        parameters: [
          { in: 'query', name: 'limit', schema: { type: 'integer' }, description: 'How many.' },
          { in: 'header', name: 'X-Tenant-Id', schema: { type: 'string' } },
        ],
        responses: responses(json({ type: 'array', items: { $ref: '#/components/schemas/Thing' } })),
      },
      post: {
        operationId: 'makeThing',
        summary: 'Make a thing',
        description: 'At once.',
        security: [{ bearer: [] }],
        parameters: [{ in: 'header', name: 'Idempotency-Key', schema: { type: 'string' } }],
        requestBody: { required: true, content: json({ $ref: '#/components/schemas/Thing' }) },
        responses: {
          ...responses(json({ $ref: '#/components/schemas/Thing' })),
          '409': { description: 'It exists.\nTwice.', content: json({ $ref: '#/components/schemas/Error' }) },
          '429': { $ref: '#/components/responses/RateLimited' },
        },
      },
    },
    '/v1/things/{thing}/events': {
      get: {
        operationId: 'followThing',
        parameters: [
          { in: 'path', name: 'thing', required: true, schema: { type: 'string' } },
          { in: 'header', name: 'last-event-id', schema: { type: 'string' } },
        ],
        responses: responses({
          'text/event-stream': {
            schema: { type: 'object', properties: { data: { type: 'string', contentSchema: { type: 'object' } } } },
            'x-last-events': ['ended', 'failed'],
          },
        }),
      },
    },
    '/v1/things/{thing}/text': {
      post: {
        operationId: 'rewriteThing',
        deprecated: true,
        parameters: [{ in: 'path', name: 'thing', required: true, schema: { type: 'string' } }],
        requestBody: { content: { 'application/yaml': { schema: { type: 'string' } } } },
        responses: responses({ 'text/plain': { schema: { type: 'string' } } }),
      },
    },
    '/v1/raw': {
      post: {
        operationId: 'sendRaw',
        requestBody: { required: true, content: { '*/*': {} } },
        responses: responses(json({ type: 'object' })),
      },
    },
  },
  components: {
    schemas: {
      Error: { type: 'object', description: 'Body of error answers.' },
      Thing: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
  },
} satisfies OpenApiDocument;

describe('the generated client', () => {
  const text = clientFile(document);

  it('has a method with the types of each operation', () => {
    expect(text).toContain('health(options?: CallOptions): Promise<HealthReply>;');
    expect(text).toContain('listThings(request?: ListThingsRequest, options?: CallOptions): Promise<ListThingsReply>;');
    expect(text).toContain('makeThing(request: MakeThingRequest, options?: CallOptions): Promise<MakeThingReply>;');
    expect(text).toContain('): AsyncIterable<ServerEvent<FollowThingEvent>>;');
    expect(text).toContain('rewriteThing(request: RewriteThingRequest, options?: CallOptions): Promise<ByteStream>;');
    expect(text).toContain('export type ListThingsReply = readonly Thing[];');
  });

  it('says of each what the document says, its errors included', () => {
    expect(text).toContain(
      [
        '  /**',
        '   * Make a thing',
        '   *',
        '   * At once.',
        '   *',
        '   * `POST /v1/things`',
        '   *',
        '   * - 409 It exists. Twice.',
        '   */',
      ].join('\n'),
    );
    expect(text).toContain('   * @deprecated');
    expect(text).toContain('  /** How many. */\n  readonly limit?: number;');
  });

  it('leaves headers to the runtime that are the same for every call', () => {
    expect(text).not.toMatch(/tenant-?id/i);
    expect(text).toContain('readonly idempotencyKey?: string;');
    expect(text).toContain('"headers":{"idempotencyKey":"Idempotency-Key"}');
  });

  it('tells the runtime how each is sent and answered', () => {
    const rows = Object.fromEntries([...text.matchAll(/^ {2}(\w+): (\{.*\}),$/gm)].map(([, id, row]) => [id, row]));
    expect(JSON.parse(rows['followThing'] ?? '')).toEqual({
      method: 'GET',
      path: '/v1/things/{thing}/events',
      bearer: false,
      query: [],
      headers: { lastEventId: 'last-event-id' },
      reply: 'events',
      lastEvents: ['ended', 'failed'],
    });
    expect(JSON.parse(rows['sendRaw'] ?? '')).toMatchObject({ mediaType: 'application/octet-stream', reply: 'json' });
    expect(JSON.parse(rows['rewriteThing'] ?? '')).toMatchObject({ mediaType: 'application/yaml', reply: 'bytes' });
  });

  it('leaves out what only errors are made of: the runtime has a class for them', () => {
    expect(text).not.toContain('type Error');
    expect(text).not.toContain('429');
  });

  it('is TypeScript that compiles', async () => {
    const folder = await mkdtemp(join(project, 'client/generated/.check-'));
    try {
      const own = text.replaceAll("'../operation.ts'", "'../../operation.ts'");
      await writeFile(join(folder, 'operations.ts'), own);
      await writeFile(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ extends: '../../../tsconfig.json', include: ['*.ts'] }),
      );
      const { stdout } = await run(join(project, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
        (error: unknown) => error as { stdout: string },
      );
      expect(stdout).toBe('');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is not made where two parameters would have one name', () => {
    const parameters = [
      { in: 'query', name: 'body', schema: {} },
      { in: 'path', name: 'id', schema: {} },
    ];
    const paths = { '/x/{id}': { get: { operationId: 'x', parameters, responses: responses(json({})) } } };
    expect(() => operationsOf({ paths })).toThrow('two parameters of x are called body');
  });
});
