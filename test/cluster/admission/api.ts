import { request } from 'node:https';
import { findCredentials } from '../../../lib/kube/index.ts';

/** An answer of the API server as it came. */
export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly warnings: readonly string[];
  /** The server's sentence with map keys as fields: `spec.states[a].kind` reads `spec.states.a.kind`. */
  readonly message: string;
}

interface SendOptions {
  /** The writer as the server sees it; the administrator by default. Has every right either way, unless `rights`. */
  readonly as?: string;
  /** `own`: those that role bindings give to `as` and no others. */
  readonly rights?: 'own';
  readonly contentType?: string;
  readonly accept?: string;
}

/** Plain requests to the API server with the administrator's credentials, as any client could make them. */
export type Send = (method: string, path: string, body?: object, options?: SendOptions) => Promise<Answer>;

export async function createSend(kubeconfig: string): Promise<Send> {
  const source = await findCredentials({ env: {}, now: () => Date.now(), kubeconfig });
  return async (method, path, body, options = {}) => {
    const { server, tls, headers } = await source.current();
    const group = options.rights === 'own' ? {} : { 'impersonate-group': 'system:masters' };
    const impersonated = options.as && { 'impersonate-user': options.as, ...group };
    const fields = {
      ...headers,
      ...impersonated,
      accept: options.accept ?? 'application/json',
      'content-type': options.contentType ?? 'application/json',
    };
    return new Promise<Answer>((resolve, reject) => {
      const outgoing = request(
        new URL(path, server),
        {
          method,
          headers: fields as Record<string, string>,
          ca: tls.ca,
          cert: tls.cert,
          key: tls.key,
          servername: tls.serverName,
          rejectUnauthorized: tls.insecureSkipVerify !== true,
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const answer = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>;
            resolve({
              status: incoming.statusCode ?? 0,
              body: answer,
              warnings: [incoming.headers['warning'] ?? []].flat(),
              message: plainPath(typeof answer['message'] === 'string' ? answer['message'] : ''),
            });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body && JSON.stringify(body));
    });
  };
}

const plainPath = (text: string): string => text.replaceAll(/\[([A-Za-z_][\w-]*)\]/g, '.$1');
