import { CliError } from '../../exit-codes.ts';
import type { Backend, BackendWords, ServerIdentity } from '../backend.ts';
import type { HttpDeps } from './deps.ts';
import { createAgents } from './agents.ts';
import { createCalls } from './calls.ts';
import { createExecutions } from './executions.ts';
import { createLogs } from './logs.ts';
import { createWorkflows } from './workflows.ts';

interface HttpBackendDeps extends HttpDeps {
  readonly server: string;
  readonly fetch: typeof fetch;
  readonly whoAmI: () => Promise<ServerIdentity>;
}

/** Through the HTTP API, with the rights that a token gives. */
export function createHttpBackend(deps: HttpBackendDeps): Backend {
  const executions = createExecutions(deps);
  return {
    kind: 'http',
    words: deps.words,
    workflows: createWorkflows(deps),
    executions,
    calls: createCalls(deps),
    logs: createLogs(deps, executions),
    stimuli: {
      send: ({ source, content, key }) =>
        deps.client.submitStimulus({ body: { source, content, idempotency_key: key } }),
    },
    agents: createAgents(deps),
    agentRuns: () => deps.client,
    edge: () => deps.client,
    version: () => versionOf(deps),
    whoAmI: deps.whoAmI,
  };
}

/** How sentences name the tenant of a token, or the one that a service account has chosen. */
export function wordsOf(tenant: string | undefined, flags: string): BackendWords {
  const place = tenant === undefined ? 'in your tenant' : `in tenant ${tenant}`;
  return { place, workflowPlaces: `${place} or at global scope`, flags };
}

/** The document that describes the API says which version it is of. */
async function versionOf({ server, fetch }: HttpBackendDeps): Promise<{ name: string; version: string }> {
  const answer = await fetch(`${server}/openapi.json`).catch(() => undefined);
  const document: unknown = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
  const version = (document as { info?: { version?: unknown } } | undefined)?.info?.version;
  if (typeof version === 'string') return { name: 'api', version };
  throw new CliError('cluster', `${server} does not answer as Windlass does`, 'Is this the right address?');
}
