import { modelLimits } from '../../../lib/models/limits.ts';
import { nodeConfigLimits } from '../../../lib/node-config/schema.ts';
import { items, type LimitGroup, row } from './row.ts';

export const models: LimitGroup = {
  title: 'Models and the node configuration',
  rows: [
    row('The file of the node configuration', nodeConfigLimits.fileBytes, 'bytes', 'bytes; at most … are read'),
    items('`llm_providers`', nodeConfigLimits.providers),
    items('`models` of a provider', nodeConfigLimits.modelsPerProvider),
    row('Text of an answer', modelLimits.contentLength, 'characters', 'sent content of more than … characters'),
    row('Tool calls of an answer', modelLimits.toolCalls, 'calls', 'sent more than … tool calls'),
    row(
      'Arguments of a tool call',
      modelLimits.argumentsLength,
      'characters',
      'sent a tool call with more than … characters of arguments',
    ),
    row('One event of a streamed answer', modelLimits.eventBytes, 'bytes', 'sent … of more than … bytes'),
    row('Silence within an answer', modelLimits.idleMs / 1_000, 'seconds', 'sent nothing for … seconds'),
    row('Time of an answer', modelLimits.requestMs / 1_000, 'seconds', 'did not finish its answer within … seconds'),
  ],
};
