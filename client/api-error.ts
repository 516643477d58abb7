/** One thing wrong with a request. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The body of every error of the API. */
export interface ErrorBody {
  readonly error: string;
  /** One word of small letters, digits and underscores. */
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly Problem[];
  readonly [field: string]: unknown;
}

/** The server understood the call and refused it, or failed. `message` is a sentence for people. */
export class WindlassApiError extends Error {
  override readonly name = 'WindlassApiError';
  /** Status of the answer. */
  readonly status: number;
  /** The stable word, or exact text, that tells what is wrong. */
  readonly error: string;
  /** The same as one word of small letters, digits and underscores, for programs. */
  readonly code: string;
  /** Mistakes by field; empty where the server names none. */
  readonly details: readonly Problem[];
  /** Everything the server said, such as `original_stimulus_id`. */
  readonly body: ErrorBody;
  /** For questions to the server's administrator: the server's log holds it. */
  readonly requestId: string | undefined;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, body: ErrorBody, headers: Headers = new Headers()) {
    super(body.message ?? body.error);
    this.status = status;
    this.error = body.error;
    this.code = body.code ?? body.error;
    this.details = body.details ?? [];
    this.body = body;
    this.requestId = headers.get('x-request-id') ?? undefined;
    this.retryAfterMs = retryAfterOf(headers);
  }
}

/** No answer came, or none that the API gives: the server is away, cut the connection, or is not Windlass. */
export class WindlassConnectionError extends Error {
  override readonly name = 'WindlassConnectionError';
  /** Whether a write had left, so that the server may have done it. */
  readonly mayHaveRun: boolean;

  constructor(message: string, options: ErrorOptions & { readonly mayHaveRun?: boolean } = {}) {
    super(message, options);
    this.mayHaveRun = options.mayHaveRun ?? false;
  }
}

/** No byte of a request has left by these errors of Node. */
const unsentCodes =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

/** Whether a request failed before it was sent. Unknown causes count as sent. */
export function isUnsent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return false;
  // The platform refuses some ports by this error without a code.
  if (cause.message === 'bad port') return true;
  return 'code' in cause && typeof cause.code === 'string' && unsentCodes.test(cause.code);
}

/** The answer of a call that failed. Something between client and server may have written it: a proxy's page. */
export function errorOf(response: Response, text: string): WindlassApiError {
  return new WindlassApiError(response.status, bodyOf(text, response), response.headers);
}

function bodyOf(text: string, { status, statusText }: Response): ErrorBody {
  const parsed = parsedObject(text);
  if (parsed !== undefined && typeof parsed['error'] === 'string') {
    const { error, code, message, details } = parsed;
    return {
      ...parsed,
      error,
      code: typeof code === 'string' ? code : undefined,
      message: typeof message === 'string' ? message : undefined,
      details: Array.isArray(details) ? details.filter(isProblem) : undefined,
    };
  }
  const rpc = rpcError(parsed?.['error']);
  if (rpc !== undefined) return rpc;
  const what = [`HTTP status ${status}`, statusText].filter(Boolean).join(' ');
  return { error: `http_${status}`, message: `the server answered ${what} without saying why` };
}

/** An error of JSON-RPC, as calls of tools are answered with. */
function rpcError(error: unknown): ErrorBody | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error)) return undefined;
  if (typeof error.code !== 'number' || typeof error.message !== 'string') return undefined;
  return { error: `rpc_${error.code}`, message: error.message, data: 'data' in error ? error.data : null };
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null) return false;
  return 'path' in value && typeof value.path === 'string' && 'message' in value && typeof value.message === 'string';
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
