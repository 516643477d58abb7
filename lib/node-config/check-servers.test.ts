import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../config.ts';
import { readNodeConfig } from './read-node-config.ts';

const key = 'canary-mcp-key';
const env = { KEY: key, MODEL_KEY: 'canary-model-key' };
const noSecrets = (): string => {
  throw new Error('none');
};
const model = { name: 'cloud', type: 'openai', api_key: 'env:MODEL_KEY', models: [{ alias: 'a', model: 'm' }] };
const read = (servers: readonly object[], keysOf: 'models' | 'mcp' = 'mcp') =>
  readNodeConfig(JSON.stringify({ spec: { llm_providers: [model], mcp_servers: servers } }), env, noSecrets, {
    keysOf,
  });
const server = (fields: object = {}) => ({ name: 'notes', url: 'https://notes.example/mcp', ...fields });

const program = { name: 'notes', transport: 'stdio', image: 'notes:1', command: ['notes'], tenants: ['acme'] };
const tenantsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `tenant-${index}`);

const problemsOf = (...servers: object[]): string[] => problemsFor('mcp', servers);
/** For servers over stdio, whose keys the gateway alone has. */
const problemsOfProgram = (fields: object): string[] => problemsFor('models', [{ ...program, ...fields }]);

function problemsFor(keysOf: 'models' | 'mcp', servers: readonly object[]): string[] {
  try {
    read(servers, keysOf);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ name, problem }) => `${name.replace('spec.mcp_servers', '')}: ${problem}`);
  }
  return [];
}

