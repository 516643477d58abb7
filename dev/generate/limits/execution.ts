import { entries, items, type LimitGroup, row } from './row.ts';

export const execution: LimitGroup = {
  title: 'An execution',
  rows: [
    row('Input, as JSON', 'executionInputBytes', 'bytes', 'its input may have … bytes'),
    row('Levels of the input', 'jsonDepth', 'levels', 'is nested deeper than … levels'),
    entries('`blackboard` at the start', 'mapEntries'),
    items('`signals`', 'signals'),
    row(
      'Executions under one root that are still there',
      'descendantsMax',
      'executions',
      'would be one of more than … executions',
    ),
    row(
      'Executions in a chain, each started by the end of the one before',
      'stimulusLinksMax',
      'links',
      'the chain is … links long',
    ),
    row('Subworkflows in each other', 'subworkflowDepthMax', 'levels', 'would be nested more than … levels deep'),
    row(
      'One argument or variable of a command',
      128 * 1024 - 1,
      'bytes',
      'has … bytes and a process takes …; pass large values through a file on a volume',
    ),
    row('Kept standard output, and standard error', 'outputStreamBytes', 'bytes', 'stdout_truncated'),
    row('Rendered `arguments` of call_tool', 'toolCallArgumentsBytes', 'bytes', 'bytes and a call takes …'),
    row(
      'The same, as the API server stores them',
      'toolCallArgumentsStoredBytes',
      'bytes',
      'bytes when they are stored',
    ),
    row('Answer of a tool, as the API server stores it', 'toolCallResultBytes', 'bytes', 'stdout_truncated'),
    row('Outputs in ConfigMaps, compressed', 'configMapStoreBytes', 'bytes', 'OutputBudgetExceeded'),
    row('One stored output', 'storedBlobBytes', 'bytes', 'OutputBudgetExceeded'),
    row('The status of an execution', 'statusBytes', 'bytes', 'StatusTooLarge'),
    {
      ...row('`final_output` in full, in an answer', 'inlinedValuesBytes', 'bytes', ''),
      otherwise: 'nothing: what has no room stays a reference',
    },
  ],
};
