import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { credentials, Metadata } from '@grpc/grpc-js';
import { RuntimeServiceClient } from '../../../../proto/generated/windlass/runtime/v1/runtime.ts';
import { projectDir } from '../../harness/project.ts';

const run = promisify(execFile);

/** One that submits stimuli over gRPC with a certificate of its tenant. */
export interface GrpcPeer {
  /** Keys and values of the Secret for `api.grpc.tlsSecret`. */
  readonly secret: Readonly<Record<string, string>>;
  /** Its own private key, without the lines around it. */
  readonly key: string;
  /** Submits one to the replica at this address. Resolves to the code of the answer. */
  submit(host: string): Promise<number>;
  remove(): Promise<void>;
}

export async function makeGrpcPeer(tenant: string): Promise<GrpcPeer> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-canary-grpc-'));
  const make = (...args: string[]) => run(join(projectDir, 'dev/certificates/make'), args);
  await make('authority', folder);
  await make('server', folder, 'localhost');
  await make('client', folder, tenant);
  const file = (name: string): Promise<string> => readFile(join(folder, `${name}.pem`), 'utf8');
  const [authority, own, key] = [await file('ca'), await file(tenant), await file(`${tenant}-key`)];
  const channel = credentials.createSsl(Buffer.from(authority), Buffer.from(key), Buffer.from(own));
  return {
    secret: { 'tls.crt': await file('server'), 'tls.key': await file('server-key'), 'ca.crt': authority },
    key: longestLine(key),
    async submit(host) {
      const client = new RuntimeServiceClient(`${host}:50051`, channel, {
        'grpc.ssl_target_name_override': 'localhost',
      });
      const request = { source: 'canary', content: '{}', idempotencyKey: undefined, headers: {} };
      const answer = Promise.withResolvers<number>();
      client.ingestStimulus(request, new Metadata(), { deadline: Date.now() + 20_000 }, (error) =>
        answer.resolve(error?.code ?? 0),
      );
      return answer.promise.finally(() => client.close());
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const longestLine = (text: string): string => text.split('\n').toSorted((a, b) => b.length - a.length)[0] ?? '';
