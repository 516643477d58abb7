import { Command } from 'commander';
import type { Json } from '../../crds/schema/parts.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run, repeatable } from '../launch.ts';
import { isUsable, readWorkflowFiles } from '../manifest-files.ts';
import { parsePairs } from '../parse-pairs.ts';
import { printedValue } from '../print-object.ts';
import { type InputOptions, readInput } from '../run-input.ts';
import type { CommandContext } from '../command-context.ts';
import type { AnswerTo } from '../simulate/answer.ts';
import type { Coverage } from '../simulate/coverage.ts';
import type { Simulated, SimulationOptions } from '../simulate/simulation.ts';
import { noteProblems } from './workflow-validate.ts';

interface SimulateOptions extends InputOptions {
  readonly answer?: readonly string[];
  readonly answers?: string;
  readonly workflow?: string;
  readonly intent?: string;
  readonly blackboard?: readonly string[];
  readonly random?: true;
  readonly runs?: string;
  readonly seed?: string;
  readonly strict?: true;
}

export function workflowSimulateCommand(launch: CliLaunch): Command {
  return new Command('simulate')
    .summary('run a workflow without a cluster')
    .description(
      'Runs a workflow by the engine of the controllers, with your answers in place of commands, people, children and agents. ' +
        'Prints the path, the templates as rendered, the output, and the states and rules that were not reached. A ' +
        'command without an answer exits with 0 and prints nothing. A child completes, or runs as well where its ' +
        'workflow is among the files. An agent completes, and a judge gives the score 1. A person must be answered for. ' +
        'Repeat an answer for further visits; the last one holds for the rest.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .option('--workflow <name>', 'which workflow of the files; by default the first')
    .option(
      '-a, --answer <state=value>',
      'STATE=RESPONSE, STATE.exit_code=1, STATE/STEP.stdout=text, STATE.status=failed, STATE/N.score=0.8 of judge N',
      repeatable,
    )
    .option('--answers <file>', 'answers as YAML or JSON: STATE to an answer, or to a list of them')
    .option('-i, --input <key=value>', 'one key of the input, or once the whole input as JSON', repeatable)
    .option('--input-file <file>', 'the input as JSON or YAML')
    .option('--intent <text>', '{{intent}} in templates')
    .option('--blackboard <key=value>', 'one key that seeds the Blackboard; may be repeated', repeatable)
    .option('--random', 'draw what --answer does not give at random, many times')
    .option('--runs <number>', 'number of runs with --random (default 1000)')
    .option('--seed <number>', 'repeats the runs of that seed')
    .option('--strict', 'fail where a state or rule was not reached')
    .addHelpText(
      'after',
      examples(
        'windlass workflow simulate review.yaml --answer build.exit_code=1 --answer gate=approved',
        'windlass workflow simulate review.yaml --answers happy-path.yaml --input name=Ada',
        'windlass workflow simulate review.yaml --random --runs 1000 --strict',
      ),
    )
    .action(launch(run));
}

const run: Run<SimulateOptions> = async (context, paths, options): Promise<ExitCode> => {
  const found = await readWorkflowFiles(context, paths);
  const usable = found.filter(isUsable).map(({ workflow }) => workflow);
  if (usable.length < found.length) {
    noteProblems(context, found);
    return exitCodes.failed;
  }
  const workflow = chosen(usable, options.workflow);
  const { givenAnswers } = await import('../simulate/given-answers.ts');
  const { createCoverage } = await import('../simulate/coverage.ts');
  const file = options.answers === undefined ? undefined : await readAnswers(context, options.answers);
  const answers = (): AnswerTo => givenAnswers(workflow.spec, file, options.answer ?? []);
  const setting = { workflow, others: usable, start: await startOf(context, options) };
  const coverage = createCoverage(workflow.spec);
  const plan = { setting, answers, coverage };
  const code = options.random === true ? await runMany(context, plan, options) : await runOnce(context, plan);
  const isShort = coverage.unreachedStates().length + coverage.unmatchedRules().length > 0;
  return code === ok && options.strict === true && isShort ? exitCodes.failed : code;
};

interface Plan {
  readonly setting: Omit<SimulationOptions, 'answer'>;
  readonly answers: () => AnswerTo;
  readonly coverage: Coverage;
}

async function runOnce(context: CommandContext, { setting, answers, coverage }: Plan): Promise<ExitCode> {
  const simulated = await simulateWith(setting, answers());
  coverage.add(simulated.status);
  const { phase } = simulated.status;
  const { shown, reportRun, reportCoverage } = await import('../simulate/report.ts');
  if (!(await printedValue(context, { ...shown(simulated), ...unreached(coverage) }))) {
    reportRun(context.terminal, simulated);
    reportCoverage(context.terminal, coverage, 1);
  }
  return phase === 'completed' ? ok : exitCodes.failed;
}

async function runMany(context: CommandContext, plan: Plan, options: SimulateOptions): Promise<ExitCode> {
  const { randomAnswers, seeded } = await import('../simulate/random-answers.ts');
  const runs = wholeNumber('--runs', options.runs ?? '1000', { least: 1, most: 100_000 });
  const seed = wholeNumber('--seed', options.seed ?? String(context.clock.now() % 1_000_000), {
    least: 0,
    most: 2 ** 31,
  });
  const random = seeded(seed);
  for (let count = 0; count < runs; count++) {
    const { status } = await simulateWith(
      plan.setting,
      randomAnswers(plan.setting.workflow.spec, random, plan.answers()),
    );
    plan.coverage.add(status);
  }
  const { reportCoverage, reportEnds } = await import('../simulate/report.ts');
  const value = { runs, seed, ends: Object.fromEntries(plan.coverage.ends), ...unreached(plan.coverage) };
  if (!(await printedValue(context, value))) {
    reportEnds(context.terminal, plan.coverage, { runs, seed });
    reportCoverage(context.terminal, plan.coverage, runs);
  }
  return ok;
}

const unreached = (coverage: Coverage) => ({
  unreached_states: coverage.unreachedStates(),
  unmatched_rules: coverage.unmatchedRules(),
});

async function simulateWith(setting: Omit<SimulationOptions, 'answer'>, answer: AnswerTo): Promise<Simulated> {
  const { simulate, Unanswered } = await import('../simulate/simulation.ts');
  try {
    return simulate({ ...setting, answer });
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    const known = error.responses.length === 0 ? 'RESPONSE' : error.responses[0];
    const hint = `Give one: --answer ${error.state}=${known}${error.responses.length > 1 ? `, or another of ${error.responses.join(', ')}` : ''}`;
    throw new CliError('usage', error.message, `${hint}.`);
  }
}

function chosen(workflows: readonly Workflow[], name: string | undefined): Workflow {
  const found = name === undefined ? workflows[0] : workflows.find(({ metadata }) => metadata.name === name);
  if (found !== undefined) return found;
  const names = workflows.map(({ metadata }) => metadata.name).join(', ');
  throw new CliError('not_found', `the files hold no workflow ${name ?? ''}`.trim(), `They hold: ${names || 'none'}.`);
}

async function startOf(context: CommandContext, options: SimulateOptions): Promise<SimulationOptions['start']> {
  const input = await readInput(context.files, options);
  const { intent, blackboard } = options;
  return {
    ...(input === undefined ? {} : { input }),
    ...(intent === undefined ? {} : { intent }),
    ...(blackboard === undefined ? {} : { blackboard: parsePairs(blackboard, '--blackboard') }),
  };
}

async function readAnswers(context: CommandContext, path: string): Promise<Json> {
  const { parse } = await import('yaml');
  try {
    return parse(await context.files.read(path), { schema: 'core' }) as Json;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const [first] = String(error instanceof Error ? error.message : error).split('\n');
    throw new CliError('usage', `${path}: ${first}`, 'The file of answers is YAML or JSON.');
  }
}

function wholeNumber(
  flag: string,
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new CliError(
    'usage',
    `${flag} '${text}' is no whole number from ${least} to ${most}`,
    `Write it as ${flag} ${least}.`,
  );
}
