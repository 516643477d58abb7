import { Command } from 'commander';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type Launch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';

interface SendOptions {
  readonly source: string;
  readonly key?: string;
}

export function stimulusCommand(launch: Launch): Command {
  const command = new Command('stimulus').summary('submit stimuli').description('Submits stimuli.');
  return command.addCommand(sendCommand(launch));
}

function sendCommand(launch: Launch): Command {
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

const send: Run<SendOptions> = async (session, [content = ''], { source, key }): Promise<ExitCode> => {
  const { stimuli } = await session.door();
  const text = content === '-' ? await session.files.read('-') : content;
  const accepted = await stimuli.send({ source, content: text, key });
  if (await printedValue(session, accepted)) return ok;
  session.terminal.out(
    session.format === 'name'
      ? accepted.workflow_execution_id
      : `stimulus ${accepted.stimulus_id} started execution ${accepted.workflow_execution_id}`,
  );
  return ok;
};
