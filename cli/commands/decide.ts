import { Command } from 'commander';
import type { AskingAgent, CallBackend } from '../backends/backend.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue, resourceName } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';

interface DecideOptions {
  readonly state?: string;
  readonly feedback?: string;
  readonly reason?: string;
  readonly response?: string;
}

export function approveCommand(launch: CliLaunch): Command {
  return decisionCommand('approve', 'approve what waits: a Human state, or a tool call of an agent')
    .description(
      'Answers the Human state that waits with the response `approved`. The feedback, or else the response, is what ' +
        '{{human.feedback}} shows. A tool call of an agent that waits runs. Where several people decide at the ' +
        'same time exactly one succeeds.',
    )
    .option('--feedback <text>', 'what {{human.feedback}} shows')
    .addHelpText(
      'after',
      examples('windlass approve review-x7k2p', "windlass approve review-x7k2p --feedback 'ship it'"),
    )
    .action(launch(approve));
}

export function rejectCommand(launch: CliLaunch): Command {
  return decisionCommand('reject', 'reject what waits: a Human state, or a tool call of an agent')
    .description(
      'Answers the Human state that waits with the response `rejected`; {{human.feedback}} shows the reason. The ' +
        'rule input_equals_no, or input_equals with the value rejected, is the rejection path. A tool call of an agent ' +
        'does not run, and its model reads the reason.',
    )
    .requiredOption('--reason <text>', 'why; what {{human.feedback}} shows')
    .addHelpText('after', examples("windlass reject review-x7k2p --reason 'the tests are missing'"))
    .action(launch(reject));
}

export function signalCommand(launch: CliLaunch): Command {
  return decisionCommand('signal', 'answer a waiting Human state with any response')
    .description('Answers the Human state that waits with a response of your own, which input_equals rules compare.')
    .requiredOption('--response <text>', 'the payload; - reads it from standard input, without the last line end')
    .option('--feedback <text>', 'what {{human.feedback}} shows instead of the response')
    .addHelpText('after', examples('windlass signal triage-9f3ab --response escalate'))
    .action(launch(signal));
}

function decisionCommand(name: string, summary: string): Command {
  return new Command(name)
    .summary(summary)
    .argument('<execution>', 'name or uid of the execution')
    .option('--state <state>', 'only if this state is the one that waits');
}

const approve: Run<DecideOptions> = (context, [name = ''], options) =>
  decide(context, name, { ...options, response: 'approved' });

const reject: Run<DecideOptions> = (context, [name = ''], { reason = '', ...options }) => {
  if (reason.trim() === '') throw empty('--reason', "Say why: --reason 'the tests fail'.");
  return decide(context, name, { ...options, response: 'rejected', feedback: reason });
};

const signal: Run<DecideOptions> = async (context, [name = ''], options) => {
  const { response: given } = options;
  const response = given === '-' ? (await context.files.read('-')).replace(/\r?\n$/, '') : given;
  if (response === '') throw empty('--response', 'There is only one answer to a state: say which.');
  return decide(context, name, { ...options, response });
};

/** Mostly a variable that a script did not set; a decision cannot be taken back. */
function empty(option: string, hint: string): CliError {
  return new CliError('usage', `${option} is empty`, hint);
}

async function decide(context: CommandContext, name: string, options: DecideOptions): Promise<ExitCode> {
  const { executions, calls } = await context.backend();
  const execution = await executions.read(name).catch((error: unknown) => orAgent(calls, name, options, error));
  if ('uid' in execution) return decideCall(context, calls, execution, options);
  const { response = '', feedback, state } = options;
  const written = await executions.answer(execution, { response, feedback, state });
  const { terminal } = context;
  if (context.format === 'name') terminal.out(resourceName(execution));
  if (context.format === 'name' || (await printedValue(context, { execution: execution.metadata.name, ...written }))) {
    return ok;
  }
  terminal.out(`${execution.metadata.name}: '${written.state}' answered ${written.response} as ${written.by}`);
  return ok;
}

/** The execution of an agent, where there is none of a workflow and no state is meant. */
async function orAgent(
  calls: CallBackend,
  name: string,
  { state }: DecideOptions,
  error: unknown,
): Promise<AskingAgent> {
  if (!(error instanceof CliError && error.exit === 'not_found') || state !== undefined) throw error;
  const found = await calls.find(name);
  if (found === undefined) throw error;
  return found;
}

async function decideCall(
  context: CommandContext,
  calls: CallBackend,
  agent: AskingAgent,
  { response, feedback }: DecideOptions,
): Promise<ExitCode> {
  if (response !== 'approved' && response !== 'rejected')
    throw new CliError(
      'usage',
      'a tool call of an agent takes approved or rejected',
      'Use windlass approve or reject.',
    );
  const written = await calls.answer(agent, { response, feedback });
  const { terminal, format } = context;
  if (format === 'name') terminal.out(`agentexecution/${agent.name}`);
  else if (!(await printedValue(context, { execution: agent.name, response, by: written.by })))
    terminal.out(`${agent.name}: the tool call is ${response} as ${written.by}`);
  return ok;
}
