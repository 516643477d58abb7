import { lineOfProblem } from '../crds/problem.ts';
import { WindlassApiError, WindlassConnectionError } from '../client/api-error.ts';
import { AppError, messageOf } from '../lib/errors.ts';
import { ExecutionError, type ExecutionErrorReason } from '../lib/execution/execution-error.ts';
import { isDenied, isMissingKind, isQuotaExceeded, isQuotaUncounted, KubeError } from '../lib/kube/kube-error.ts';
import { answerCommands } from './answer-commands.ts';
import { CliError, type ExitCode, exitCodeOfError, exitCodes, isElsewhere } from './exit-codes.ts';
import { trustHint } from './trust-hint.ts';

/** The text for standard error and the exit code. */
interface Explanation {
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
}

/**
 * One line `error: …`, the facts below it, and a line that says what to do. Never a stack trace. `flags` follow the
 * commands that are shown, unless the error knows better.
 */
export function explainError(error: unknown, flags = ''): Explanation {
  const { message, facts, hint, exitCode } = explained(error, flags);
  const lines = [`error: ${message}`, ...facts.map((fact) => `  ${fact}`), ...(hint === undefined ? [] : [hint])];
  return { lines, exitCode };
}

interface Parts {
  readonly message: string;
  readonly facts: readonly string[];
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;
}

function explained(error: unknown, flags: string): Parts {
  const exitCode = exitCodeOfError(error);
  if (error instanceof CliError) return { message: error.message, facts: error.facts, hint: error.hint, exitCode };
  if (error instanceof KubeError) return kubeParts(error, exitCode);
  if (error instanceof ExecutionError)
    return { message: error.message, facts: [], hint: executionHint(error, flags), exitCode };
  if (error instanceof AppError) return appParts(error, exitCode);
  if (error instanceof WindlassApiError) return apiParts(error, exitCode, flags);
  if (error instanceof WindlassConnectionError) {
    const why = reasonOf(error).split(';', 1)[0] ?? '';
    const hint = /certificate/i.test(why) ? trustHint : connectionHint(error);
    return { message: firstLine(error.message), facts: [why].filter(Boolean), hint, exitCode };
  }
  const hint = 'This is a defect of windlass. Set WINDLASS_DEBUG=1 for the details and report it.';
  return { message: firstLine(messageOf(error)), facts: [], hint, exitCode };
}

/** A write that was done would be done twice. */
const connectionHint = ({ mayHaveRun }: WindlassConnectionError): string =>
  mayHaveRun
    ? 'It was sent, so it may have been done. Look before you repeat it: windlass list, or windlass gateway audit list.'
    : 'Is the server up, and is this its address? Check with curl URL/health.';

function appParts(error: AppError, exitCode: ExitCode): Parts {
  const message = firstLine(error.message);
  if (error.reason.startsWith('Kubeconfig')) {
    const hint =
      'Set KUBECONFIG, or give --kubeconfig FILE and --context NAME. For the HTTP API give --server URL, or set WINDLASS_SERVER.';
    return { message, facts: [], hint, exitCode: exitCodes.cluster };
  }
  if (error.reason === 'OutputStoreNotConfigured') {
    const hint =
      'Set WINDLASS_S3_BUCKET, and WINDLASS_S3_ENDPOINT, _REGION, _PREFIX and _PATH_STYLE where the controllers have ' +
      'them; credentials are taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from a profile.';
    return { message, facts: [], hint, exitCode };
  }
  const hintOfItsOwn = hintOfReason[error.reason];
  if (hintOfItsOwn !== undefined) return { message, facts: [], hint: hintOfItsOwn, exitCode };
  if (error.code !== 'unavailable') return { message, facts: [], hint: hintOfCode[error.code], exitCode };
  const [why = ''] = message.split(';', 1);
  const hint = /certificate/i.test(why) ? authorityHint : hintOfCode.unavailable;
  return { message: `the cluster cannot be reached: ${why}`, facts: [], hint, exitCode };
}

const hintOfReason: Readonly<Record<string, string>> = {
  OutputStoreUnavailable: 'Check the WINDLASS_S3_ variables and the credentials that the AWS SDK finds.',
  VersionExists: 'Raise the version, or replace it with --force; executions under way keep what they started with.',
};

const authorityHint = 'Put its authority into the kubeconfig: certificate-authority, or certificate-authority-data.';

const hintOfCode: Partial<Record<AppError['code'], string>> = {
  unavailable: 'Is the cluster up, and is this the right context? Check with kubectl cluster-info.',
  timeout: 'The API server did not answer in time. Try again, or check with kubectl get --raw /readyz.',
};

