/** TLS credentials of connections to the API server. PEM text. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Name to check the server's certificate against, where it is not the host. */
  readonly serverName?: string;
  readonly insecureSkipVerify?: boolean;
}

/** A list is sent as that many header lines. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

/** Where the API server is and how to speak to it. Holds secrets: never log it. */
export interface Endpoint {
  /** `https://host:port` with an optional path prefix; `http:` for `kubectl proxy`. */
  readonly server: string;
  readonly tls: TlsMaterial;
  /** `authorization` and impersonation. */
  readonly headers: HeaderFields;
  readonly proxyUrl?: string;
}

/** Credentials that may change while we run: rotated tokens and certificates. */
export interface CredentialSource {
  /** The namespace of the current context, or of the pod we run in. */
  readonly namespace: string | undefined;
  /** Fresh enough to use now. Cheap to call for each request. */
  current(): Promise<Endpoint>;
  /** The server refused what `current` returned: read everything anew next time. */
  refused(): void;
}

/** Milliseconds for which what was read from files is taken as current. Tokens are rotated long before they expire. */
const rereadAfterMs = 60_000;

/**
 * Calls `load` at most once a minute, and again after a refusal. While a reload fails, what was read before stays
 * in use: a token file that is being replaced must not stop a controller.
 */
export function createCredentialSource(
  load: () => Promise<Endpoint>,
  options: { readonly now: () => number; readonly namespace?: string },
): CredentialSource {
  let known: Endpoint | undefined;
  let loading: Promise<Endpoint> | undefined;
  let staleAt = 0;

  async function reload(): Promise<Endpoint> {
    try {
      known = await load();
    } catch (error) {
      if (known === undefined) throw error;
    } finally {
      loading = undefined;
    }
    staleAt = options.now() + rereadAfterMs;
    return known;
  }

  return {
    namespace: options.namespace,
    current() {
      if (known !== undefined && options.now() < staleAt) return Promise.resolve(known);
      loading ??= reload();
      return loading;
    },
    refused() {
      staleAt = 0;
    },
  };
}
