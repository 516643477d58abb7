import { Command } from 'commander';
import { lineOfProblem } from '../../../crds/problem.ts';
import { type GatewayClient, WindlassApiError } from '../../../client/index.ts';
import { CliError, type ExitCode, exitCodes, type ExitName } from '../../exit-codes.ts';
import { findRow } from '../../tool-gateway/find.ts';
import { withGateway } from '../../tool-gateway/gateway-option.ts';
import { type GatewayKind, gatewayKinds } from '../../tool-gateway/kinds.ts';
import { type FileRegistration, readRegistrations } from '../../tool-gateway/registration-files.ts';
import { examples, type CliLaunch, ok, type Run } from '../../launch.ts';
import { problemLine } from '../../manifest-files.ts';
import { printedValue } from '../../print-object.ts';
import type { CommandContext } from '../../command-context.ts';

/** `windlass gateway register`: files with objects of several kinds. */
export function registerCommand(launch: CliLaunch): Command {
  return withGateway(new Command('register'))
    .summary('register everything of files')
    .description(
      `Registers custom resources of the kinds ${gatewayKinds.map(({ kind }) => kind).join(', ')} from files, those that ` +
        'others name first. All files are read before; when one has a problem, nothing is sent.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .addHelpText('after', examples('windlass gateway register examples/order-desk/gateway.yaml'))
    .action(launch(registerOf(undefined)));
}

export const registerOf =
  (kind: GatewayKind | undefined): Run<object> =>
  async (context, paths): Promise<ExitCode> => {
    const found = await readRegistrations(context.files, paths, kind);
    if (!isUsable(context, found)) return exitCodes.failed;
    const { client } = await context.gateway();
    const made: object[] = [];
    for (const one of inOrder(found)) made.push(await register(context, client, one));
    await printedValue(context, made);
    return ok;
  };

interface Registration {
  readonly file: string;
  readonly kind: GatewayKind;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Those that others name come first. */
const inOrder = (found: readonly FileRegistration[]): Registration[] =>
  gatewayKinds.flatMap((kind) =>
    found.flatMap(({ file, body, kind: own }) => (own === kind && body !== undefined ? [{ file, kind, body }] : [])),
  );

async function register(
  { format, terminal }: CommandContext,
  client: GatewayClient,
  one: Registration,
): Promise<object> {
  const { kind, body } = one;
  const {
    id,
    name,
    warnings = [],
  } = await kind
    .register(client, await withSpecId(client, kind, body))
    .catch((error: unknown) => Promise.reject(refusedIn(error, one)));
  if (format === undefined || format === 'wide')
    terminal.out(`${kind.noun} ${name} registered${kind.isNamed ? '' : ` as ${id}`}`);
  if (format === 'name') terminal.out(name);
  for (const warning of warnings) terminal.note(`warning: ${kind.noun} ${name}: ${warning}`);
  return { kind: kind.kind, id, name };
}

function isUsable({ terminal }: CommandContext, found: readonly FileRegistration[]): boolean {
  // The gateway says its warnings with its answer.
  const problems = found.flatMap(({ file, problems: own }) =>
    own.filter(({ severity }) => severity === 'error').map((problem) => problemLine(file, problem)),
  );
  for (const line of problems) terminal.note(line);
  if (problems.length > 0) terminal.note(`error: ${problems.length} problem${problems.length === 1 ? '' : 's'} found`);
  return problems.length === 0;
}

/** Which file it was, and what to do about a name that is taken. */
function refusedIn(error: unknown, { file, kind, body }: Registration): unknown {
  if (!(error instanceof WindlassApiError)) return error;
  const exit = refusals[error.status];
  if (exit === undefined) return error;
  const name = String(body['name']);
  const facts = error.details.map(lineOfProblem);
  const other = `Delete the other one first: windlass gateway ${kind.word} delete ${name}`;
  return new CliError(
    exit,
    `${file}: ${kind.noun} ${name}: ${error.message}`,
    exit === 'conflict' ? other : undefined,
    facts,
  );
}

const refusals: Readonly<Record<number, ExitName>> = {
  400: 'usage',
  403: 'cluster',
  404: 'not_found',
  409: 'conflict',
  413: 'usage',
  422: 'usage',
};

/** Objects name an API by its name as well; the request takes the id alone. */
async function withSpecId(
  client: GatewayClient,
  kind: GatewayKind,
  body: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { api_spec: name, ...rest } = body;
  const specs = gatewayKinds.find(({ word }) => word === 'spec');
  if (kind.word !== 'workflow' || typeof name !== 'string' || specs === undefined) return body;
  const { id } = await findRow(specs, client, name);
  return { ...rest, api_spec_id: id };
}
