import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { builtInPrefixes } from '../../crds/tool-name.ts';
import { checkNetwork, checkUrl, repeated } from './rules.ts';
import type { NodeConfigSpec } from './schema.ts';

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

/** Programs that speak over their input and output. */
const programFields = ['command', 'args', 'env'] as const;

function checkTransport(server: FileServer, at: Place): Problem[] {
  const { transport = 'streamable-http', url } = server;
  const program = programFields.find((field) => server[field] !== undefined);
  if (program !== undefined || transport === 'stdio') {
    const message =
      'belongs to a server over stdio, which is not run; run it behind streamable HTTP and give its address as url';
    return [errorAt([...at, program ?? 'transport'], 'unsupported', message)];
  }
  if (transport !== 'streamable-http')
    return [errorAt([...at, 'transport'], 'unsupported', 'must be streamable-http, or be left out')];
  if (url !== undefined) return checkUrl(url, [...at, 'url']);
  return [errorAt([...at, 'url'], 'required', 'is required, as https://tools.example.com/mcp')];
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
