import { characters, items, type LimitGroup, row } from './row.ts';

export const agents: LimitGroup = {
  title: 'An agent',
  rows: [
    items('`tools`', 'agentTools'),
    characters('Name of a tool', 'toolNameLength'),
    row('Agents that start one another in a row', 'agentDepthMax', 'starts', 'which may start none'),
    row(
      'Executions under way below one first agent',
      'agentFamilyMax',
      'executions',
      'executions that this agent and those below it started',
    ),
    items('`approval.tools`', 'approvalPatterns'),
    row('Calls of an execution that a person is asked about', 'agentAsks', 'calls', 'ApprovalsExceeded'),
    row('Arguments of such a call', 'askArgumentsLength', 'characters', 'ArgumentsTooLong'),
    row('Reason of a person', 'askFeedbackLength', 'characters', 'feedback or reason: at most … characters'),
    characters('Input of an execution', 'agentInputLength'),
    characters('Final text of an execution', 'agentOutputLength'),
    row('Verdict of a judge', 'judgeOutputLength', 'characters', 'characters and a verdict takes …'),
  ],
};
