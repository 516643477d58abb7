import type { KeyObject } from 'node:crypto';
import { Command } from 'commander';
import type { ChainReport, ChainVerifier } from '../../../lib/audit-chain/verify-chain.ts';
import { CliError, type ExitCode, exitCodes } from '../../exit-codes.ts';
import {
  auditOf,
  type AuditSource,
  type AuditVouchers,
  savedAudit,
  savedLine,
} from '../../tool-gateway/audit-record.ts';
import { withGateway } from '../../tool-gateway/gateway-option.ts';
import { examples, type CliLaunch, ok, repeatable, type Run } from '../../launch.ts';
import { printedValue } from '../../print-object.ts';
import type { CommandContext } from '../../command-context.ts';

interface VerifyOptions {
  readonly publicKey?: readonly string[];
  readonly file?: string;
  readonly save?: string;
  readonly force?: boolean;
  readonly ofTenant?: string;
}

export const verifyCommand = (launch: CliLaunch): Command =>
  withGateway(new Command('verify'))
    .summary('prove that no event is missing or changed')
    .description(
      'Proves for each chain that no event since its oldest is missing, changed, swapped, or cut off before the newest ' +
        'checkpoint. For that it reads all retained events of the tenant. For each chain it says since when. Events before the oldest are ' +
        'gone by age, share or deletion, and no chain tells which. Exit code 1 says that a chain is broken. Without ' +
        '--public-key the keys are those that the gateway shows, which proves nothing about who runs the gateway. After a ' +
        'change of the key, give the new one and those before it.',
    )
    .option('--public-key <file>', 'public keys (PEM) that you kept, for checkpoints; may be repeated', repeatable)
    .option('--save <file>', 'also write what was read to a file that you alone can read')
    .option('--force', 'replace that file')
    .option('--file <file>', 'verify a saved file, without any server')
    .option('--of-tenant <slug>', 'chains of this tenant, for an svc:admin whose token names none')
    .addHelpText(
      'after',
      examples(
        'windlass gateway audit verify --public-key audit.pem --save audit.jsonl',
        'windlass gateway audit verify --file audit.jsonl --public-key audit.pem',
        'windlass gateway audit verify --public-key audit-2026.pem --public-key audit-2025.pem  # after a change of the key',
      ),
    )
    .action(launch(verify));

const verify: Run<VerifyOptions> = async (context, _args, options): Promise<ExitCode> => {
  const { file, save } = options;
  if (file !== undefined && save !== undefined)
    throw new CliError('usage', '--file and --save exclude each other', 'Keep one of them.');
  const source = await sourceOf(context, options);
  const { createChainVerifier } = await import('../../../lib/audit-chain/verify-chain.ts');
  const { checkpoints, retained_from: from } = source.vouchers;
  const keys = await keysOf(context, options, source.vouchers);
  const verifier = createChainVerifier({ checkpoints, keys, ...(from === null ? {} : { retainedFrom: from }) });
  const text = await readThrough(source, verifier, save !== undefined);
  if (save !== undefined) await context.files.writePrivate(save, text, { replace: options.force === true });
  const report = verifier.report();
  const isWhole = report.problems.length === 0;
  const shown = { whole: isWhole, ...report, retained_from: from, key_ids: [...keys.keys()] };
  if (!(await printedValue(context, shown))) tell(context, report, shown.key_ids);
  return isWhole ? ok : exitCodes.failed;
};

async function sourceOf(context: CommandContext, { file, ofTenant }: VerifyOptions): Promise<AuditSource> {
  if (file !== undefined) return savedAudit(context.files, file);
  return auditOf((await context.gateway()).client, ofTenant);
}

/** Gives the text of the record where it is to be saved. */
async function readThrough(
  { vouchers, events }: AuditSource,
  verifier: ChainVerifier,
  isKept: boolean,
): Promise<string> {
  const lines = [savedLine(vouchers)];
  for await (const event of events) {
    verifier.add(event);
    if (isKept) lines.push(savedLine(event));
  }
  return lines.join('');
}

/** Keys of the files, or else of the record, by id. */
async function keysOf(
  context: CommandContext,
  { publicKey }: VerifyOptions,
  vouchers: AuditVouchers,
): Promise<KeyRing> {
  const { keyRing } = await import('../../../lib/audit-chain/checkpoint.ts');
  const { publicKeysOf } = await import('../../../lib/audit-chain/public-keys.ts');
  const shown = [vouchers.public_key, ...(vouchers.former_public_keys ?? [])];
  const places = publicKey ?? shown.map(() => 'the answer of the gateway');
  const texts = publicKey === undefined ? shown : await Promise.all(publicKey.map((file) => context.files.read(file)));
  return keyRing(texts.flatMap((pem, index) => publicKeysOf(pem) ?? noKey(places[index] ?? '')));
}

function noKey(place: string): never {
  throw new CliError('usage', `${place} holds no public Ed25519 key as PEM`, 'It begins with BEGIN PUBLIC KEY.');
}

type KeyRing = ReadonlyMap<string, KeyObject>;

function tell({ terminal }: CommandContext, report: ChainReport, keyIds: readonly string[]): void {
  const { events, chains, gone, problems } = report;
  for (const chain of chains) for (const line of linesOf(chain)) terminal.out(line);
  for (const chain of gone) terminal.out(`${nameOf(chain)}: no event is retained; ${wasThere(chain)}`);
  for (const { sequence, kind, message, ...chain } of problems)
    terminal.note(`${kind}: ${nameOf(chain)} event ${sequence}: ${message}`);
  const counted = `${events} event${events === 1 ? '' : 's'} in ${chains.length} chain${chains.length === 1 ? '' : 's'}`;
  if (problems.length > 0) terminal.note(`error: the audit is broken: ${problems.length} problems in ${counted}`);
  else terminal.out(`${counted}: none is missing or changed in these ranges (checkpoints of key ${keyIds.join(', ')})`);
}

type Chain = ChainReport['chains'][number];

/** The proven part of a chain, and the part that cannot be proven. */
function linesOf(chain: Chain): string[] {
  const { first, last, since, vouched, gone } = chain;
  const until = vouched === 0 ? 'no checkpoint vouches for it yet' : `a checkpoint vouches for it up to ${vouched}`;
  const proven = `${nameOf(chain)}: events ${first} to ${last}, proven since ${since}; ${until}`;
  if (first === 1) return [proven];
  const before = first === 2 ? 'event 1 is' : `events 1 to ${first - 1} are`;
  const lost = `${nameOf(chain)}: ${before} gone by age, share or deletion, and the chain cannot tell which`;
  return [proven, gone === undefined ? lost : `${lost}; ${wasThere(gone)}`];
}

const nameOf = ({ tenant, lane }: Pick<Chain, 'tenant' | 'lane'>): string => `tenant ${tenant ?? '-'} lane ${lane}`;

const wasThere = ({ sequence, time }: NonNullable<Chain['gone']>): string =>
  `a checkpoint says that event ${sequence} of ${time} was there`;
