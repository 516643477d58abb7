import { createHash } from 'node:crypto';

/** Service, pod and key of one MCP server over stdio and one tenant. The chart makes all three by the same names. */
interface ProgramPod {
  readonly url: string;
  /** Reference to the key that its clients have to show. */
  readonly key: string;
}

/** Secret with the keys of all such pods, which the chart makes. */
const keys = 'windlass-mcp-programs';
const port = 8_080;

/** A hash in place of the tenant: a slug may be longer than what a name has left, and could end like another server's name. */
export function addressOfPod(server: string, tenant: string): ProgramPod {
  const name = `mcp-${server}-${createHash('sha256').update(tenant).digest('hex').slice(0, 10)}`;
  return { url: `http://${name}:${port}/mcp`, key: `secret:${keys}/${name}` };
}
