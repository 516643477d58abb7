import { Command } from 'commander';
import type { GatewayClient } from '../../../client/index.ts';
import { isUid } from '../../../crds/uid.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { type CliLaunch, examples, ok, type Run } from '../../launch.ts';
import { printedValue, serialised } from '../../print-object.ts';
import { tableLines } from '../../table.ts';
import { findRow, missing } from '../../tool-gateway/find.ts';
import { withGateway } from '../../tool-gateway/gateway-option.ts';
import { allRows, type GatewayKind } from '../../tool-gateway/kinds.ts';
import { registerOf } from './register.ts';

/** `windlass gateway spec`, and the same for each kind. */
export function kindCommand(launch: CliLaunch, kind: GatewayKind): Command {
  return new Command(kind.word)
    .summary(`register ${kind.plural}`)
    .description(`Registers ${kind.plural}.`)
    .addCommand(registerKindCommand(launch, kind))
    .addCommand(listCommand(launch, kind))
    .addCommand(oneCommand(kind, 'get').action(launch(getOf(kind))))
    .addCommand(oneCommand(kind, 'delete').action(launch(deleteOf(kind))));
}

const wordsOf = ({ word }: GatewayKind): string => `windlass gateway ${word}`;

function registerKindCommand(launch: CliLaunch, kind: GatewayKind): Command {
  const { plural, word } = kind;
  const update = kind.isNamed ? 'One of the same name is replaced.' : 'A name that is taken is refused.';
  return withGateway(new Command('register'))
    .summary(`register ${plural} of files`)
    .description(
      `Registers ${plural} from YAML or JSON: custom resources of kind ${kind.kind}, or the body of the HTTP request. ` +
        `All files are read first; when one has a problem, nothing is sent. ${update}`,
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .addHelpText('after', examples(`${wordsOf(kind)} register ${word}.yaml`))
    .action(launch(registerOf(kind)));
}

const listCommand = (launch: CliLaunch, kind: GatewayKind): Command =>
  withGateway(new Command('list'))
    .alias('ls')
    .summary(`list ${kind.plural}`)
    .description(`Lists the ${kind.plural} of the tenant, and those that all tenants share.`)
    .addHelpText('after', examples(`${wordsOf(kind)} list`, `${wordsOf(kind)} list -o wide`))
    .action(launch(listOf(kind)));

const described = {
  get: ['show', 'Shows the record of one', 'by default as YAML. Credentials are never shown.'],
  delete: ['delete', 'Deletes one', 'and leaves alone what is under way.'],
} as const;

function oneCommand(kind: GatewayKind, act: keyof typeof described): Command {
  const { noun, word } = kind;
  const [verb, begin, end] = described[act];
  return withGateway(new Command(act))
    .summary(`${verb} one ${noun}`)
    .description(`${begin} ${noun}, ${end}`)
    .argument(`<${word}>`, kind.isNamed ? `name of the ${noun}` : `name or id of the ${noun}`)
    .addHelpText('after', examples(`${wordsOf(kind)} ${act} desk`));
}

const listOf =
  (kind: GatewayKind): Run<object> =>
  async (context): Promise<ExitCode> => {
    const { client } = await context.gateway();
    const rows = await allRows(kind, client);
    if (await printedValue(context, rows)) return ok;
    if (context.format === 'name') for (const { name } of rows) context.terminal.out(name);
    else if (rows.length === 0)
      context.terminal.note(`no ${kind.plural}; register one: windlass gateway ${kind.word} register FILE`);
    else for (const line of tableLines(kind.columns, rows, context.format === 'wide')) context.terminal.out(line);
    return ok;
  };

const getOf =
  (kind: GatewayKind): Run<object> =>
  async (context, [name = '']): Promise<ExitCode> => {
    const { client } = await context.gateway();
    const id = await idOf(kind, client, name);
    const record = await kind.read(client, id).catch((error: unknown) => Promise.reject(missing(error, kind, name)));
    if (await printedValue(context, record)) return ok;
    context.terminal.out(context.format === 'name' ? name : await serialised(record, 'yaml'));
    return ok;
  };

const deleteOf =
  (kind: GatewayKind): Run<object> =>
  async (context, [name = '']): Promise<ExitCode> => {
    const { client } = await context.gateway();
    const id = await idOf(kind, client, name);
    const answer = await kind.delete(client, id).catch((error: unknown) => Promise.reject(missing(error, kind, name)));
    const warnings = isJsonObject(answer) && Array.isArray(answer['warnings']) ? answer['warnings'].map(String) : [];
    for (const warning of warnings) context.terminal.note(`warning: ${warning}`);
    if (await printedValue(context, { kind: kind.kind, name, deleted: true })) return ok;
    context.terminal.out(context.format === 'name' ? name : `${kind.noun} ${name} deleted`);
    return ok;
  };

const idOf = async (kind: GatewayKind, client: GatewayClient, name: string): Promise<string> =>
  kind.isNamed || isUid(name) ? name : (await findRow(kind, client, name)).id;
