import { Command } from 'commander';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../../launch.ts';
import { withGateway } from '../../tool-gateway/gateway-option.ts';
import { readSessionFile } from '../../tool-gateway/session-file.ts';

interface McpOptions {
  readonly sign: string;
}

export const mcpCommand = (launch: CliLaunch): Command =>
  withGateway(new Command('mcp'))
    .summary('let an MCP client use the tools of a session')
    .description(
      'Serves the Model Context Protocol on standard input and output, one message a line, for clients that start their ' +
        'servers as programs and cannot sign. Each message is signed with the key of the session and sent to the tool ' +
        'gateway. It ends with its standard input, once the calls under way are answered.',
    )
    .option('--sign <file>', 'the file of the session that signs', 'session.json')
    .addHelpText(
      'after',
      examples(
        'windlass gateway mcp --sign session.json',
        'npx @modelcontextprotocol/inspector --cli windlass gateway mcp --sign session.json --method tools/list',
      ),
    )
    .action(launch(mcp));

const mcp: Run<McpOptions> = async (context, _args, { sign }): Promise<ExitCode> => {
  const { clock, files, interrupted, options, terminal } = context;
  const { session: signer, key } = await readSessionFile(files, sign);
  const [{ bridgeMcp }, { messageLines }, { sendSigned }] = await Promise.all([
    import('../../tool-gateway/mcp-bridge.ts'),
    import('../../tool-gateway/message-lines.ts'),
    import('../../tool-gateway/send-signed.ts'),
  ]);
  const url = new URL('/v1/mcp', options.gateway ?? signer.gateway).href;
  const send = sendSigned({ clock, key, session: signer, url });
  const lines = messageLines(files.standardInput(interrupted), interrupted);
  await bridgeMcp({
    send,
    write: (line) => terminal.out(line),
    note: (line) => terminal.note(line),
    lines,
    interrupted,
  });
  return interrupted.aborted ? exitCodes.interrupted : ok;
};
