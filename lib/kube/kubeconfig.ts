import { dirname, isAbsolute, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { AppError } from '../errors.ts';

interface KubeconfigCluster {
  readonly server: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
}

export interface KubeconfigUser {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly 'as-groups'?: readonly string[];
  readonly exec?: { readonly command?: string };
  readonly 'auth-provider'?: unknown;
}

/** One context of a kubeconfig with what it points at, paths made absolute. */
export interface KubeconfigContext {
  readonly name: string;
  readonly namespace?: string;
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
}

/** Text of one kubeconfig file; the first file that names a thing defines it. */
export interface KubeconfigFile {
  readonly path: string;
  readonly text: string;
}

const clusterPaths = ['certificate-authority'] as const;
const userPaths = ['client-certificate', 'client-key', 'tokenFile'] as const;

type Fields = Readonly<Record<string, unknown>>;

/** Resolves a context, by default the current one. Errors name the file or the missing entry, never a value. */
export function resolveContext(files: readonly KubeconfigFile[], wanted?: string): KubeconfigContext {
  const parsed = files.map(parseFile);
  const current = wanted ?? parsed.map((file) => file.fields['current-context']).find(isText);
  if (current === undefined) throw invalid(`${pathsOf(files)}: current-context is not set; choose a context`);
  const context = find(parsed, { list: 'contexts', item: 'context', name: current });
  const clusterName = textOf(context.fields, 'cluster', `context '${current}'`);
  const userName = context.fields.user;
  const cluster = find(parsed, { list: 'clusters', item: 'cluster', name: clusterName });
  textOf(cluster.fields, 'server', `cluster '${clusterName}'`);
  const user = isText(userName) ? find(parsed, { list: 'users', item: 'user', name: userName }) : undefined;
  return {
    name: current,
    namespace: isText(context.fields.namespace) ? context.fields.namespace : undefined,
    cluster: absolute(cluster, clusterPaths) as unknown as KubeconfigCluster,
    user: user === undefined ? {} : (absolute(user, userPaths) as KubeconfigUser),
  };
}

interface Parsed {
  readonly path: string;
  readonly fields: Fields;
}

function parseFile(file: KubeconfigFile): Parsed {
  let fields: unknown;
  try {
    fields = parse(file.text, { schema: 'core' });
  } catch (cause) {
    const isDeep = cause instanceof YAMLParseError && cause.code === 'RESOURCE_EXHAUSTION';
    const problem = isDeep ? 'nested too deep' : 'not YAML';
    throw new AppError('invalid', `${file.path}: ${problem}`, { reason: 'KubeconfigInvalid', cause });
  }
  return { path: file.path, fields: isFields(fields) ? fields : {} };
}

interface Sought {
  readonly list: string;
  readonly item: string;
  readonly name: string;
}

function find(files: readonly Parsed[], { list, item, name }: Sought): Parsed {
  for (const file of files) {
    const entries = file.fields[list];
    const entry = Array.isArray(entries) ? entries.find((e: unknown) => isFields(e) && e.name === name) : undefined;
    if (isFields(entry)) return { path: file.path, fields: isFields(entry[item]) ? entry[item] : {} };
  }
  throw invalid(`${pathsOf(files)}: ${list} has no '${name}'`);
}

/** Relative paths count from the file that holds them. A plugin's command does so only where it names a folder. */
function absolute({ path, fields }: Parsed, names: readonly string[]): Fields {
  const folder = dirname(path);
  const changed: Record<string, unknown> = { ...fields };
  for (const name of names) {
    const value = fields[name];
    if (isText(value) && !isAbsolute(value)) changed[name] = resolve(folder, value);
  }
  const exec = fields.exec;
  if (isFields(exec) && isText(exec.command) && exec.command.includes('/')) {
    changed.exec = { ...exec, command: resolve(folder, exec.command) };
  }
  return changed;
}

function textOf(fields: Fields, name: string, where: string): string {
  const value = fields[name];
  if (!isText(value)) throw invalid(`kubeconfig: ${where} has no ${name}`);
  return value;
}

function invalid(message: string): AppError {
  return new AppError('invalid', message, { reason: 'KubeconfigInvalid' });
}

function pathsOf(files: readonly { readonly path: string }[]): string {
  return files.map((file) => file.path).join(', ');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
