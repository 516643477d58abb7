import type { Environment } from '../../lib/config.ts';
import { withoutTrailingSlashes } from '../../lib/trailing-slashes.ts';
import { CliError } from '../exit-codes.ts';
import type { GlobalOptions } from '../command-context.ts';

/** The backend of a command: Kubernetes itself, or the API at an address. */
export type BackendChoice = { readonly kind: 'kubernetes' } | { readonly kind: 'http'; readonly server: string };

type Flags = Readonly<Record<string, keyof GlobalOptions>>;
const httpFlags: Flags = { '--server': 'server', '--tenant': 'tenant', '--token-file': 'tokenFile' };
const kubernetesFlags: Flags = { '--namespace': 'namespace', '--context': 'context', '--kubeconfig': 'kubeconfig' };

/** Options of a command that is shown to the user, so that it reaches the same backend. */
export function flagsOf(options: GlobalOptions): string {
  return Object.entries({ ...httpFlags, ...kubernetesFlags })
    .flatMap(([flag, name]) => (options[name] === undefined ? [] : [` ${flag} ${quoted(options[name])}`]))
    .join('');
}

function quoted(word: string): string {
  return /^[\w./:@%+=~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Options are stronger than the environment: `--server` leads to the API, an option that names a cluster or namespace
 * to Kubernetes, and only without either `WINDLASS_SERVER` counts. Throws a usage error where options contradict one
 * another.
 */
export function chooseBackend(options: GlobalOptions, env: Environment): BackendChoice {
  const forHttp = given(options, httpFlags);
  const forKubernetes = given(options, kubernetesFlags);
  if (forHttp !== undefined && forKubernetes !== undefined) {
    throw new CliError(
      'usage',
      `${forHttp} and ${forKubernetes} exclude each other`,
      'The first is for the HTTP API, which knows tenants; the second for Kubernetes. Leave out one of them.',
    );
  }
  if (forKubernetes !== undefined) return { kind: 'kubernetes' };
  const server = options.server ?? env['WINDLASS_SERVER'];
  if (server) return { kind: 'http', server: addressOf(server) };
  if (forHttp === undefined) return { kind: 'kubernetes' };
  throw new CliError('usage', `${forHttp} is for the HTTP API`, 'Say where that is: --server URL, or WINDLASS_SERVER.');
}

/** Where the tool gateway is, and the HTTP API beside it, if that is known. */
export interface GatewayChoice {
  readonly gateway: string;
  readonly server?: string;
}

/** `--gateway`, else `WINDLASS_GATEWAY`. Throws a usage error without either, and for options of Kubernetes. */
export function chooseGateway(options: GlobalOptions, env: Environment): GatewayChoice {
  const forKubernetes = given(options, kubernetesFlags);
  if (forKubernetes !== undefined) {
    const hint = 'The tool gateway takes the tenant from the token; kubectl apply does the same with the kinds.';
    throw new CliError('usage', `${forKubernetes} is for Kubernetes, not for the tool gateway`, hint);
  }
  const gateway = options.gateway ?? env['WINDLASS_GATEWAY'];
  if (!gateway) {
    const hint = 'Give --gateway URL, or set WINDLASS_GATEWAY; in the cluster it is http://windlass-gateway:8090.';
    throw new CliError('usage', '--gateway is missing: the address of the tool gateway', hint);
  }
  const server = options.server ?? env['WINDLASS_SERVER'];
  return { gateway: addressOf(gateway), ...(server ? { server: addressOf(server) } : {}) };
}

/** The first option that is given, by its flag. */
function given(options: GlobalOptions, flags: Flags): string | undefined {
  return Object.entries(flags).find(([, name]) => options[name] !== undefined)?.[0];
}

/** The address in one form, so that a login is found again however its server is written. */
function addressOf(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') {
    return withoutTrailingSlashes(`${url.origin}${url.pathname}`);
  }
  throw new CliError('usage', `'${text}' is not the address of a server`, 'Write it as https://windlass.example.com.');
}
