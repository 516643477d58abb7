import { Command } from 'commander';
import { WindlassApiError } from '../../client/api-error.ts';
import type { SentStimulus } from '../backends/backend.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';

interface SendOptions {
  readonly source: string;
  readonly key?: string;
}

export function stimulusCommand(launch: CliLaunch): Command {
  const command = new Command('stimulus').summary('submit stimuli').description('Submits stimuli.');
  return command.addCommand(sendCommand(launch));
}

function sendCommand(launch: CliLaunch): Command {
  return new Command('send')
    .summary('submit one stimulus')
    .description(
      'Hands an event to the workflow that a StimulusRouter names for its source; through the HTTP API only. Content ' +
        'that is a JSON object becomes the input of the execution; any other content becomes {"content": …}.',
    )
    .argument('<content>', 'text, or JSON; - reads standard input')
    .option('--source <name>', 'what selects the route', 'http_api')
    .option('--key <key>', 'a second stimulus with the same source and key is refused for 24 hours')
    .addHelpText(
      'after',
      examples(
        "windlass stimulus send 'the login page is down'",
        'windlass stimulus send --source tickets --key 4711 - < ticket.json',
      ),
    )
    .action(launch(send));
}

const send: Run<SendOptions> = async (context, [content = ''], { source, key }): Promise<ExitCode> => {
  const { stimuli } = await context.backend();
  const text = content === '-' ? await context.files.read('-') : content;
  const stimulus = { source, content: text, key };
  const accepted = await stimuli.send(stimulus).catch((error: unknown) => Promise.reject(refusalOf(error, stimulus)));
  if (await printedValue(context, accepted)) return ok;
  context.terminal.out(
    context.format === 'name'
      ? accepted.workflow_execution_id
      : `stimulus ${accepted.stimulus_id} started execution ${accepted.workflow_execution_id}`,
  );
  return ok;
};

/** A refused stimulus, explained to its sender. Any other error is passed on. */
function refusalOf(error: unknown, stimulus: SentStimulus): unknown {
  return error instanceof WindlassApiError ? (refusals[error.error]?.(error, stimulus) ?? error) : error;
}

/** By the outcome that the API names (spec 1 §7.2). */
const refusals: Readonly<Record<string, (error: WindlassApiError, stimulus: SentStimulus) => CliError>> = {
  idempotent_duplicate: ({ body }, { source, key }) =>
    new CliError(
      'conflict',
      `source '${source}' has sent key '${key ?? ''}' within the last 24 hours`,
      'The first one counts. Give another --key where this is another event.',
      [`it was stimulus ${String(body['original_stimulus_id'])}`],
    ),
  no_router_configured: ({ message }) =>
    new CliError(
      'not_found',
      message,
      'Name another with --source, or add a route; see the routers: kubectl get stimulusrouters',
    ),
  classification_failed: ({ message }, { source }) =>
    new CliError('failed', message, `Add a route for the source '${source}' to a StimulusRouter of your tenant.`),
  workflow_error: ({ message, details }) =>
    new CliError(
      'failed',
      `no workflow was started: ${message}`,
      'Mend the workflow or the route; the key may be used again.',
      details.map(({ path, message: text }) => `${path}: ${text}`),
    ),
};
