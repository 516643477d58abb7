import { type Static, Type } from 'typebox';
import { ConfigError } from '../../lib/config.ts';
import type { TlsPaths } from '../../lib/grpc/tls-files.ts';

/** Environment variables of the gRPC listener (charts/windlass/README.md). */
export const grpcVariables = {
  WINDLASS_GRPC_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 50_051 }),
  WINDLASS_GRPC_TLS_CERT_FILE: Type.Optional(Type.String({ minLength: 1 })),
  WINDLASS_GRPC_TLS_KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
  WINDLASS_GRPC_CLIENT_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
};

export const GrpcConfig = Type.Object(grpcVariables);
export type GrpcConfig = Readonly<Static<typeof GrpcConfig>>;

const files = ['WINDLASS_GRPC_TLS_CERT_FILE', 'WINDLASS_GRPC_TLS_KEY_FILE', 'WINDLASS_GRPC_CLIENT_CA_FILE'] as const;

/**
 * Paths of the certificates; undefined when none is named: gRPC is off then, since it needs them.
 * @throws ConfigError when only some are named.
 */
export function tlsPaths(config: GrpcConfig): TlsPaths | undefined {
  const missing = files.filter((name) => config[name] === undefined);
  if (missing.length === files.length) return undefined;
  const problems = missing.map((name) => ({ name, problem: 'is not set; all three files are needed' }));
  if (problems.length > 0) throw new ConfigError(problems);
  const [certificate = '', key = '', clientAuthorities = ''] = files.map((name) => config[name]);
  return { certificate, key, clientAuthorities };
}