describe('spec.mcp_servers', () => {
  it('TOOL-RULE-04 gives every entry, with defaults', () => {
    const full = {
      api_key: 'env:KEY',
      api_key_header: 'X-Key',
      tenants: ['acme'],
      tools: ['note_*'],
      allow_internal_addresses: ['10.0.0.0/8', 'fd00::/8'],
      timeout_secs: 5,
      capabilities: [{ name: 'note_read', skip_judge: true }],
    };
    const config = read([server({ ...full, transport: 'streamable-http' }), server({ name: 'plain' })]);
    expect(config.mcp_servers).toEqual([
      { ...server(), ...full, api_key: expect.anything() },
      { ...server({ name: 'plain' }), allow_internal_addresses: [], capabilities: [] },
    ]);
    expect(config.mcp_servers[0]?.api_key?.reveal()).toBe(key);
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain('canary');
  });

  it('LLM-17 a process reads the keys of those alone that it calls', () => {
    const servers = [server({ api_key: 'env:KEY' })];
    const [gateway, api] = [read(servers, 'mcp'), read(servers, 'models')];
    expect([gateway.llm_providers[0]?.api_key, gateway.mcp_servers[0]?.api_key?.reveal()]).toEqual([undefined, key]);
    expect([api.llm_providers[0]?.api_key?.reveal(), api.mcp_servers[0]?.api_key]).toEqual([
      'canary-model-key',
      undefined,
    ]);
  });

  it.each(['image', 'command', 'args', 'env', 'memory_mb'])(
    'refuses %s of a server over HTTP, and says what to do',
    (field) => {
      const values = { image: 'notes:1', command: ['npx'], args: ['-y'], env: {}, memory_mb: 64 };
      const message = 'belongs to a server over stdio; give transport: stdio, or leave it out';
      const given = { [field]: Reflect.get(values, field) };
      expect(problemsOf(server(given))).toEqual([`[0].${field}: ${message}`]);
    },
  );

  it('gives each tenant of a server over stdio an address and a key of its own', () => {
    const seen: string[] = [];
    const file = JSON.stringify({ spec: { mcp_servers: [{ ...program, tenants: ['acme', 'beta'] }] } });
    const env = { WINDLASS_NODE_SECRETS: '/secrets' };
    const readSecret = (path: string): string => (seen.push(path), `key-of-${path.slice(-10)}`);
    const [entry] = readNodeConfig(file, env, readSecret, { keysOf: 'mcp' }).mcp_servers;
    // The chart makes the same names: chart-mcp.test.ts.
    const [acme, beta] = ['mcp-notes-822b33ad87', 'mcp-notes-f44e64e75f'];
    expect(seen).toEqual([`/secrets/windlass-mcp-programs/${acme}`, `/secrets/windlass-mcp-programs/${beta}`]);
    expect([...(entry?.pods ?? [])].map(([tenant, { url, api_key: key }]) => [tenant, url, key?.reveal()])).toEqual([
      ['acme', `http://${acme}:8080/mcp`, 'key-of-822b33ad87'],
      ['beta', `http://${beta}:8080/mcp`, 'key-of-f44e64e75f'],
    ]);
    expect(entry?.url).toBe(`http://${acme}:8080/mcp`);
  });

  it.each<[string, object, string]>([
    [
      'no image',
      { image: undefined },
      'image: is required with transport: stdio, as registry.example.com/notes-mcp:1.2',
    ],
    ['no command', { command: undefined }, 'command: is required with transport: stdio, as [node, /app/server.js]'],
    [
      'no tenants',
      { tenants: [] },
      'tenants: is required with transport: stdio, as [acme]: each of them has a pod of it',
    ],
    ['33 tenants', { tenants: tenantsOf(33) }, 'tenants: has 33 tenants, of at most 32'],
    [
      'an address',
      { url: 'https://notes.example' },
      'url: belongs to streamable HTTP; leave it out, the chart gives each pod its own',
    ],
    [
      'a variable of another pod',
      { env: { A: 'env:B' } },
      'env.A: names a variable of another pod; name a Secret, as secret:NAME/KEY',
    ],
    [
      'half a reference',
      { env: { A: 'secret:n' } },
      'env.A: must name a Secret and its key after secret:, as secret:notes/token',
    ],
    [
      'a variable of ours',
      { env: { WINDLASS_A: '1' } },
      'env.WINDLASS_A: begins like variables of Windlass; take another name',
    ],
  ])('refuses a server over stdio with %s', (_title, fields, problem) => {
    expect(problemsOfProgram(fields)).toEqual([`[0].${problem}`]);
  });

  it('takes 32 tenants, literals and references to Secrets', () => {
    expect(problemsOfProgram({ tenants: tenantsOf(32), env: { A: 'b', C: 'secret:n/k' } })).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['no address', { name: 'notes' }, '[0].url: is required, as https://tools.example.com/mcp'],
    ['another transport', server({ transport: 'sse' }), '[0].transport: must be one of streamable-http, stdio'],
    [
      'a password',
      server({ url: 'https://u:p@notes.example' }),
      '[0].url: must be a URL with http or https, without user, query and fragment',
    ],
    [
      'a file',
      server({ url: 'file:///etc/passwd' }),
      '[0].url: must be a URL with http or https, without user, query and fragment',
    ],
    ['a literal key', server({ api_key: key }), '[0].api_key: must be a reference, env:VARIABLE or secret:NAME/KEY'],
    [
      'a key that is not there',
      server({ api_key: 'env:NOTHING' }),
      '[0].api_key: the variable NOTHING is not set; set it, or name another one',
    ],
    [
      'a header without a key',
      server({ api_key_header: 'X-Key' }),
      '[0].api_key_header: names the header of api_key, which is not given',
    ],
    [
      'a header of the protocol',
      server({ api_key: 'env:KEY', api_key_header: 'Mcp-Session-Id' }),
      '[0].api_key_header: is a header of the protocol; give another one',
    ],
    [
      'a name of built-in tools',
      server({ name: 'web' }),
      '[0].name: begins the names of built-in tools; give another one',
    ],
    [
      'no network',
      server({ allow_internal_addresses: ['10.0.0.0/33'] }),
      '[0].allow_internal_addresses[0]: must be a network as 10.20.0.0/16',
    ],
    [
      'an address',
      server({ allow_internal_addresses: ['10.0.0.1'] }),
      '[0].allow_internal_addresses[0]: must be a network as 10.20.0.0/16',
    ],
  ])('refuses %s', (_title, entry, problem) => {
    expect(problemsOf(entry)).toEqual([problem]);
  });

  it('refuses a name that comes twice', () => {
    expect(problemsOf(server(), server())).toEqual(['[1].name: is given twice; keep one']);
  });
});
