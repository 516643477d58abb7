import { busLimits, type EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError, messageOf, hasReason } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import type { ToolRow } from '../../lib/tools/catalogue/row.ts';
import {
  type BuiltinCall,
  builtinCallsService,
  builtinListService,
  builtinStopService,
  readBuiltinAnswer,
  readBuiltinNames,
} from '../../lib/tools/remote.ts';
import { failure } from '../../lib/tools/answers.ts';
import { unlessStopped } from './stopped-answer.ts';
import type {
  GatewayAnswer,
  GatewayCallContext,
  GatewayCaller,
  GatewayTool,
  JsonObject,
  ToolSource,
} from './tool-source.ts';

/** The orchestrator's tools, which the API runs; it is asked over the bus (design §13). */
interface BuiltinSource extends ToolSource {
  /** Asks the API which tools it runs, again and again until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface BuiltinDeps {
  readonly bus: Pick<EventBus, 'request' | 'tell'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const listMs = 5_000;
const listEveryMs = 30_000;
const listRetryMs = 2_000;

export function createBuiltinSource({ bus, clock, logger }: BuiltinDeps): BuiltinSource {
  let tools: ReadonlyMap<string, GatewayTool> = new Map();
  let isListed = false;
  let hasNoApi = false;
  const refresh = async (signal: AbortSignal): Promise<void> => {
    const answer = await bus.request({ service: builtinListService }, '{}', { timeoutMs: listMs, signal });
    const rows = readBuiltinNames(answer).flatMap((name) => catalogue.get(name) ?? []);
    tools = new Map(rows.map((row) => [row.name, toolOf(bus, row)]));
    isListed = true;
  };
  return {
    list: () => tools.values(),
    find: (_tenant, name) => tools.get(name),
    unread(_tenant, name) {
      // Where no API runs, there is nothing to list; a call is for one that starts.
      const isRead = isListed || (name === undefined ? hasNoApi : !catalogue.has(name));
      return isRead ? undefined : 'the built-in tools of the API';
    },
    async run(signal) {
      while (!signal.aborted) {
        const isFresh = await refresh(signal).then(
          () => true,
          (error: unknown) => {
            hasNoApi = hasReason(error, 'NoResponders');
            logger.debug({ problem: messageOf(error) }, 'built-in tools not listed');
            return false;
          },
        );
        await clock.sleep(isFresh ? listEveryMs : listRetryMs, signal);
      }
    },
  };
}

const toolOf = (bus: BuiltinDeps['bus'], row: ToolRow): GatewayTool => ({
  name: row.name,
  description: row.description,
  input_schema: row.input_schema,
  source: 'builtin',
  skip_judge: row.skip_judge,
  fleet_capable: row.fleet_capable,
  call: (caller, args, context) =>
    unlessStopped(context.signal, () => callBuiltin(bus, { row, caller, args, context })),
});

interface Asked {
  readonly row: ToolRow;
  readonly caller: GatewayCaller;
  readonly args: JsonObject;
  readonly context: GatewayCallContext;
}

async function callBuiltin(bus: BuiltinDeps['bus'], { row, caller, args, context }: Asked): Promise<GatewayAnswer> {
  const { tenant, executionId, subject, security, scopes, registered } = caller;
  if (tenant === undefined)
    throw new AppError('invalid', `${row.name} acts for a tenant, and the development bypass has none`);
  const { signal, invocationId } = context;
  const call: BuiltinCall = {
    invocation_id: invocationId,
    tenant,
    execution_id: executionId,
    subject,
    security,
    scopes,
    registered,
    tool: row.name,
    args,
  };
  const stop = (): void => bus.tell({ service: builtinStopService }, invocationId);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const answer = await bus.request({ service: builtinCallsService }, JSON.stringify(call), {
      timeoutMs: busLimits.requestMaxMs,
      signal,
    });
    return readBuiltinAnswer(answer);
  } catch (error) {
    return unanswered(row, error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The answer where the replica of the API that took the call gave none; it may have run. @throws any other error. */
function unanswered({ name, idempotent }: ToolRow, error: unknown): GatewayAnswer {
  if (!(error instanceof AppError) || error.code !== 'timeout') throw tooLarge(error) ?? error;
  if (idempotent) throw new AppError('unavailable', error.message, { reason: error.reason, cause: error });
  return failure('OutcomeUnknown', `the API gave no answer; ${name} may have run, look before you call it again`);
}

const tooLarge = (error: unknown): AppError | undefined =>
  hasReason(error, 'RequestTooLarge')
    ? new AppError('invalid', 'arguments of a built-in tool have at most 512 KiB; send less', { cause: error })
    : undefined;
