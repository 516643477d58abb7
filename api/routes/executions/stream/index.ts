import { defineRoute, type Route } from '../../../../lib/http/index.ts';
import { invalidField } from '../../../../lib/http/request-errors.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { notFound, unknownExecution } from '../../not-found.ts';
import { findExecution } from '../find-execution.ts';
import { streamExecution } from './contract.ts';
import { createEventHub } from './event-hub.ts';
import { endPosition, isBehind, nowhere, type EventPosition, positionOf } from './position.ts';

export interface StreamDeps {
  readonly cluster: Pick<Cluster, 'executions' | 'executionFeed'>;
}

export function createStreamRoute({ cluster }: StreamDeps): Route<Caller> {
  const { executions, executionFeed } = cluster;
  const hub = createEventHub();
  executionFeed.listen(hub);
  return defineRoute<typeof streamExecution, Caller>(streamExecution, async (request) => {
    const { params, headers, caller } = request;
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    const after = positionBehind(headers['last-event-id']);
    const { metadata } = await findExecution(executions, caller, params.execution_id, reserve);
    if (!isBehind(endPosition, after)) return { kind: 'no_content' };
    const { uid = '' } = metadata;
    const channel = hub.open(uid);
    try {
      // The channel has all changes since it is open; the cache's earlier ones are read now.
      const execution = await executions.whole(await findExecution(executions, caller, uid));
      if (execution === undefined) throw notFound(unknownExecution);
      channel.seen(execution);
    } catch (error) {
      channel.close();
      throw error;
    }
    return { kind: 'events', events: channel.frames(after) };
  });
}

/** The client's position. Throws 400 for a text that no stream has sent as an id. */
function positionBehind(lastEventId = ''): EventPosition {
  const position = lastEventId === '' ? nowhere : positionOf(lastEventId);
  if (position !== undefined) return position;
  throw invalidField('header.last-event-id', 'is not the id of an event; leave it out to begin anew');
}
