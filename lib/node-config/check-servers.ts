import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { builtInPrefixes } from '../../crds/tool-name.ts';
import { checkNetwork, checkUrl, repeated } from './rules.ts';
import { type NodeConfigSpec, nodeConfigLimits } from './schema.ts';

type FileServer = NonNullable<NodeConfigSpec['mcp_servers']>[number];

/** Entries of MCP servers (requirements TOOL-RULE-04). */
export function checkServers({ mcp_servers: servers = [] }: NodeConfigSpec): Problem[] {
  const at = ['spec', 'mcp_servers'];
  return [
    ...repeated(servers, at, 'name', ({ name }) => name),
    ...servers.flatMap((server, index) => checkServer(server, [...at, index])),
  ];
}

function checkServer(server: FileServer, at: Place): Problem[] {
  const { name, capabilities = [], allow_internal_addresses: networks = [] } = server;
  const isTaken = builtInPrefixes.some((prefix) => prefix === `${name}.`);
  return [
    ...(isTaken ? [errorAt([...at, 'name'], 'taken', 'begins the names of built-in tools; give another one')] : []),
    ...checkTransport(server, at),
    ...checkKey(server, at),
    ...networks.flatMap((network, index) => checkNetwork(network, [...at, 'allow_internal_addresses', index])),
    ...repeated(capabilities, [...at, 'capabilities'], 'name', (capability) => capability.name),
  ];
}

/** Fields that one of the two transports alone has. */
const programFields = ['image', 'command', 'args', 'env', 'memory_mb'] as const;
const addressFields = ['url', 'api_key', 'api_key_header', 'allow_internal_addresses'] as const;

function checkTransport(server: FileServer, at: Place): Problem[] {
  if (server.transport === 'stdio') return checkProgram(server, at);
  const foreign = programFields.filter((field) => server[field] !== undefined);
  if (foreign.length > 0) {
    const message = 'belongs to a server over stdio; give transport: stdio, or leave it out';
    return foreign.map((field) => errorAt([...at, field], 'foreign', message));
  }
  if (server.url !== undefined) return checkUrl(server.url, [...at, 'url']);
  return [errorAt([...at, 'url'], 'required', 'is required, as https://tools.example.com/mcp')];
}

/** A program runs in a pod for each of its tenants, with an address and a key that the chart gives it. */
function checkProgram(server: FileServer, at: Place): Problem[] {
  const { image, command, tenants = [], env = {} } = server;
  const required = (field: string, example: string): Problem =>
    errorAt([...at, field], 'required', `is required with transport: stdio, as ${example}`);
  const foreign = addressFields.filter((field) => server[field] !== undefined);
  return [
    ...foreign.map((field) =>
      errorAt([...at, field], 'foreign', 'belongs to streamable HTTP; leave it out, the chart gives each pod its own'),
    ),
    ...(image === undefined ? [required('image', 'registry.example.com/notes-mcp:1.2')] : []),
    ...(command === undefined ? [required('command', '[node, /app/server.js]')] : []),
    ...(tenants.length === 0 ? [required('tenants', '[acme]: each of them has a pod of it')] : []),
    ...(tenants.length > nodeConfigLimits.programTenants
      ? [
          errorAt(
            [...at, 'tenants'],
            'limit',
            `has ${tenants.length} tenants, of at most ${nodeConfigLimits.programTenants}`,
          ),
        ]
      : []),
    ...Object.entries(env).flatMap(([name, value]) => checkVariable(name, value, [...at, 'env', name])),
  ];
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const secretReference = /^secret:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,252}$/;

function checkVariable(name: string, value: string, at: Place): Problem[] {
  if (!variableName.test(name)) return [errorAt(at, 'name', 'must be a name of letters, digits and _')];
  if (name.startsWith('WINDLASS_'))
    return [errorAt(at, 'taken', 'begins like variables of Windlass; take another name')];
  if (value.startsWith('env:')) {
    return [errorAt(at, 'reference', 'names a variable of another pod; name a Secret, as secret:NAME/KEY')];
  }
  if (!value.startsWith('secret:') || secretReference.test(value)) return [];
  return [errorAt(at, 'reference', 'must name a Secret and its key after secret:, as secret:notes/token')];
}

/** Headers that the protocol or the connection needs. */
const ownHeaders =
  /^(?:mcp-.*|accept.*|content-.*|host|connection|transfer-encoding|upgrade|cookie|te|trailer|expect)$/i;

function checkKey({ api_key: key, api_key_header: header }: FileServer, at: Place): Problem[] {
  if (key !== undefined && !/^(?:env|secret):/.test(key)) {
    return [errorAt([...at, 'api_key'], 'reference', 'must be a reference, env:VARIABLE or secret:NAME/KEY')];
  }
  if (header === undefined) return [];
  const place = [...at, 'api_key_header'];
  if (key === undefined) return [errorAt(place, 'foreign', 'names the header of api_key, which is not given')];
  return ownHeaders.test(header) ? [errorAt(place, 'taken', 'is a header of the protocol; give another one')] : [];
}
