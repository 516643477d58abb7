import { meantBy } from '../../crds/similar-name.ts';
import type { LocatedProblem } from '../../lib/manifest/index.ts';
import type { SourceDocument } from '../../lib/manifest/yaml-document.ts';
import { type FilePort, shown } from '../files.ts';
import { type GatewayKind, gatewayKinds } from './kinds.ts';

type Body = Readonly<Record<string, unknown>>;

/** One registration of a file: what is sent, or what keeps it from being sent. */
export interface FileRegistration {
  readonly file: string;
  readonly problems: readonly LocatedProblem[];
  readonly kind?: GatewayKind;
  /** The form of HTTP. */
  readonly body?: Body;
}

interface Wanted {
  /** Undefined: of each document its own kind counts. */
  readonly kind: GatewayKind | undefined;
  readonly isDirectory: boolean;
}

/** These files hold large documents of APIs: 5 MiB, and room for the escapes of a text in a text. */
const bounds = { bytes: 8 * 1_048_576, tokens: 1_000_000, anyNumber: true };

/**
 * Every registration of the files and directories named, in the form of HTTP. A document is a custom resource, or has the
 * fields of a request as they are; the latter needs a `kind`. In directories, documents of other kinds are passed over.
 */
export async function readRegistrations(
  files: Pick<FilePort, 'read' | 'manifests'>,
  paths: readonly (string | undefined)[],
  kind?: GatewayKind,
): Promise<FileRegistration[]> {
  const { readDocuments } = await import('../../lib/manifest/yaml-document.ts');
  const found: FileRegistration[] = [];
  for (const path of paths.filter((one) => one !== undefined)) {
    const before = found.length;
    for (const file of await files.manifests(path)) {
      const wanted = { kind, isDirectory: file !== path };
      const read = readDocuments(await files.read(file), bounds).flatMap((one) => registrationOf(one, wanted) ?? []);
      found.push(...read.map((one) => ({ file: shown(file), ...one })));
    }
    if (found.length === before) {
      const what = kind === undefined ? 'nothing of the tool gateway' : `no ${kind.noun}`;
      found.push({ file: shown(path), problems: [problemAt({ line: 1, column: 1 }, `there is ${what} in it`)] });
    }
  }
  return found;
}

type Position = Pick<LocatedProblem, 'line' | 'column'>;

const problemAt = (at: Position, message: string): LocatedProblem => ({
  ...at,
  path: '',
  at: [],
  rule: 'registration',
  message,
  severity: 'error',
});

function registrationOf(
  { value, problems, positionOf }: SourceDocument,
  { kind: wanted, isDirectory }: Wanted,
): Omit<FileRegistration, 'file'> | undefined {
  if (problems.length > 0) return { problems };
  const at = positionOf([]);
  if (!isRecord(value)) return { problems: [problemAt(at, 'must be a map of fields')] };
  const named = value['kind'];
  if (typeof named !== 'string') return ofHttp(value, wanted, at);
  const kind = gatewayKinds.find((one) => one.kind === named);
  if (kind !== undefined && (wanted === undefined || wanted === kind))
    return { kind, body: ofResource(value), problems: [] };
  if (isDirectory) return undefined;
  return { problems: [problemAt(at, wrongKind(named, wanted))] };
}

function wrongKind(named: string, wanted: GatewayKind | undefined): string {
  const known = gatewayKinds.find((one) => one.kind === named);
  const kinds = gatewayKinds.map((one) => one.kind);
  const hint =
    known === undefined ? meantBy(named, kinds) : `; register it with windlass gateway ${known.word} register`;
  const wish = wanted === undefined ? `one of ${kinds.join(', ')}` : wanted.kind;
  return `kind is ${named}, and must be ${wish}${hint}`;
}

function ofHttp(value: Body, kind: GatewayKind | undefined, at: Position): Omit<FileRegistration, 'file'> {
  if (kind !== undefined) return { kind, body: withDocument(value), problems: [] };
  const message = 'has no kind; add it, or use windlass gateway spec, workflow, cli-tool or context register';
  return { problems: [problemAt(at, message)] };
}

/** A custom resource as the request that makes the same object: the name of the object where the spec has none. */
function ofResource({ metadata, spec }: Body): Body {
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  return withDocument({ name, ...(isRecord(spec) ? spec : {}) });
}

/** A document that the file holds as a map is sent as the text that the server wants. */
function withDocument(body: Body): Body {
  return isRecord(body['document']) ? { ...body, document: JSON.stringify(body['document']) } : body;
}

const isRecord = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