function executionHint(error: ExecutionError, flags: string): string {
  const { name, namespace } = error.execution;
  const own = namespace === undefined || flags.includes(' --namespace ') ? flags : ` -n ${namespace}${flags}`;
  const target = `${name}${own}`;
  return hintOfRefusal[error.reason](error, { target, get: `windlass get ${target}`, list: `windlass list${own}` });
}

interface Commands {
  /** The execution's name and the flags that lead to it. */
  readonly target: string;
  readonly get: string;
  readonly list: string;
}

const hintOfRefusal: Readonly<Record<ExecutionErrorReason, (error: ExecutionError, commands: Commands) => string>> = {
  NotWaiting: (_, { get }) => `See what it does: ${get}`,
  WaitsElsewhere: ({ facts }) => `Leave out --state, or give --state ${facts.waiting}.`,
  AlreadyDecided: (_, { get }) => `See what it does now: ${get}`,
  AlreadyFinished: (_, { get }) => `See its output: ${get}`,
  UnmatchedResponse: ({ facts }, { target }) =>
    `Answer: ${answerCommands(target, facts.responses ?? []).join(', or ')}`,
  NotBegun: (_, { get }) => `See what it waits for: ${get}`,
  NotFinished: (_, { get }) => `See what it does: ${get}`,
  NeverEntered: ({ facts }, { get }) =>
    facts.known?.length ? `Give one of ${facts.known.join(', ')}.` : `See: ${get}`,
  NoSuchLog: ({ facts }, { get }) =>
    facts.known?.length ? `There are: ${facts.known.join(', ')}.` : `See what it does: ${get}`,
  Deleted: (_, { list }) => `List what there is: ${list}`,
};

function kubeParts(error: KubeError, exitCode: ExitCode): Parts {
  if (isMissingKind(error)) {
    return {
      message: 'this cluster has no Windlass: its API server does not know the kinds of windlass.dev',
      facts: [],
      hint: 'Install the chart, or choose another cluster with --context.',
      exitCode: exitCodes.cluster,
    };
  }
  const facts = error.causes.flatMap(({ field, message }) => {
    const text = [field, message].filter(Boolean).join(': ');
    return text && !error.serverMessage.includes(message ?? text) ? [text] : [];
  });
  return { message: firstLine(error.serverMessage), facts, hint: kubeHint(error), exitCode };
}

function kubeHint(error: KubeError): string | undefined {
  const { status, code } = error;
  if (isQuotaUncounted(error)) return 'Kubernetes has not counted this quota yet. Try again in a minute.';
  if (isQuotaExceeded(error))
    return 'Delete what is no longer needed, or ask for more: kubectl describe resourcequota.';
  if (isDenied(error)) return undefined;
  if (status === 401) return 'Your credentials are not accepted. Log in again, or choose another user with --context.';
  if (status === 403) return 'Ask for a role in this namespace, such as the ClusterRole windlass-operator.';
  if (code === 'already_exists') return 'Choose another name with --name.';
  if (status >= 500) return 'The API server is in trouble. Check with kubectl get --raw /readyz?verbose.';
  return undefined;
}

function apiParts(error: WindlassApiError, exitCode: ExitCode, flags: string): Parts {
  // The message of a refusal for one field is that of its only detail.
  const facts = error.details.filter(({ path, message }) => error.message !== `${path} ${message}`).map(lineOfProblem);
  return { message: firstLine(error.message), facts, hint: apiHint(error, flags), exitCode };
}

function apiHint(apiError: WindlassApiError, flags: string): string | undefined {
  const { status, error, retryAfterMs, requestId } = apiError;
  if (isElsewhere(apiError)) return 'Is this the address of the API? Check with curl URL/health.';
  if (error === 'already_exists') return 'Choose another name with --name.';
  if (status === 401)
    return `Has the token expired? Give another one by --token-file or WINDLASS_TOKEN, or log in: windlass login${flags}`;
  if (status === 403)
    return `Ask the administrator of the server for a tenant or role, or see who you are: windlass whoami${flags}`;
  const later = retryAfterMs === undefined ? 'Try again later' : `Try again in ${Math.ceil(retryAfterMs / 1000)} s`;
  if (status === 429) return `${later}.`;
  if (status >= 500) return `${later}${requestId === undefined ? '' : `, or ask about request ${requestId}`}.`;
  return undefined;
}

/** The error of the network, which is the cause of a cause. */
function reasonOf(error: Error): string {
  const { cause } = error;
  if (!(cause instanceof Error)) return '';
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
