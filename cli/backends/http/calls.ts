import { WindlassApiError } from '../../../client/index.ts';
import { AppError } from '../../../lib/errors.ts';
import type { AskingAgent, CallBackend } from '../backend.ts';
import type { HttpDeps } from './deps.ts';

/** Tool calls that wait, as the API shows them. */
export function createCalls(deps: HttpDeps): CallBackend {
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
