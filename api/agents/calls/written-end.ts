import { fitToolContent } from '../../../lib/conversation/fit-tool-content.ts';
import { failure } from '../../../lib/tools/answers.ts';
import type { ToolAnswer, ToolArguments } from '../../../lib/tools/tool.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';
import { raiseStorageEvent } from '../conversation/storage-event.ts';
import type { Answered } from '../pods/pod-answer.ts';

interface EndedCall {
  readonly id: string;
  readonly tool: string;
  readonly args: ToolArguments;
}

/**
 * The end of a call as the log keeps it. Never throws: the tool has run, and a call without its end would be made again.
 * Raises the event of a file tool before the end is recorded: a replica that dies in between lets the next one raise it again,
 * by the same id.
 */
export function writtenEnd(
  deps: Pick<ConversationDeps, 'clock' | 'events' | 'caller' | 'logger'>,
  { id, tool, args }: EndedCall,
  { answer, ...dispatch }: Answered,
) {
  try {
    raiseStorageEvent(deps, { id, tool, args, outcome: answer.isError ? 'error' : 'ok' });
    return { content: fitToolContent(answer.content), is_error: answer.isError, ...dispatch };
  } catch (error) {
    const { content, isError } = lostAnswer(deps, { id, tool }, error);
    return { content, is_error: isError, ...dispatch };
  }
}

/** The answer of a call that meets an error of ours behind its beginning: an answer like others, so that nothing runs again. */
export function lostAnswer(
  { logger }: Pick<ConversationDeps, 'logger'>,
  { id, tool }: Pick<EndedCall, 'id' | 'tool'>,
  error: unknown,
): ToolAnswer {
  logger.error({ err: error, call: id, tool }, 'answer of a tool lost');
  return failure(
    'OutcomeUnknown',
    'Windlass cannot read how the call ended. It may have run. Look before you call again.',
  );
}
