import { WindlassApiError } from '../../../client/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { CliError } from '../../exit-codes.ts';
import type { AskingAgent, Backend, BackendWords, CallBackend, ServerIdentity } from '../backend.ts';
import { createAgents } from './agents.ts';
import type { HttpDeps } from './deps.ts';
import { createExecutions } from './executions.ts';
import { createLogs } from './logs.ts';
import { createWorkflows } from './workflows.ts';

interface HttpBackendDeps extends HttpDeps {
  readonly server: string;
  readonly fetch: typeof fetch;
  readonly whoAmI: () => Promise<ServerIdentity>;
}

/** Tool calls that wait, as the API shows them. */
function createCalls(deps: HttpDeps): CallBackend {
  const { client } = deps;
  return {
    /** The API lists them with what workflows ask. */
    questions: async () => [],
    async find(nameOrUid) {
      try {
        const { name, execution_id: uid } = await client.readAgentExecution({ execution_id: nameOrUid });
        return { name, uid };
      } catch (error) {
        if (error instanceof WindlassApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async answer(agent, { response, feedback }) {
      const id = await requestOf(deps, agent);
      if (response === 'approved')
        await client.approveHumanApproval({ id, body: feedback === undefined ? {} : { feedback } });
      else await client.rejectHumanApproval({ id, body: { reason: feedback ?? response } });
      return { response, by: await deps.subject() };
    },
  };
}

async function requestOf({ client }: HttpDeps, { name, uid }: AskingAgent): Promise<string> {
  const { approval, status } = await client.readAgentExecution({ execution_id: uid });
  if (approval !== undefined) return approval.id;
  const message = `${name} has no tool call that waits for a person: it is ${status}`;
  throw new AppError('conflict', message, { reason: 'NotWaiting' });
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
