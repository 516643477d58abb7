import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { EventSink } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Effect } from '../../../lib/conversation/next.ts';
import type { SoundMessages } from '../../../lib/conversation/sound-calls.ts';
import { defined } from '../../../lib/defined.ts';
import type { CallCounter } from '../../../lib/envelope/index.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { ModelReply, ModelRequest, Models } from '../../../lib/models/models.ts';
import type { Toolbox } from '../../../lib/tools/tool.ts';
import type { BeginDeps } from '../calls/begin-permit.ts';
import type { OutlivingCalls } from '../calls/outliving-calls.ts';
import type { PodChannel } from '../pods/pod-channel.ts';
import type { AgentCaller, RegisteredToolSource } from '../registered/index.ts';
import type { Approvals } from '../verdicts/approvals.ts';
import type { JudgeAgents } from '../verdicts/judge-agents.ts';
import type { LiveNews } from './live.ts';
import type { ConversationLog, NewRecord } from './log.ts';

/** Everything that the driver of one conversation works with. */
export interface ConversationDeps extends BeginDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly models: Models;
  readonly toolbox: Toolbox;
  /** Tools beside those of the toolbox. */
  readonly registered: RegisteredToolSource;
  readonly log: ConversationLog;
  readonly channel: PodChannel;
  /** Without its texts. */
  readonly execution: AgentExecution;
  /** Bytes that Kubernetes stores of its input and its intent. */
  readonly inputBytes: number;
  readonly approvals: Pick<Approvals, 'settle'>;
  /** Judges of answers that are agents. */
  readonly judges: Pick<JudgeAgents, 'result'>;
  /** Under the SecurityContext as `callerNow` has read it last. */
  readonly caller: AgentCaller;
  /**
   * The same under the SecurityContext as it is, read again after a while, `anew` at once. Waits while the API server is away.
   * @throws AppError where the definition or, for now or for good, the context is gone; the reason of `signal` where that aborts.
   */
  readonly callerNow: (signal: AbortSignal, anew?: 'anew') => Promise<AgentCaller>;
  /** Messages as any provider takes them. */
  readonly soundOf: SoundMessages;
  /** Counts calls where the SecurityContext bounds them. */
  readonly calls: CallCounter;
  /** Counts the registered tools that the model is offered, in bytes of heap. @throws Grown where there is no room for them here. */
  readonly holdList: (bytes: number) => void;
  /** Counts the arguments of the call of the model that is next, as values. @throws Grown where there is no room for them here. */
  readonly holdCall: (bytes: number) => void;
  /** Called when a question of the conversation begins to wait for a provider. */
  readonly onWait: NonNullable<ModelRequest['onWait']>;
  /** The rendered instruction and the input. */
  readonly task: { readonly system: string; readonly input: string; readonly version: string };
  /** Aborts, with Stopped, where this replica waits no longer for work that the next driver does anew. */
  readonly giveUp: AbortSignal;
  /** Calls that cannot be made again. */
  readonly outliving: OutlivingCalls;
  /** Takes domain events. */
  readonly events: EventSink;
  /** Tells listeners of a record or a piece of text. */
  readonly tell: (news: LiveNews) => void;
}

export type EffectOf<K extends Effect['kind']> = Extract<Effect, { kind: K }>;

/** Writes a record and tells of it. */
export async function record({ log, tell }: Pick<ConversationDeps, 'log' | 'tell'>, fields: NewRecord): Promise<void> {
  tell({ sequence: await log.append(fields) });
}

/** `judge`: uid of the execution of a judge that is an agent. A replica that repeats this counts nothing twice. */
interface JudgeTokens extends Pick<ModelReply, 'input_tokens' | 'output_tokens' | 'cost_usd'> {
  readonly judge?: string;
}

/** Tokens of judges count to the budgets of the execution. */
export async function recordJudge(
  deps: ConversationDeps,
  { input_tokens, output_tokens, cost_usd, judge }: JudgeTokens,
): Promise<void> {
  await record(deps, {
    kind: 'judge_replied',
    input_tokens,
    output_tokens,
    ...defined({ cost_usd, judge }),
  });
}
